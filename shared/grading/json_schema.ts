import type { ExactJson } from "../platform/exact-json.ts";
import { EvaluationBudgetError, type Failure, evaluateSchema } from "./evaluate-schema.ts";
import { readJson } from "./json.ts";
import { type OutputSchema, checkOutputSchema } from "./output-schema.ts";
import { quote } from "./text.ts";
import { type GraderModule, keyIssue, unreadable } from "./types.ts";

/** Valid against the task's `output_schema`, a JSON Schema 2020-12 (see `checkOutputSchema` for what it may hold). */
export const jsonSchema: GraderModule<"json_schema"> = {
  check({ expected_output, output_schema }) {
    const issues = expected_output === null ? [] : [keyIssue("Give null: output_schema is the key.")];
    if (output_schema === null) {
      return [
        ...issues,
        { pointer: "/output_schema", code: "invalid_schema", message: "Give the schema to validate against." },
      ];
    }
    return [...issues, ...checkOutputSchema(output_schema)];
  },

  grade({ output_schema }, { output }) {
    const value = readJson(output);
    if (value === undefined) return unreadable("The answer is not JSON.");
    // checkTask found nothing in the schema, so it has the shape of one.
    const failed = tryEvaluate(output_schema as OutputSchema, value);
    if (failed === "too costly") {
      return { correctness: 0, explanation: "The answer is too large or too deep to be validated." };
    }
    if (failed === null) return { correctness: 1, explanation: "The answer is valid against the output schema." };
    const place = failed.at === "" ? "at its root" : `at ${quote(failed.at)}`;
    return { correctness: 0, explanation: `The answer breaks the output schema ${place}: ${failed.keyword}.` };
  },
};

function tryEvaluate(schema: OutputSchema, value: ExactJson): Failure | null | "too costly" {
  try {
    return evaluateSchema(schema, value);
  } catch (error) {
    if (error instanceof EvaluationBudgetError) return "too costly";
    throw error;
  }
}
