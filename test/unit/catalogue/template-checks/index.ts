import { codingChecks } from "./coding.ts";
import { conductChecks } from "./conduct.ts";
import { documentChecks } from "./documents.ts";
import { mathChecks } from "./math.ts";
import { planningChecks } from "./planning.ts";
import { reasoningChecks } from "./reasoning.ts";
import { safetyChecks } from "./safety.ts";
import type { Check } from "./support.ts";
import { writingChecks } from "./writing.ts";

/** The second computation of each template, by its id. */
export const checks: Record<string, Check> = {
  ...reasoningChecks,
  ...mathChecks,
  ...planningChecks,
  ...codingChecks,
  ...documentChecks,
  ...conductChecks,
  ...safetyChecks,
  ...writingChecks,
};
