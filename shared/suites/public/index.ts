import { codeReading } from "./code-reading/index.ts";
import { conduct } from "./conduct/index.ts";
import { core } from "./core/index.ts";
import { documents } from "./documents/index.ts";
import { numeracyAndLogic } from "./numeracy-and-logic/index.ts";
import { toolsAndPlans } from "./tools-and-plans/index.ts";
import type { SeedSuite } from "./types.ts";

/** The public suites, in the order of the catalogue. */
export const publicSuites: readonly SeedSuite[] = [
  core,
  numeracyAndLogic,
  documents,
  toolsAndPlans,
  codeReading,
  conduct,
];
