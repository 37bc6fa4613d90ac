import type { Solver } from "./kind.ts";
import { subsetsOf } from "./search.ts";
import { captured, countOf, literal } from "./text.ts";

const MAX_SPEAKERS = 12;
const STATEMENT = /^(\p{Lu}\p{L}+): [“"](.+)[”"]$/gmu;

/** Whether a statement holds when exactly these people tell the truth. */
type Claim = (honest: ReadonlySet<string>) => boolean;

/** Who always tells the truth and who always lies, from what they say of each other: by trying all possibilities. */
export const truthTellers: Solver = ({ prompt, output_format }) => {
  const said = [...prompt.matchAll(STATEMENT)].map(([, speaker = "", text = ""]) => ({ speaker, text }));
  const names = said.map(({ speaker }) => speaker);
  if (names.length < 2 || names.length > MAX_SPEAKERS || new Set(names).size < names.length) return null;
  const claims = said.map(({ text }) => claimOf(normalized(text), names));
  if (claims.includes(null)) return null;
  const possible = [...subsetsOf(names)].filter((honest) => {
    const set = new Set(honest);
    return names.every((name, index) => claims[index]?.(set) === set.has(name));
  });
  const [honest] = possible;
  if (honest === undefined || possible.length > 1) return null;
  const asked = /\bwho (?:\w+ )?(?:is|are|lies?) (?:a |the )?(?:liars?|crooked|dishonest)?/iu.exec(prompt)?.[0] ?? "";
  const wanted = /li(?:e|ar)|crooked|dishonest/iu.test(asked) ? names.filter((name) => !honest.includes(name)) : honest;
  if (output_format === "json") return { output: wanted };
  const letters = /\bT for\b/u.test(prompt) && /\bL for\b/u.test(prompt);
  return { output: letters ? names.map((name) => (honest.includes(name) ? "T" : "L")).join("") : wanted.join(", ") };
};

/** A statement with one sign each, T and L, for the ways to say that somebody tells the truth or lies. */
function normalized(text: string): string {
  return text
    .replace(/[.!]$/u, "")
    .replace(/\bare both\b/gu, "both are")
    .replace(/\b(?:(?:is|are) )?(?:a )?(?:honest|truth-tellers?)\b|\btells? the truth\b/gu, "T")
    .replace(/\b(?:(?:is|are) )?(?:a )?(?:liars?|crooked|dishonest)\b|\blies?\b/gu, "L");
}

function claimOf(text: string, names: readonly string[]): Claim | null {
  const name = `(${names.map(literal).join("|")})`;
  const match = (pattern: string) => captured(pattern, text);

  const chain = match(`If (.+) ([TL]), then so (?:does|is) ${name}`);
  if (chain) return implies(claimOf(`${chain[0]} ${chain[1]}`, names), counted("exactly", 1, [chain[2]], chain[1]));
  const condition = match("If (.+), then (.+)");
  if (condition) return implies(claimOf(condition[0], names), claimOf(condition[1], names));
  const some = match("(exactly|at least|at most|fewer than|more than) (\\w+) of (.+) ([TL])");
  if (some) return counted(some[0], countOf(some[1]), groupOf(some[2], names), some[3]);
  const parity = match("The number of ([TL]) (?:people |persons )?among us(?: \\w+)? is (odd|even)");
  if (parity) return (honest) => sizeOf(names, honest, parity[0]) % 2 === (parity[1] === "odd" ? 1 : 0);
  const pair = match(`${name} and ${name} are of (?:the )?(same kind|different kinds)`);
  if (pair) return (honest) => (honest.has(pair[0]) === honest.has(pair[1])) === (pair[2] === "same kind");
  const both = match(`(?:both )?${name} and ${name} (?:both )?([TL])`);
  if (both) return counted("exactly", 2, [both[0], both[1]], both[2]);
  const neither = match(`neither ${name} nor ${name} ([TL])`);
  if (neither) return counted("exactly", 0, [neither[0], neither[1]], neither[2]);
  const plain = match(`${name} ([TL])`);
  return plain && counted("exactly", 1, [plain[0]], plain[1]);
}

/** The people that “us five” or “Ada and Bram” means. */
function groupOf(text: string, names: readonly string[]): string[] {
  return /\bus\b/u.test(text)
    ? [...names]
    : names.filter((name) => new RegExp(`\\b${literal(name)}\\b`, "u").test(text));
}

function implies(premise: Claim | null, conclusion: Claim | null): Claim | null {
  return premise && conclusion && ((honest) => !premise(honest) || conclusion(honest));
}

function sizeOf(group: readonly string[], honest: ReadonlySet<string>, kind: string): number {
  return group.filter((name) => honest.has(name) === (kind === "T")).length;
}

function counted(bound: string, count: number | null, group: readonly string[], kind: string): Claim | null {
  if (count === null || group.length === 0) return null;
  return (honest) => {
    const size = sizeOf(group, honest, kind);
    switch (bound.toLowerCase()) {
      case "at least":
        return size >= count;
      case "at most":
        return size <= count;
      case "fewer than":
        return size < count;
      case "more than":
        return size > count;
      default:
        return size === count;
    }
  };
}
