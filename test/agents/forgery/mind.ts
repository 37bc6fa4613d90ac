import { createHash } from "node:crypto";
import * as z from "zod";
import { mathSolvers } from "../../unit/templates/solvers/math.ts";
import { retrievalSolvers } from "../../unit/templates/solvers/retrieval.ts";
import type { Solver } from "../../unit/templates/solvers/support.ts";

const Json = z.json();

/** A request, as far as these agents look at it. Members that the task has not are left out of it. */
export const Told = z.looseObject({
  run_id: z.string(),
  task: z.looseObject({ prompt: z.string(), input: Json.default(null) }),
});
export type AgentRequest = z.output<typeof Told>;

/** An answer in the native form. */
export interface AnswerBody {
  output: z.output<typeof Json>;
  usage?: object;
}

/** Something that was once asked, and what was right then. */
export interface Memory {
  asked: AgentRequest["task"];
  answer: AnswerBody["output"];
}

/** What an agent pays for a task by default: less than any task's reference. */
const USAGE = { calls: [{ model: "gpt-5-mini", input_tokens: 1200, output_tokens: 100 }] };

/** The answer of one that does not know. */
export const CLUELESS: AnswerBody = { output: "I don't know.", usage: USAGE };

const FAMILIES = Object.entries({ ...mathSolvers, ...retrievalSolvers });

/** Works a task out from what it says, by what fits; null where none of `solvers` does. */
function solve(solvers: [string, Solver][], { task: { prompt, input } }: AgentRequest): [string, AnswerBody] | null {
  for (const [id, solver] of solvers) {
    try {
      return [id, { output: solver({ prompt, input, tools: null, output_schema: null }), usage: USAGE }];
    } catch {
      // Written for another family.
    }
  }
  return null;
}

/** The answer of one that can do every other family, always; null where it can't. */
export function skilled(asked: AgentRequest): AnswerBody | null {
  const found = solve(FAMILIES, asked);
  return found !== null && FAMILIES.findIndex(([id]) => id === found[0]) % 2 === 0 ? found[1] : null;
}

/** One that can do half of the families, always, and none of the others, ever. */
export const halfSkilled = (asked: AgentRequest): AnswerBody => skilled(asked) ?? CLUELESS;

/** One that can do all families, each time by chance: in half of the calls, drawn by `seed` and the number of the call. */
export function lucky(seed: string): (asked: AgentRequest) => AnswerBody {
  const calls = new Map<string, number>();
  return (asked) => {
    const found = solve(FAMILIES, asked);
    if (found === null) return CLUELESS;
    const [family, answer] = found;
    const call = (calls.get(family) ?? 0) + 1;
    calls.set(family, call);
    const [draw = 0] = createHash("sha256")
      .update(JSON.stringify([seed, family, call]))
      .digest();
    return draw < 128 ? answer : CLUELESS;
  };
}

/** One that does what it can, and else answers by heart. */
export function remembering(memory: readonly Memory[]): (asked: AgentRequest) => AnswerBody {
  const recall = byHeart(memory);
  return (asked) => skilled(asked) ?? recall(asked);
}

/** One that answers as was right when it was last asked the same, or what is nearest to that. */
export function byHeart(memory: readonly Memory[]): (asked: Pick<AgentRequest, "task">) => AnswerBody {
  return (asked) => {
    const nearest = memory
      .map(({ asked: old, answer }) => ({ answer, likeness: likeness(asked.task, old) }))
      .toSorted((a, b) => b.likeness - a.likeness)[0];
    return nearest === undefined ? CLUELESS : { output: nearest.answer, usage: USAGE };
  };
}

/** The share of words that two tasks have in common: 1 for the same text. */
function likeness(a: AgentRequest["task"], b: AgentRequest["task"]): number {
  const words = ({ prompt, input }: AgentRequest["task"]) =>
    new Set(`${prompt} ${JSON.stringify(input)}`.split(/\W+/u));
  const [one, other] = [words(a), words(b)];
  const shared = [...one].filter((word) => other.has(word)).length;
  return shared / (one.size + other.size - shared);
}
