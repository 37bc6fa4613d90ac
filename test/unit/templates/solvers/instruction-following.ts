import type { Solver } from "./support.ts";

/** Solvers of the templates of `instruction_following`. */
export const instructionFollowingSolvers: Record<string, Solver> = {};
