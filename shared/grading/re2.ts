import { RE2JS } from "re2js";
import { MAX_PATTERN_LENGTH } from "./schema.ts";

/** Largest compiled pattern, in RE2 instructions: a counted repetition stands there as often as it counts. */
const MAX_PROGRAM_SIZE = 1000;

// RE2 takes at worst one step per instruction and character; 50 million steps are about a second.
const MAX_STEPS = 50_000_000;

/** A pattern in RE2 syntax, ready to search in time linear in the text. */
export interface Pattern {
  /** The longest text, in UTF-16 code units, that the pattern is searched in; longer ones would cost too much time. */
  maxLength: number;
  /** The steps that a search costs at worst, per code unit of the text. */
  size: number;
  /** Whether the pattern is found anywhere in `text`, which must not be longer than `maxLength`. */
  isFoundIn(text: string): boolean;
}

/** What was compiled last: answers to one task come one after another, and compiling takes longer than searching. */
let last: { source: string; pattern: Pattern } | undefined;

/**
 * `source` compiled by RE2's syntax (no back-references, no look-around), or what is wrong with it and what to do.
 * @example
 * compilePattern("(a)\\1") // { fault: "Use RE2 syntax (no back-references, no look-around): …" }
 */
export function compilePattern(source: string): Pattern | { fault: string } {
  if (last?.source === source) return last.pattern;
  if (source.length > MAX_PATTERN_LENGTH) return { fault: `Shorten the pattern to ${MAX_PATTERN_LENGTH} characters.` };
  try {
    const compiled = RE2JS.compile(source);
    const size = compiled.programSize();
    if (size > MAX_PROGRAM_SIZE) return { fault: "Make the counted repetitions smaller: the pattern is too large." };
    const maxLength = Math.floor(MAX_STEPS / size);
    const pattern = { maxLength, size, isFoundIn: (text: string) => compiled.test(text) };
    last = { source, pattern };
    return pattern;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace("error parsing regexp: ", "") : "invalid pattern";
    return { fault: `Use RE2 syntax (no back-references, no look-around): ${reason}.` };
  }
}
