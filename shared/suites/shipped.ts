import type { MintedTask } from "./secret/types.ts";

/** A task as it ships or is minted, named by its slug. */
export type ShippedTask = MintedTask & { slug: string };

/** The columns that a shipped task fills. */
const COLUMNS = [
  "slug",
  "title",
  "domain",
  "prompt",
  "input",
  "output_format",
  "output_schema",
  "tools",
  "grader",
  "expected_output",
  "pass_threshold",
  "time_limit_ms",
  "reference_cost_usd",
  "reference_latency_ms",
  "expected_tool_calls",
] as const satisfies readonly (keyof ShippedTask)[];

/** SQL: the names of `COLUMNS`, in their order. */
export const SHIPPED_COLUMNS = COLUMNS.join(", ");

/** The columns that a shipped task fills, with their values: null, or the default, for what it leaves out. */
export function shippedRow(task: ShippedTask): Record<string, unknown> {
  const whole: ShippedTask = { pass_threshold: 1, ...task };
  return Object.fromEntries(COLUMNS.map((name) => [name, whole[name] ?? null]));
}
