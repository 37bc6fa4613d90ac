import { asSeen, quote, textOf } from "./text.ts";
import { type GraderModule, isSince, keyIssue } from "./types.ts";

/** Equal to the key, character by character as they are seen (`asSeen`), after surrounding white space is cut. */
export const exact: GraderModule<"exact"> = {
  check({ expected_output: key }) {
    const fits = (typeof key === "string" && key.trim() !== "") || typeof key === "number" || typeof key === "boolean";
    return fits ? [] : [keyIssue("Give the expected text: a string that is not blank, a number or a boolean.")];
  },

  grade({ expected_output: key }, { output }, version) {
    const seen = isSince(version, "10") ? asSeen : String;
    const answer = seen(textOf(output)).trim();
    const expected = seen(textOf(key)).trim();
    if (answer === expected) return { correctness: 1, explanation: "The answer is exactly the expected text." };
    const near = answer.toLowerCase() === expected.toLowerCase() ? " It differs in upper and lower case alone." : "";
    return { correctness: 0, explanation: `The answer ${quote(answer)} is not exactly the expected text.${near}` };
  },
};
