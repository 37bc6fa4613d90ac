import type { Json } from "./schema.ts";
import { normalizeText, quote, spacedTextOf, textOf } from "./text.ts";
import { type GraderModule, keyIssue } from "./types.ts";

/** Equal to the key, or to one of several, once both are in the form of `normalizeText`. */
export const normalizedText: GraderModule<"normalized_text"> = {
  check({ expected_output: key }) {
    if (!Array.isArray(key)) return isTelling(key) ? [] : [keyIssue(`${ADVICE}, or a list of such strings.`)];
    if (key.length === 0) return [keyIssue("List at least one accepted text.")];
    return key.flatMap((accepted, index) => (isTelling(accepted) ? [] : [keyIssue(`${ADVICE}.`, index)]));
  },

  grade({ expected_output: key }, { output }) {
    const answer = normalizeText(spacedTextOf(output));
    const keys = (Array.isArray(key) ? key : [key]).map(textOf);
    // JSON is also what it says character by character: without spaces, as keys may write it.
    return keys.map(normalizeText).includes(answer) || keys.includes(textOf(output))
      ? { correctness: 1, explanation: "The answer equals an accepted text, punctuation, case and articles aside." }
      : { correctness: 0, explanation: `The answer, compared as ${quote(answer)}, equals no accepted text.` };
  },
};

const ADVICE = "Give the expected text: a string with at least one letter, digit or symbol";

function isTelling(key: Json): boolean {
  return typeof key === "string" && normalizeText(key) !== "";
}
