import type { SeedSuite } from "../types.ts";
import { deduction } from "./deduction.ts";
import { groups } from "./groups.ts";
import { measures } from "./measures.ts";
import { money } from "./money.ts";

/** Twenty tasks of arithmetic and logic in which a careless step gives a plausible wrong result. */
export const numeracyAndLogic: SeedSuite = {
  slug: "numeracy-and-logic",
  name: "Numeracy and Logic",
  description: "Arithmetic with rounding rules, units and calendars, and puzzles with a single solution.",
  tasks: [...money, ...measures, ...deduction, ...groups],
};
