import { RE2JS } from "re2js";
import { MAX_PATTERN_LENGTH } from "./schema.ts";

/** Largest compiled pattern, in RE2 instructions: a counted repetition stands there as often as it counts. */
const MAX_PROGRAM_SIZE = 1000;

/**
 * A pattern of more instructions than this, as they are counted in its text, is not compiled at all: 1000 characters can
 * stand for a million, which take seconds and an isolate's memory. The count knows of no alternatives that RE2 puts together.
 */
const MAX_COUNTED = 4 * MAX_PROGRAM_SIZE;

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

const TOO_LARGE = "Make the counted repetitions smaller: the pattern is too large.";

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
  if (countedSize(source) > MAX_COUNTED) return { fault: TOO_LARGE };
  try {
    const compiled = RE2JS.compile(source);
    const size = compiled.programSize();
    if (size > MAX_PROGRAM_SIZE) return { fault: TOO_LARGE };
    const maxLength = Math.floor(MAX_STEPS / size);
    const pattern = { maxLength, size, isFoundIn: (text: string) => compiled.test(text) };
    last = { source, pattern };
    return pattern;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace("error parsing regexp: ", "") : "invalid pattern";
    return { fault: `Use RE2 syntax (no back-references, no look-around): ${reason}.` };
  }
}

/** The parts of a pattern: quoted text, an escape, a class, the beginning of a group, a counted repetition, or a character. */
const PART =
  /\\Q(?<quoted>[^]*?)(?:\\E|$)|\\(?:[pPx]\{[^}]*\}|[^])|\[\^?\]?(?:\\[^]|\[:\^?\w+:\]|[^\]\\])*\]|(?<group>\((?:\?(?:P?<\w+>|[A-Za-z-]*:?))?)|\{(?<least>\d+)(?:,(?<most>\d*))?\}|[^]/gu;

/** How many instructions a pattern comes to at most, whether it is valid or not: what is repeated stands there as often. */
function countedSize(source: string): number {
  const around: number[] = [];
  let [size, latest] = [0, 0];
  for (const { 0: part, groups: { quoted, group, least, most } = {} } of source.matchAll(PART)) {
    if (group !== undefined) {
      around.push(size);
      size = 0;
    } else if (least !== undefined) {
      const times = Math.max(1, Number(least), Number(most ?? 0));
      size += latest * (times - 1);
      latest *= times;
    } else if (part === ")") {
      latest = size + 2;
      size = (around.pop() ?? 0) + latest;
    } else {
      // Alternatives of a character each become one class: the bars between them are not counted.
      const own = part === "|" ? 0 : (quoted?.length ?? 1);
      size += own;
      latest = "*+?".includes(part) ? latest + own : 1;
    }
  }
  return around.reduce((sum, outer) => sum + outer, size);
}
