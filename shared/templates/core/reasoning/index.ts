import type { CoreTemplate } from "../../types.ts";

/** The templates of the domain `reasoning`. */
export const reasoning: readonly CoreTemplate[] = [];
