import { permutations, zip } from "../../lists.ts";
import { drawUntil, type Random } from "../../random.ts";
import { defineTemplate } from "../../types.ts";

const FLOATS = [
  "Anvil",
  "Anchor",
  "Bell",
  "Beacon",
  "Comet",
  "Cradle",
  "Drum",
  "Dolphin",
  "Ember",
  "Engine",
  "Fern",
  "Fiddle",
  "Globe",
  "Garland",
  "Harp",
  "Heron",
  "Ibex",
  "Jester",
  "Kettle",
  "Lantern",
  "Mill",
  "Nest",
  "Oak",
  "Plough",
  "Quill",
  "Raven",
  "Sundial",
  "Tulip",
  "Violin",
  "Wagon",
] as const;
const DISTANCES = ["", "", "two", "three", "four"] as const;

const FLOATS_IN_ROW = [0, 1, 2, 3, 4, 5, 6] as const;
/** As many orders as a mask of 32 bits can tell apart. */
const MAX_LEFT = 31;

/** An order of the floats: the place of float i, counted from 0. In the right one float i drives at place i. */
type Order = readonly number[];

interface Clue {
  text: string;
  holds: (at: Order) => boolean;
}
type Name = (float: number) => string;

const place = (at: Order, float: number): number => at[float] ?? 0;

const ordersApartOf = new Map<string, readonly Order[]>();

/** All orders in which one float drives `distance` places behind another one; made once each. */
function ordersApart(ahead: number, distance: number): readonly Order[] {
  const name = `${ahead} ${distance}`;
  const made = ordersApartOf.get(name) ?? makeOrdersApart(ahead, ahead + distance, distance);
  ordersApartOf.set(name, made);
  return made;
}

function makeOrdersApart(ahead: number, behind: number, distance: number): Order[] {
  const others = FLOATS_IN_ROW.filter((float) => float !== ahead && float !== behind);
  return FLOATS_IN_ROW.slice(distance).flatMap((last) => {
    const free = FLOATS_IN_ROW.filter((one) => one !== last && one !== last - distance);
    return permutations<number>(free).map((places) =>
      FLOATS_IN_ROW.map((float) => (float === ahead ? last - distance : (places[others.indexOf(float)] ?? last))),
    );
  });
}

/** True clues that narrow the orders down most, and the orders that they leave. */
function strongClues(random: Random, name: Name): { clues: Clue[]; left: Order[] } {
  const distance = random.int(2, 4);
  const ahead = random.int(0, 6 - distance);
  const behind = ahead + distance;
  const pair = random.int(0, 5);
  const [left = pair, right = pair] = random.shuffle([pair, pair + 1]);
  const [first = 0, middle = 0, last = 0] = random.sample(FLOATS_IN_ROW, 3).toSorted((a, b) => a - b);
  const apart: Clue = {
    text: `${name(behind)} drives exactly ${DISTANCES[distance]} positions behind ${name(ahead)}.`,
    holds: (at) => place(at, behind) - place(at, ahead) === distance,
  };
  const together: Clue = {
    text: `${name(left)} and ${name(right)} are next to each other.`,
    holds: (at) => Math.abs(place(at, left) - place(at, right)) === 1,
  };
  const between: Clue = {
    text: `${name(middle)} is somewhere between ${name(first)} and ${name(last)}, with ${name(first)} ahead of it and ${name(last)} behind it.`,
    holds: (at) => place(at, first) < place(at, middle) && place(at, middle) < place(at, last),
  };
  const orders = ordersApart(ahead, distance).filter((at) => together.holds(at) && between.holds(at));
  return { clues: [apart, together, between], left: orders };
}

/** All true clues of the three sorts that tell little. */
function weakClues(name: Name): [Clue[], Clue[], Clue[]] {
  const pairs = FLOATS_IN_ROW.flatMap((a) => FLOATS_IN_ROW.slice(a + 1).map((b) => [a, b] as const));
  return [
    pairs.map(([ahead, behind]) => ({
      text: `${name(behind)} is somewhere behind ${name(ahead)}.`,
      holds: (at) => place(at, behind) > place(at, ahead),
    })),
    pairs
      .filter(([, other]) => other !== 6)
      .map(([one, other]) => ({
        text: `Neither ${name(one)} nor ${name(other)} is last.`,
        holds: (at) => place(at, one) !== 6 && place(at, other) !== 6,
      })),
    FLOATS_IN_ROW.slice(1).map((float) => ({
      text: `${name(float)} is not first.`,
      holds: (at) => place(at, float) > 0,
    })),
  ];
}

/** Six clues that leave one order, of which none can be left out; undefined where the first three don't lead there. */
function drawClues(random: Random, name: Name, weak: readonly Clue[][]): Clue[] | undefined {
  const { clues, left } = strongClues(random, name);
  if (left.length > MAX_LEFT) return undefined;
  // Bit i of a mask: the clue leaves order i.
  const masked = weak.map((sort) =>
    sort.map((clue) => ({ clue, mask: left.reduce((mask, at, i) => mask | (Number(clue.holds(at)) << i), 0) })),
  );
  const [behind = [], last = [], first = []] = masked;
  const single = (mask: number) => (mask & (mask - 1)) === 0;
  const found = behind.flatMap((a) =>
    last
      .filter((b) => !single(a.mask & b.mask))
      .flatMap((b) =>
        first
          .filter((c) => single(a.mask & b.mask & c.mask) && !single(a.mask & c.mask) && !single(b.mask & c.mask))
          .map((c) => [a.clue, b.clue, c.clue]),
      ),
  );
  if (found.length === 0) return undefined;
  return random.shuffle([...clues, ...random.pick(found)]);
}

/** Trap: only all six clues together leave one order, and two of them read easily the wrong way round. */
export const paradeFloats = defineTemplate(
  { id: "reasoning-parade-floats", version: 1, sample: "core-reasoning-parade-floats" },
  (random) => {
    const row = random.sample(FLOATS, 7);
    const name = (float: number) => row[float] ?? "";
    const weak = weakClues(name);
    const clues = drawUntil(() => drawClues(random, name, weak));
    const asked = random.int(1, 5);
    const key = row[asked + 1] ?? "";
    const ahead = row[asked - 1] ?? "";
    const others = row.filter((float) => ![row[asked], key, ahead].includes(float));
    const choices = random.shuffle([key, ahead, ...random.sample(others, 3)]);
    const lettered = zip(["A", "B", "C", "D", "E"], choices);
    const floats = row.toSorted();
    return {
      prompt: `Seven floats drive in single file, position 1 first: ${floats.join(", ")}.\n\n${clues
        .map(({ text }) => `- ${text}`)
        .join("\n")}\n\nWhich float drives directly behind ${row[asked]}?\n${lettered
        .map(([letter, choice]) => `${letter}) ${choice}`)
        .join("\n")}\n\nAnswer with the letter alone.`,
      input: { floats, choices },
      output_format: "text",
      grader: { type: "multiple_choice", choices },
      expected_output: key,
      wrong_answers: lettered.filter(([, choice]) => choice !== key).flat(),
    };
  },
);
