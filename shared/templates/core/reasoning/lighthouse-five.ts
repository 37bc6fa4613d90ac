import { drawUntil } from "../../random.ts";
import { defineTemplate } from "../../types.ts";

const TRADES = [
  "lighthouse keepers",
  "harbour pilots",
  "bell ringers",
  "beekeepers",
  "clock menders",
  "ferry hands",
  "map engravers",
] as const;
const COUNTS = ["zero", "one", "two", "three", "four"] as const;
const PEOPLE = [0, 1, 2, 3, 4] as const;

/** Who tells the truth: bit i stands for the person at place i. */
type Kinds = number;
const ALL_KINDS = Array.from({ length: 32 }, (_, kinds): Kinds => kinds);
/** Neither all alike: each kind is there. */
const MIXED = ALL_KINDS.slice(1, -1);

const tells = (kinds: Kinds, person: number): boolean => ((kinds >> person) & 1) === 1;
const honest = (kinds: Kinds): number => PEOPLE.filter((person) => tells(kinds, person)).length;

interface Statement {
  text: string;
  holds: (kinds: Kinds) => boolean;
  /** The kinds for which a careless reading holds, where there is one. */
  misread?: ((kinds: Kinds) => boolean)[];
}

/** All statements of one sort that a speaker could make of two others. */
function statements(names: readonly string[], speaker: number, sort: (typeof SORTS)[number]): Statement[] {
  const others = PEOPLE.filter((person) => person !== speaker);
  const pairs = others.flatMap((a) => others.filter((b) => b !== a).map((b) => [a, b] as const));
  const [unordered, name] = [pairs.filter(([a, b]) => a < b), (person: number) => names[person] ?? ""];
  switch (sort) {
    case "count":
      return [2, 3, 4].flatMap((count) => [
        {
          text: `At least ${COUNTS[count]} of the five of us tell the truth.`,
          holds: (kinds) => honest(kinds) >= count,
        },
        {
          text: `Exactly ${COUNTS[count]} of the five of us tell the truth.`,
          holds: (kinds) => honest(kinds) === count,
        },
      ]);
    case "same":
      return unordered.map(([a, b]) => ({
        text: `${name(a)} and ${name(b)} are of the same kind.`,
        holds: (kinds) => tells(kinds, a) === tells(kinds, b),
      }));
    case "one":
      return unordered.map(([a, b]) => ({
        text: `Exactly one of ${name(a)} and ${name(b)} tells the truth.`,
        holds: (kinds) => tells(kinds, a) !== tells(kinds, b),
      }));
    case "both":
      return unordered.map(([a, b]) => ({
        text: `${name(a)} and ${name(b)} both lie.`,
        holds: (kinds) => !tells(kinds, a) && !tells(kinds, b),
      }));
    default:
      return pairs.map(([a, b]) => ({
        text: `If ${name(a)} tells the truth, then so does ${name(b)}.`,
        holds: (kinds) => !tells(kinds, a) || tells(kinds, b),
        misread: [
          (kinds) => tells(kinds, a) && tells(kinds, b),
          (kinds) => tells(kinds, a) === tells(kinds, b),
          (kinds) => !tells(kinds, b) || tells(kinds, a),
        ],
      }));
  }
}

const SORTS = ["count", "same", "one", "both", "if"] as const;

/** The statements of each sort and speaker that fit `key`, the conditional being true because its condition is not. */
function fittingStatements(names: readonly string[], key: Kinds): Record<(typeof SORTS)[number], Statement[][]> {
  const fitting = (sort: (typeof SORTS)[number]) =>
    PEOPLE.map((speaker) =>
      statements(names, speaker, sort).filter(({ holds, misread: [vacuous] = [] }) => {
        const fits = holds(key) === tells(key, speaker);
        return fits && (sort !== "if" || (tells(key, speaker) && vacuous?.(key) === false));
      }),
    );
  const [count, same, one, both] = [fitting("count"), fitting("same"), fitting("one"), fitting("both")];
  return { count, same, one, both, if: fitting("if") };
}

/** Trap: a conditional with a false condition is true. */
export const lighthouseFive = defineTemplate(
  { id: "reasoning-lighthouse-five", version: 1, sample: "core-reasoning-lighthouse-five" },
  (random) => {
    const key = random.pick(MIXED);
    const names = random.people(5).toSorted();
    const letters = (kinds: Kinds) => PEOPLE.map((person) => (tells(kinds, person) ? "T" : "L")).join("");
    const fitting = fittingStatements(names, key);
    return drawUntil(() => {
      const sorts = random.shuffle(SORTS).map((sort, speaker) => fitting[sort][speaker] ?? []);
      if (sorts.some((list) => list.length === 0)) return undefined;
      const drawn = sorts.map((list) => random.pick(list));
      const wrongs = (kinds: Kinds, holds: ((kinds: Kinds) => boolean)[]) =>
        holds.filter((one, speaker) => one(kinds) !== tells(kinds, speaker)).length;
      const read = drawn.map(({ holds }) => holds);
      if (ALL_KINDS.filter((kinds) => wrongs(kinds, read) === 0).length !== 1) return undefined;
      // What fits a careless reading of the conditional, and what fits all statements but one.
      const careless = drawn.flatMap(({ misread = [] }, speaker) =>
        misread.flatMap((other) => ALL_KINDS.filter((kinds) => wrongs(kinds, read.with(speaker, other)) === 0)),
      );
      const nearly = ALL_KINDS.filter((kinds) => wrongs(kinds, read) === 1);
      const wrong = [...new Set([...careless, ...nearly])].filter((kinds) => kinds !== key);
      if (careless.every((kinds) => kinds === key)) return undefined;
      const said = drawn.map(({ text }, speaker) => `${names[speaker]}: “${text}”`).join("\n");
      return {
        prompt: `Five ${random.pick(TRADES)} each either always tell the truth or always lie. A sentence “if X then Y” is false only when X is true and Y is false.\n\n${said}\n\nDecide for each what they are. Answer with five letters and nothing else, in the order ${names.join(", ")}: T for a truth-teller, L for a liar.`,
        output_format: "text",
        grader: { type: "exact" },
        expected_output: letters(key),
        wrong_answers: wrong.slice(0, 5).map(letters),
      };
    });
  },
);
