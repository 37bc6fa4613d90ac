import type { Solver } from "./support.ts";

/** Solvers of the templates of `data_extraction`. */
export const dataExtractionSolvers: Record<string, Solver> = {};
