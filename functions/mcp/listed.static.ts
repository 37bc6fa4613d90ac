import * as z from "zod";
import { TOOLS } from "./tools.ts";

/** The tools as MCP lists them, each with the JSON Schema of its arguments. */
export const LISTED = TOOLS.map(({ run: _run, input, ...tool }) => {
  const { $schema: _dialect, ...inputSchema } = z.toJSONSchema(input, { io: "input" });
  return { ...tool, inputSchema };
});
