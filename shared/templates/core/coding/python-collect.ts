import { drawUntil, type Random } from "../../random.ts";
import { lines } from "../../text.ts";
import { defineTemplate } from "../../types.ts";

const WORDS = [
  ["oak", "elm", "bay", "ash", "fir", "yew", "fig", "box", "may", "sloe", "plum", "pear"],
  ["wren", "tern", "knot", "rook", "smew", "teal", "swan", "crow", "lark", "dove", "kite", "ruff"],
  ["jade", "opal", "onyx", "ruby", "agate", "beryl", "topaz", "pearl", "coral", "amber", "flint", "slate"],
  ["rye", "oats", "hemp", "flax", "peas", "hops", "corn", "leek", "kale", "beet", "mint", "sage"],
] as const;
const FUNCTIONS = ["collect", "gather", "keep", "note", "store", "enrol", "stash"] as const;
const BAGS = ["bag", "seen", "shelf", "pile", "basket", "chest"] as const;

/** One line after the three calls. */
type Step = { kind: "extend" } | { kind: "rebind"; word: string } | { kind: "append"; call: string; word: string };

interface Program {
  /** The word of each of the three calls in order; the one with a list of its own has that, too. */
  calls: { word: string; own?: string[] }[];
  steps: Step[];
  last: string;
}

/** How a careless reader takes the language to be. */
interface Misreading {
  /** Each call has a fresh default list. */
  fresh?: boolean;
  /** `third = third + [word]` changes the list itself. */
  inPlace?: boolean;
  /** `second += third` makes both the same list. */
  alias?: boolean;
  /** A word is appended though it is there. */
  twice?: boolean;
}

/** The printed line. */
function run({ calls, steps, last }: Program, { fresh, inPlace, alias, twice }: Misreading = {}): string {
  const shared: string[] = [];
  const collect = (word: string, bag = fresh ? [] : shared) => {
    if (twice || !bag.includes(word)) bag.push(word);
    return bag;
  };
  const lists = calls.map(({ word, own }) => collect(word, own === undefined ? undefined : [...own]));
  let own = lists.find((_, i) => calls[i]?.own !== undefined) ?? [];
  let other = lists.findLast((_, i) => calls[i]?.own === undefined) ?? [];
  for (const step of steps) {
    if (step.kind === "append") collect(step.call).push(step.word);
    else if (step.kind === "extend" && alias) own = other;
    else if (step.kind === "extend") own.push(...other);
    else if (inPlace) other.push(step.word);
    else other = [...other, step.word];
  }
  return `${own.length} ${other.length} ${collect(last).join("-")}`;
}

function drawProgram(random: Random): Program {
  const [a, b, c, d, e, f, g, h] = random.sample(random.pick(WORDS), 8);
  const own = { word: b, own: random.pick([[c, b], [c, h], [b, c], [c]]) };
  const steps: Step[] = random.shuffle([
    { kind: "extend" },
    { kind: "rebind", word: e },
    { kind: "append", call: random.pick([a, d, g]), word: f },
  ]);
  return { calls: random.shuffle([{ word: a }, own, { word: d }]), steps, last: random.pick([a, b, d, h]) };
}

/** Traps: one default list for all calls; `+=` changes a list, `+` makes a new one; a word that is there stays once. */
export const pythonCollect = defineTemplate(
  { id: "coding-python-collect", version: 1, sample: "core-coding-python-collect" },
  (random) =>
    drawUntil(() => {
      const program = drawProgram(random);
      const key = run(program);
      const readings: Misreading[] = [{ fresh: true }, { inPlace: true }, { alias: true }, { twice: true }];
      const wrong = readings.map((reading) => run(program, reading));
      if (wrong.includes(key)) return undefined;
      const [call, bag] = [random.pick(FUNCTIONS), random.pick(BAGS)];
      const names = ["first", "second", "third"];
      const own = names[program.calls.findIndex((one) => one.own !== undefined)] ?? "";
      const other = names[program.calls.findLastIndex((one) => one.own === undefined)] ?? "";
      const line = (step: Step) => {
        if (step.kind === "extend") return `${own} += ${other}`;
        if (step.kind === "rebind") return `${other} = ${other} + ["${step.word}"]`;
        return `${call}("${step.call}").append("${step.word}")`;
      };
      return {
        prompt: lines(
          "What does this Python 3 program print? Answer with the printed line alone.",
          "",
          `def ${call}(word, ${bag}=[]):`,
          `    if word not in ${bag}:`,
          `        ${bag}.append(word)`,
          `    return ${bag}`,
          "",
          ...program.calls.map(({ word, own: list }, i) => {
            const given = list === undefined ? "" : `, [${list.map((item) => `"${item}"`).join(", ")}]`;
            return `${names[i]} = ${call}("${word}"${given})`;
          }),
          ...program.steps.map(line),
          `print(len(${own}), len(${other}), "-".join(${call}("${program.last}")))`,
        ),
        output_format: "text",
        grader: { type: "exact" },
        expected_output: key,
        wrong_answers: wrong,
      };
    }),
);
