import { drawUntil, type Random } from "../../random.ts";
import { zip } from "../../lists.ts";
import { defineTemplate } from "../../types.ts";

const THEMES = [
  { item: "crate", place: "pier" },
  { item: "trunk", place: "platform" },
  { item: "barrel", place: "cellar" },
  { item: "parcel", place: "gate" },
] as const;
const WORDS = ["cedar", "birch", "willow", "maple", "rowan", "hazel", "linden", "poplar", "alder", "spruce"] as const;
/** Letters that no digit looks like. */
const LETTERS = ["C", "D", "F", "H", "J", "K", "M", "N", "P", "Q", "R", "T", "V", "W", "X"] as const;
const DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "niner"] as const;
const NUMERALS = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"] as const;
const ORDINALS = ["first", "second", "third"] as const;
type Ordinal = (typeof ORDINALS)[number];

/** The words of the speaking rules. */
interface Calls {
  double: string;
  correction: string;
  again: string;
}
/** A code as it is spoken, as it is meant, and as who breaks one of the rules hears it. */
interface Spoken {
  code: string;
  meant: string;
  misheard: string[];
}

function drawCode(random: Random, letters: readonly string[], word: ReadonlyMap<string, string>, calls: Calls): Spoken {
  const [a, b, c] = random.sample(letters, 3);
  const [p, q, r, s, t, u] = random.sample(NUMERALS, 6);
  const say = (...characters: string[]) => characters.map((character) => word.get(character)).join(" ");
  const twice = (character: string) => `${calls.double} ${say(character)}`;
  // The character that is put right was said twice, one word for each: only the last one goes.
  const head = random.pick([
    {
      said: say(a, b, p, p),
      by: say(q),
      right: `${a}${b}${p}${q}`,
      added: `${a}${b}${p}${p}${q}`,
      both: `${a}${b}${q}`,
    },
    {
      said: say(b, b, p),
      by: say(q, p),
      right: `${b}${b}${q}${p}`,
      added: `${b}${b}${p}${q}${p}`,
      both: `${b}${q}${p}`,
    },
    {
      said: say(a, b, b),
      by: twice(p),
      right: `${a}${b}${p}${p}`,
      added: `${a}${b}${b}${p}${p}`,
      both: `${a}${p}${p}`,
    },
  ]);
  const first = random.pick([
    { said: `${say(c)} ${twice(r)} ${say(s)}`, heard: `${c}${r}${r}${s}` },
    { said: `${twice(c)} ${say(s, r)}`, heard: `${c}${c}${s}${r}` },
    { said: `${say(c, s)} ${twice(t)}`, heard: `${c}${s}${t}${t}` },
  ]);
  const second = random.pick([
    { said: `${say(c, t)} ${twice(u)}`, heard: `${c}${t}${u}${u}`, single: `${c}${t}${u}` },
    { said: `${say(c)} ${twice(u)} ${say(s)}`, heard: `${c}${u}${u}${s}`, single: `${c}${u}${s}` },
    { said: `${twice(a)} ${say(u, t)}`, heard: `${a}${a}${u}${t}`, single: `${a}${u}${t}` },
  ]);
  return {
    code: `${head.said}. ${calls.correction} ${head.by}. dash. ${first.said}. ${calls.again}. ${second.said}.`,
    meant: `${head.right}-${second.heard}`,
    misheard: [
      `${head.added}-${second.heard}`,
      `${head.both}-${second.heard}`,
      `${head.right}-${first.heard}${second.heard}`,
      `${head.right}-${first.heard}`,
      `${head.right}-${second.single}`,
    ],
  };
}

type Places = Record<Ordinal, number>;
interface Change {
  text: string;
  /** Whom it sends elsewhere. */
  moved: Ordinal[];
  apply: (places: Places) => Places;
}

/** Two changes; the one that sends an item where another was meant to go is about items that were not sent elsewhere. */
function drawChanges(random: Random, item: string, place: string): Change[] {
  const [x, y, z] = random.shuffle(ORDINALS);
  if (x === undefined || y === undefined || z === undefined) return [];
  const [n, m] = [random.int(1, 5), random.int(1, 5)];
  const move: Change = {
    text: `The ${z} ${item} goes to ${place} ${n} instead.`,
    moved: [z],
    apply: (places) => ({ ...places, [z]: n }),
  };
  const follow: Change = {
    text: `The ${x} ${item} goes where the ${y} was meant to go, and the ${y} goes to ${place} ${m}.`,
    moved: [x, y],
    apply: (places) => ({ ...places, [x]: places[y], [y]: m }),
  };
  const swap: Change = {
    text: `The ${x} and the ${y} ${item} swap ${place}s.`,
    moved: [x, y],
    apply: (places) => ({ ...places, [x]: places[y], [y]: places[x] }),
  };
  const late: Change = {
    text: `Whatever was said before, the ${x} ${item} goes to ${place} ${n}.`,
    moved: [x],
    apply: (places) => ({ ...places, [x]: n }),
  };
  return random.pick([
    [move, follow],
    [follow, move],
    [move, swap],
    [swap, late],
    [follow, late],
  ]);
}

/** The item that alone goes there; undefined where none or several do. */
function goesTo(places: Places, wanted: number): Ordinal | undefined {
  const going = ORDINALS.filter((ordinal) => places[ordinal] === wanted);
  return going.length === 1 ? going[0] : undefined;
}

function drawRoute(random: Random, item: string, place: string) {
  return drawUntil(() => {
    const [first, second, third] = [random.int(1, 5), random.int(1, 5), random.int(1, 5)];
    const planned: Places = { first, second, third };
    const changes = drawChanges(random, item, place);
    const wanted = random.int(1, 5);
    const after = (some: readonly Change[]) => some.reduce((places, { apply }) => apply(places), planned);
    const idle = changes.some(({ moved }, i) => {
      const [before, next] = [after(changes.slice(0, i)), after(changes.slice(0, i + 1))];
      return moved.some((ordinal) => before[ordinal] === next[ordinal]);
    });
    const target = goesTo(after(changes), wanted);
    if (target === undefined) return undefined;
    // Who leaves out a change, or all, finds another item there, or none.
    const partial = [[], changes.slice(0, 1), changes.slice(1)].map((some) => goesTo(after(some), wanted));
    const tempting = ORDINALS.some((ordinal) => ordinal !== target && planned[ordinal] === wanted);
    return idle || !tempting || partial.includes(target) ? undefined : { planned, changes, wanted, target };
  });
}

/** Traps: a correction takes one character, what is said again replaces, and the items are sent elsewhere later. */
export const crateRadio = defineTemplate(
  { id: "extraction-crate-radio", version: 1, sample: "core-extraction-crate-radio" },
  (random) => {
    const { item, place } = random.pick(THEMES);
    const calls: Calls = {
      double: random.pick(["double", "twin", "paired"]),
      correction: random.pick(["correction", "amended", "rather"]),
      again: random.pick(["all after dash again", "back to the dash", "dash anew"]),
    };
    const letters = random.sample(LETTERS, 6);
    const letterWords = zip(random.sample(WORDS, 6), letters);
    const spelling: [string, string][] = [...letterWords, ["dash", "-"], ...zip(DIGITS, NUMERALS)];
    const word = new Map(spelling.map(([spoken, character]) => [character, spoken]));
    const codes = ORDINALS.map((ordinal) => ({ ordinal, ...drawCode(random, letters, word, calls) }));
    const { planned, changes, wanted, target } = drawRoute(random, item, place);
    const key = codes.filter(({ ordinal }) => ordinal === target);
    return {
      prompt: `Three ${item} codes are read out over the radio; see \`input\`. The port has its own spelling words: \`spelling\` says which character each word stands for. Speaking rules: “${calls.double}” before a word means that its character comes twice; after “${calls.correction}”, the words up to the next full stop replace the one character said last before it; “${calls.again}” cancels everything that came after the dash, and what follows takes its place. Which code has the ${item} that finally goes to ${place} ${wanted}? Answer with the code alone, as characters without spaces.`,
      input: {
        spelling: Object.fromEntries(spelling),
        transmissions: codes.map(({ ordinal, code }) => ({ [item]: ordinal, code, [place]: planned[ordinal] })),
        later: changes.map(({ text }) => text),
      },
      output_format: "text",
      grader: { type: "exact" },
      expected_output: key[0]?.meant ?? "",
      wrong_answers: [
        ...key.flatMap(({ misheard }) => misheard),
        ...codes.filter(({ ordinal }) => ordinal !== target).map(({ meant }) => meant),
      ],
    };
  },
);
