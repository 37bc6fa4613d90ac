import type { Solver } from "./support.ts";

/** Solvers of the templates of `coding`. */
export const codingSolvers: Record<string, Solver> = {};
