import type { Solver } from "./support.ts";

/** Solvers of the templates of `tool_use`. */
export const toolUseSolvers: Record<string, Solver> = {};
