import type { CoreTemplate } from "../../types.ts";

/** The templates of the domain `planning`. */
export const planning: readonly CoreTemplate[] = [];
