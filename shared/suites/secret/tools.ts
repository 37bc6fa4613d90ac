import type { Json, SeedTool } from "../public/types.ts";

/** The schema of an argument that is any text. */
export const TEXT = { type: "string" };

/** The schema of an argument that is a whole number from 1. */
export const COUNT = { type: "integer", minimum: 1 };

/** A tool whose arguments are all required. */
export function tool(name: string, description: string, properties: { [name: string]: Json }): SeedTool {
  return {
    name,
    description,
    parameters: { type: "object", properties, required: Object.keys(properties), additionalProperties: false },
  };
}
