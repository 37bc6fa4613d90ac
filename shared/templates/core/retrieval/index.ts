import type { CoreTemplate } from "../../types.ts";

/** The templates of the domain `retrieval`. */
export const retrieval: readonly CoreTemplate[] = [];
