import type { SeedSuite } from "../types.ts";
import { changes } from "./changes.ts";
import { desk } from "./desk.ts";
import { field } from "./field.ts";
import { layouts } from "./layouts.ts";
import { payments } from "./payments.ts";
import { reserve } from "./reserve.ts";
import { schedules } from "./schedules.ts";

/** Nineteen tasks: exact tool calls derived from rules and data, and plans with one best solution. */
export const toolsAndPlans: SeedSuite = {
  slug: "tools-and-plans",
  name: "Tools and Plans",
  description:
    "Tool calls that follow from rules and data, and schedules, routes and assignments with one best answer.",
  tasks: [...payments, ...desk, ...changes, ...field, ...reserve, ...schedules, ...layouts],
};
