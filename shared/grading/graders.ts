import { constraints } from "./constraints.ts";
import { exact } from "./exact.ts";
import { jsonFields } from "./json_fields.ts";
import { jsonSchema } from "./json_schema.ts";
import { multipleChoice } from "./multiple_choice.ts";
import { normalizedText } from "./normalized_text.ts";
import { numeric } from "./numeric.ts";
import { refusal } from "./refusal.ts";
import { regex } from "./regex.ts";
import type { GraderType } from "./schema.ts";
import { setF1 } from "./set_f1.ts";
import { toolCalls } from "./tool_calls.ts";
import type { GraderModule } from "./types.ts";

const GRADERS: { [T in GraderType]: GraderModule<T> } = {
  exact,
  normalized_text: normalizedText,
  numeric,
  multiple_choice: multipleChoice,
  regex,
  set_f1: setF1,
  json_fields: jsonFields,
  json_schema: jsonSchema,
  tool_calls: toolCalls,
  constraints,
  refusal,
};

/** The grader of a type. Where the type is known only at run time, it takes tasks of any type. */
export function graderOf<T extends GraderType>(type: T): GraderModule<T> {
  return GRADERS[type];
}
