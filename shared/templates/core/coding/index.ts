import type { CoreTemplate } from "../../types.ts";

/** The templates of the domain `coding`. */
export const coding: readonly CoreTemplate[] = [];
