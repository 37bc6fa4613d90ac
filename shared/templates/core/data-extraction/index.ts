import type { CoreTemplate } from "../../types.ts";

/** The templates of the domain `data_extraction`. */
export const dataExtraction: readonly CoreTemplate[] = [];
