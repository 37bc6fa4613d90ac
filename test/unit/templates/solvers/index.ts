import { codingSolvers } from "./coding.ts";
import { dataExtractionSolvers } from "./data-extraction.ts";
import { instructionFollowingSolvers } from "./instruction-following.ts";
import { mathSolvers } from "./math.ts";
import { planningSolvers } from "./planning.ts";
import { reasoningSolvers } from "./reasoning.ts";
import { retrievalSolvers } from "./retrieval.ts";
import { robustnessSolvers } from "./robustness.ts";
import { safetySolvers } from "./safety.ts";
import type { Solver } from "./support.ts";
import { toolUseSolvers } from "./tool-use.ts";

/** The solver of each template, by its id. */
export const solvers: Readonly<Record<string, Solver>> = {
  ...reasoningSolvers,
  ...mathSolvers,
  ...codingSolvers,
  ...dataExtractionSolvers,
  ...toolUseSolvers,
  ...instructionFollowingSolvers,
  ...planningSolvers,
  ...retrievalSolvers,
  ...safetySolvers,
  ...robustnessSolvers,
};
