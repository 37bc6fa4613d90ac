import * as z from "zod";
import { core } from "../../../shared/suites/public/core/index.ts";
import type { Json, SeedTask } from "../../../shared/suites/public/types.ts";
import { grade } from "../../../shared/grading/grade.ts";
import type { Answer, GradingTask, Verdict } from "../../../shared/grading/types.ts";

/** The core task with this slug; throws where there is none. */
export function coreTask(slug: string): SeedTask {
  const task = core.tasks.find((candidate) => candidate.slug === slug);
  if (task === undefined) throw new Error(`The core suite has no task ${slug}.`);
  return task;
}

/** The input of the core task with this slug, as the shape that the caller's test knows it to have. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function inputOf<T>(slug: string): T {
  // A wrong shape fails the caller's own computation.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return coreTask(slug).input as T;
}

/** The key of the core task with this slug. */
export function keyOf(slug: string): Json {
  return coreTask(slug).expected_output;
}

const calls = z.array(z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.json()) }));
const expectedCalls = z.array(
  z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.array(z.json()).min(1)) }),
);

/** One call of a tool. */
export type Call = z.infer<typeof calls>[number];

/** The calls that `output`, an answer to a tool task, is made of; throws where it has another form. */
export function callsOf(output: Json): Call[] {
  return calls.parse(output);
}

/** The calls that the key of a tool task allows: for each argument the list of its values. */
export function expectedCallsOf(task: SeedTask): z.infer<typeof expectedCalls> {
  return expectedCalls.parse(task.expected_output);
}

/** An answer that carries `output` where the task's format wants it: tool calls as calls, else as the output. */
export function answerWith(task: Pick<SeedTask, "output_format">, output: Json): Answer {
  if (task.output_format !== "tool_calls") return { output };
  return { output: null, tool_calls: callsOf(output) };
}

/** Whether `answer` passes the task, as the service would grade it. */
export function passes(task: SeedTask, answer: Answer): boolean {
  return verdictOf(task, answer).passed;
}

/** How the service would grade `answer` to a task. */
export function verdictOf(
  task: Pick<GradingTask, "grader" | "expected_output"> & {
    output_schema?: Json | undefined;
    pass_threshold?: number | undefined;
  },
  answer: Answer,
): Verdict {
  const { grader, expected_output, output_schema = null, pass_threshold = 1 } = task;
  return grade({ grader, expected_output, output_schema, pass_threshold, is_secret: false }, answer);
}

/** All orders of `items`. */
export function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
}

/** All subsets of `items`, each in the order of `items`. */
export function subsets<T>(items: readonly T[]): T[][] {
  return items.reduce<T[][]>((found, item) => [...found, ...found.map((subset) => [...subset, item])], [[]]);
}

/** The minutes since midnight of a time HH:MM. */
export function minutesOf(time: string): number {
  const [hours = Number.NaN, minutes = Number.NaN] = time.split(":").map(Number);
  return hours * 60 + minutes;
}

/** The time HH:MM of `minutes` since midnight. */
export function clockOf(minutes: number): string {
  return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0")).join(":");
}

/** The date YYYY-MM-DD that is `days` days after `date`. */
export function addDays(date: string, days: number): string {
  const shifted = new Date(`${date}T00:00:00Z`);
  shifted.setUTCDate(shifted.getUTCDate() + days);
  return shifted.toISOString().slice(0, 10);
}
