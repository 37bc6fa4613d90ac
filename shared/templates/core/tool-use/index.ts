import type { CoreTemplate } from "../../types.ts";

/** The templates of the domain `tool_use`. */
export const toolUse: readonly CoreTemplate[] = [];
