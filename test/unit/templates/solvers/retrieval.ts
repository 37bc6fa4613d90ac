import type { Solver } from "./support.ts";

/** Solvers of the templates of `retrieval`. */
export const retrievalSolvers: Record<string, Solver> = {};
