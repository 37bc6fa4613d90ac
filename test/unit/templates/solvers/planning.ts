import type { Solver } from "./support.ts";

/** Solvers of the templates of `planning`. */
export const planningSolvers: Record<string, Solver> = {};
