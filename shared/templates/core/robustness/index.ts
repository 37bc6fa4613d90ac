import type { CoreTemplate } from "../../types.ts";

/** The templates of the domain `robustness`. */
export const robustness: readonly CoreTemplate[] = [];
