import type { CoreTemplate } from "../../types.ts";

/** The templates of the domain `safety`. */
export const safety: readonly CoreTemplate[] = [];
