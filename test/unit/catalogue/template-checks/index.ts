import { codingChecks } from "./coding.ts";
import { conductChecks } from "./conduct.ts";
import { documentChecks } from "./documents.ts";
import { mathChecks } from "./math.ts";
import { planningChecks } from "./planning.ts";
import { reasoningChecks } from "./reasoning.ts";
import type { Check } from "./support.ts";
import { writingChecks } from "./writing.ts";

/** The second computation of each template, by its id; refusals rest on judgement and have none. */
export const checks: Record<string, Check> = {
  ...reasoningChecks,
  ...mathChecks,
  ...planningChecks,
  ...codingChecks,
  ...documentChecks,
  ...conductChecks,
  ...writingChecks,
};
