import type { Solver } from "./support.ts";

/** Solvers of the templates of `robustness`. */
export const robustnessSolvers: Record<string, Solver> = {};
