import type { Grader, Json } from "../grading/schema.ts";
import type { Random } from "./random.ts";

/** A tool that a task offers to the agent; `parameters` is a JSON Schema object (2020-12). */
export interface Tool {
  name: string;
  description: string;
  parameters: { [key: string]: Json };
}

/** The correctness from which on an answer to an instance passes; it is that of every sample. */
export const PASS_THRESHOLD = 1;

/** What a template draws for one run; what it leaves out is null in the instance. */
export interface Draw {
  prompt: string;
  input?: Json;
  output_format: "text" | "json" | "tool_calls";
  output_schema?: { [key: string]: Json };
  tools?: Tool[];
  grader: Grader;
  expected_output: Json;
  /** Outputs that the trap leads to, in the form of a sample's; only tests look at them: no instance carries any. */
  wrong_answers: Json[];
}

/** What one run is asked, and what would be right: what the instance commitment commits to. */
export interface Instance {
  template: { id: string; version: number };
  prompt: string;
  input: Json;
  output_format: Draw["output_format"];
  output_schema: { [key: string]: Json } | null;
  tools: Tool[] | null;
  /** Kept for tasks with a world behind their tools; no template has one yet. */
  world: null;
  grader: Grader;
  expected_output: Json;
}

/**
 * A family of tasks of equal difficulty. Title, domain, references, time limit, pass threshold and expected tool calls
 * are those of its sample, the hand-written task of the suite `core`.
 */
export interface CoreTemplate {
  /** kebab-case, unique, stable. */
  id: string;
  /** A whole number from 1; a change that changes any instance raises it. */
  version: number;
  /** The slug of the sample. */
  sample: string;
  /** The draw that the state of `random` determines. */
  draw(random: Random): Draw;
  /** The same draw as an instance. */
  mint(random: Random): Instance;
}

/** A template from its names and its draw. */
export function defineTemplate(
  { id, version, sample }: Pick<CoreTemplate, "id" | "version" | "sample">,
  draw: (random: Random) => Draw,
): CoreTemplate {
  return {
    id,
    version,
    sample,
    draw,
    mint: (random) => instanceOfDraw({ id, version }, draw(random)),
  };
}

/** A draw of the template as an instance: what it has not is null, and its wrong answers are left out. */
export function instanceOfDraw(
  { id, version }: Pick<CoreTemplate, "id" | "version">,
  draw: Omit<Draw, "wrong_answers">,
): Instance {
  const { prompt, input = null, output_format, output_schema = null, tools = null, grader, expected_output } = draw;
  const asked = { prompt, input, output_format, output_schema, tools, world: null };
  return { template: { id, version }, ...asked, grader, expected_output };
}
