import { compilePattern } from "./re2.ts";
import { asSeen, textOf } from "./text.ts";
import { type GraderModule, isSince, type Issue, keyIssue } from "./types.ts";

/** The pattern, in RE2 syntax, is found somewhere in the answer as it came, or as it is seen (`asSeen`). */
export const regex: GraderModule<"regex"> = {
  check({ grader, expected_output }) {
    const issues: Issue[] = [];
    const pattern = compilePattern(grader.pattern);
    if ("fault" in pattern) {
      issues.push({ pointer: "/grader/pattern", code: "invalid_pattern", message: pattern.fault });
    }
    if (expected_output !== null) issues.push(keyIssue("Give null: the pattern is the key."));
    return issues;
  },

  grade({ grader }, { output }, version) {
    const pattern = compilePattern(grader.pattern);
    if ("fault" in pattern) throw new TypeError(pattern.fault);
    const answer = textOf(output);
    if (answer.length > pattern.maxLength) {
      return {
        correctness: 0,
        explanation: `The answer is longer than ${pattern.maxLength} characters, too long to be searched.`,
      };
    }
    const seen = isSince(version, "10") ? asSeen(answer) : answer;
    const isSeen = seen !== answer && answer.length + seen.length <= pattern.maxLength && pattern.isFoundIn(seen);
    return isSeen || pattern.isFoundIn(answer)
      ? { correctness: 1, explanation: "The pattern was found in the answer." }
      : { correctness: 0, explanation: "The pattern was not found in the answer." };
  },
};
