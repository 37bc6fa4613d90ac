import type { CoreTemplate } from "../../types.ts";

/** The templates of the domain `instruction_following`. */
export const instructionFollowing: readonly CoreTemplate[] = [];
