import { createHash } from "node:crypto";
import type { Json } from "../../../shared/grading/schema.ts";
import type { Answer } from "../../../shared/grading/types.ts";
import { canonicalBytes } from "../../../shared/platform/canonical.ts";
import { instanceSeed, mintInstance } from "../../../shared/templates/mint.ts";
import { randomFrom } from "../../../shared/templates/random.ts";
import { type CoreTemplate, type Instance, instanceOfDraw } from "../../../shared/templates/types.ts";
import { answerWith, coreTask, verdictOf } from "../catalogue/core-support.ts";
import { type Asked, type Solver } from "./solvers/support.ts";
import { solvers } from "./solvers/index.ts";

/** How many instances of each template are looked at; `TEMPLATE_DRAWS` sets another number. */
export const DRAWS = Number(process.env["TEMPLATE_DRAWS"] ?? 1000);

const SECRET = Buffer.alloc(32, 7);

/** One instance with what the tests hold against it. */
export interface Drawn {
  instance: Instance;
  wrong_answers: Json[];
  /** What the solver answers. */
  answer: Answer;
  /** How long minting took. */
  mint_ms: number;
}

/** How often an instance that took too long is minted again. */
const MORE_MINTINGS = 20;

const memory = new Map<string, Drawn[]>();

/** The first instances of a template, `DRAWS` of them if not told otherwise, each made and solved once. */
export function drawsOf(template: CoreTemplate, count = DRAWS): Drawn[] {
  const known = memory.get(template.id);
  if (known !== undefined && known.length >= count) return known.slice(0, count);
  const drawn = Array.from({ length: count }, (_, number) => drawOne(template, number));
  memory.set(template.id, drawn);
  return drawn;
}

/** Lets go of the instances of a template: forty thousand at once keep the collector of garbage busy. */
export function forget({ id }: CoreTemplate): void {
  memory.delete(id);
}

/**
 * How long minting each instance takes at its quickest, where the first time took more than `enough` milliseconds: other
 * work on the machine interrupts some mintings, but not each of twenty.
 */
export function mintingTimes(template: CoreTemplate, enough: number): number[] {
  return drawsOf(template).map(({ mint_ms }, number) => {
    let quickest = mint_ms;
    for (let more = 0; more < MORE_MINTINGS && quickest > enough; more += 1) {
      const began = performance.now();
      instanceOf(template, number);
      quickest = Math.min(quickest, performance.now() - began);
    }
    return quickest;
  });
}

/** The instance that the run with this number gets. */
export function instanceOf(template: CoreTemplate, number: number): Instance {
  return mintInstance(template, SECRET, runId(number));
}

function drawOne(template: CoreTemplate, number: number): Drawn {
  const began = performance.now();
  const draw = template.draw(randomFrom(instanceSeed(template, SECRET, runId(number))));
  const instance = instanceOfDraw(template, draw);
  const mint_ms = performance.now() - began;
  const answer = solved(template.id, instance, instance.output_format);
  return { instance, wrong_answers: draw.wrong_answers, answer, mint_ms };
}

function runId(number: number): string {
  const hex = createHash("sha256").update(`run ${number}`).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(12, 15)}-8${hex.slice(15, 18)}-${hex.slice(18, 30)}`;
}

/** What the solver answers where this is asked. */
export function solved(id: string, asked: Asked, output_format: Instance["output_format"]): Answer {
  const { prompt, input, tools, output_schema } = asked;
  return answerWith({ output_format }, solverOf(id)({ prompt, input, tools, output_schema }));
}

function solverOf(id: string): Solver {
  const solver = solvers[id];
  if (solver === undefined) throw new Error(`no solver is written for ${id}`);
  return solver;
}

/** What the solver answers to the template's sample. */
export function sampleAnswer({ id, sample }: CoreTemplate): Answer {
  const { prompt, input = null, tools = null, output_schema = null, output_format } = coreTask(sample);
  return solved(id, { prompt, input, tools, output_schema }, output_format);
}

/** Whether an answer to an instance passes. */
export function passesInstance(instance: Instance, answer: Answer): boolean {
  return verdictOf(instance, answer).passed;
}

const byCode = (a: string, b: string) => (a < b ? -1 : Number(a > b));

/** One text for each right answer: the key, or the grader or schema where that is the key; of a set without its order. */
export function keyText({ grader, expected_output: key, output_schema }: Instance): string {
  if (grader.type === "json_schema") return canonicalBytes(output_schema).toString();
  const unordered = Array.isArray(key) && grader.type === "set_f1" ? key.map(String).toSorted(byCode) : key;
  return canonicalBytes(key === null ? grader : unordered).toString();
}
