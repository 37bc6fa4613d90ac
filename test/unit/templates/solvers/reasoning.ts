import type { Solver } from "./support.ts";

/** Solvers of the templates of `reasoning`. */
export const reasoningSolvers: Record<string, Solver> = {};
