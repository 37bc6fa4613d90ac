import type { Solver } from "./support.ts";

/** Solvers of the templates of `safety`. */
export const safetySolvers: Record<string, Solver> = {};
