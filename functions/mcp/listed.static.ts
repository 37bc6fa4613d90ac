import * as z from "zod";
import { TOOLS } from "./tools.ts";

/** Leaves out the formats of texts: Gemini's API refuses requests that declare a function with another than date-time. */
const withoutFormat = ({ jsonSchema }: { jsonSchema: { format?: unknown } }): void => void delete jsonSchema.format;

/** The tools as MCP lists them, each with the JSON Schema of its arguments. */
export const LISTED = TOOLS.map(({ run: _run, needs: _needs, input, ...tool }) => {
  const { $schema: _dialect, ...inputSchema } = z.toJSONSchema(input, { io: "input", override: withoutFormat });
  return { ...tool, inputSchema };
});
