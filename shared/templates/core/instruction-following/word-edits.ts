import { drawUntil, type Random } from "../../random.ts";
import { defineTemplate } from "../../types.ts";

const WORDS = [
  "lantern",
  "otter",
  "quarry",
  "maple",
  "sleet",
  "harbor",
  "tin",
  "velvet",
  "reed",
  "anchor",
  "basket",
  "cobalt",
  "dune",
  "ember",
  "fern",
  "granite",
  "heron",
  "ivory",
  "juniper",
  "kettle",
  "lemon",
  "marble",
  "nutmeg",
  "orchard",
  "pebble",
  "quill",
  "river",
  "saddle",
  "thistle",
  "umber",
  "violin",
  "walnut",
  "yarn",
  "zinc",
  "oak",
  "plum",
] as const;
const NUMBERS = ["zeroth", "first", "second", "third", "fourth", "fifth"] as const;
const LENGTHS = new Map([
  [4, "four"],
  [5, "five"],
  [6, "six"],
  [7, "seven"],
]);

/** A step in words, and what it does. */
interface Edit {
  text: string;
  apply(list: readonly string[]): string[];
}
/** An edit of a list that looks like this one; `fresh` is a word that it has never held. */
type MakeEdit = (random: Random, list: readonly string[], fresh: string) => Edit;

const at = (list: readonly string[], place: number): string => list.at(place) ?? "";
const reversed = (word: string): string => word.split("").toReversed().join("");
/** The edit of the word at a place that counts from 0. */
const changed =
  (place: number, change: (word: string) => string) =>
  (list: readonly string[]): string[] =>
    list.map((word, i) => (i === place ? change(word) : word));

const swap: MakeEdit = (random, list) => {
  const ends = [0, list.length - 1];
  const middle = random.sample([...list.keys()], 2).toSorted((a, b) => a - b);
  const [one = 0, other = 0] = random.pick([ends, middle]);
  const text =
    one === 0 && other === list.length - 1
      ? "Swap the first and the last word."
      : `Swap the words at positions ${one + 1} and ${other + 1}.`;
  return {
    text,
    apply: (words) => words.map((word, i) => (i === one ? at(words, other) : i === other ? at(words, one) : word)),
  };
};

const remove: MakeEdit = (random) => {
  const [length, name] = random.pick([...LENGTHS]);
  return {
    text: `Delete every word of exactly ${name} letters.`,
    apply: (words) => words.filter((word) => word.length !== length),
  };
};

const put: MakeEdit = (random, _, word) => {
  const [place, where] = [random.int(1, 4), random.pick(["behind", "in front of"] as const)];
  const index = where === "behind" ? place : place - 1;
  return {
    text: `Put the word “${word}” ${where} the ${NUMBERS[place]} word.`,
    apply: (words) => words.toSpliced(index, 0, word),
  };
};

const turn: MakeEdit = (random) =>
  random.pick<Edit>([
    { text: "Reverse the order of the whole list.", apply: (words) => words.toReversed() },
    {
      text: "Reverse the order of the first four words.",
      apply: (words) => [...words.slice(0, 4).toReversed(), ...words.slice(4)],
    },
  ]);

const capitals: MakeEdit = (random, list) => {
  const place = random.int(1, list.length);
  return {
    text: `Write the word at position ${place} in capitals.`,
    apply: changed(place - 1, (word) => word.toUpperCase()),
  };
};

const parity: MakeEdit = (random) => {
  const otherwise = random.pick(["first", "last"] as const);
  return {
    text: `If the list now has an odd number of words, delete the middle one; otherwise delete the ${otherwise} one.`,
    apply: (words) => {
      const even = otherwise === "first" ? 0 : words.length - 1;
      return words.toSpliced(words.length % 2 === 1 ? (words.length - 1) / 2 : even, 1);
    },
  };
};

const move: MakeEdit = (random) =>
  random.pick<Edit>([
    { text: "Move the last word to the front.", apply: (words) => [at(words, -1), ...words.slice(0, -1)] },
    { text: "Move the first word to the end.", apply: (words) => [...words.slice(1), at(words, 0)] },
  ]);

const letters: MakeEdit = (random, list) => {
  const place = random.int(1, list.length);
  return { text: `Reverse the letters of the word at position ${place}.`, apply: changed(place - 1, reversed) };
};

const EDITS: readonly MakeEdit[] = [swap, remove, put, turn, capitals, parity, move, letters];

const LEAST = 4;

/** All kinds of edits in some order, with the list that they end in; undefined where one changes nothing, or too much. */
function drawEdits(
  random: Random,
  [fresh = "", ...words]: readonly string[],
): { edits: Edit[]; key: string[] } | undefined {
  const edits: Edit[] = [];
  let list = [...words];
  for (const make of random.shuffle(EDITS)) {
    const edit = make(random, list, fresh);
    const next = edit.apply(list);
    if (next.length < LEAST || next.join() === list.join()) return undefined;
    edits.push(edit);
    list = next;
  }
  return { edits, key: list };
}

const carriedOut = (edits: readonly Edit[], words: readonly string[]): string =>
  edits
    .reduce<readonly string[]>((list, { apply }) => apply(list), words)
    .filter((word) => word !== "")
    .join(" ");

/** Traps: each step works on the result of the one before, so that whoever leaves out or exchanges any two goes astray. */
export const wordEdits = defineTemplate(
  { id: "instructions-word-edits", version: 1, sample: "core-instructions-word-edits" },
  (random) =>
    drawUntil(() => {
      const [fresh, ...words] = random.sample(WORDS, 9);
      const drawn = drawEdits(random, [fresh, ...words]);
      if (drawn === undefined) return undefined;
      const { edits } = drawn;
      const key = drawn.key.join(" ");
      // Both changes of letters stay visible, each on a word of its own.
      const spelt = drawn.key.filter((word) => !WORDS.some((known) => known === word));
      if (spelt.length !== 2 || !/\b[A-Z]+\b/.test(key)) return undefined;
      const wrong = edits.map((_, left) => carriedOut(edits.toSpliced(left, 1), words));
      if (wrong.includes(key)) return undefined;
      const backwards = carriedOut(edits.toReversed(), words);
      const exchanged = edits
        .slice(1)
        .map((edit, i) =>
          carriedOut([...edits.slice(0, i), edit, ...edits.slice(i, i + 1), ...edits.slice(i + 2)], words),
        );
      const astray = [backwards, ...exchanged].filter((answer) => answer !== key);
      if (astray.length < 5) return undefined;
      return {
        prompt:
          "Begin with the list of words in `input` and carry out the steps in their order, each on the result of the one before. Positions count from 1. Answer with the words of the final list, parted by single spaces, and nothing else.",
        input: { words, steps: edits.map(({ text }) => text) },
        output_format: "text",
        grader: { type: "exact" },
        expected_output: key,
        wrong_answers: [...wrong, ...astray, key.toLowerCase()],
      };
    }),
);
