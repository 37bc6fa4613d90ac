import type { Random } from "../../random.ts";
import { defineTemplate } from "../../types.ts";
import { type Call, keyOfCalls, unlike } from "./calls.ts";
import { courierTools } from "./tools.ts";

const STREETS = [
  "Quill Lane",
  "Tanner Row",
  "Mill Court",
  "Orchard Way",
  "Dyer Street",
  "Ropewalk",
  "Cooper Yard",
  "Salt Hill",
  "Weir Terrace",
  "Lantern Close",
] as const;
const COOL = [
  "cheese",
  "yoghurt starter",
  "fresh yeast",
  "smoked trout",
  "eye drops",
  "cut flowers",
  "butter",
] as const;
const COLD_NOTES = ["keep below", "spoils above", "never warmer than"] as const;
const PLAIN = [
  "printed leaflets",
  "wool samples",
  "cast iron pan",
  "ice skates",
  "cool box, empty",
  "winter coats",
  "snow shovel",
  "desk fan",
  "seed packets",
  "brass fittings",
  "fridge magnets",
  "clay beads",
] as const;
const NO_ADDRESS = ["", "to be confirmed", "same as last time", "the sender knows", "see the other parcel"] as const;
const NO_WEIGHT = ["", "heavy", "light", "not weighed yet", "like the other one", "as usual"] as const;
const DETAILS = ["pickup", "delivery", "weight"] as const;
type Detail = (typeof DETAILS)[number];

interface Parcel {
  cool: boolean;
  grams: number;
  gaps: Detail[];
  shown: { id: string; pickup: string; delivery: string; weight: string; goods: string };
}

function parcel(random: Random, id: string, cool: boolean, gaps: Detail[]): Parcel {
  const [from, to] = random.sample(STREETS, 2).map((street) => `${random.int(1, 89)} ${street}`);
  const grams = 5 * random.int(9, 1600);
  const weight = random.pick([`${grams / 1000} kg`, `${grams} g`]);
  const goods = cool
    ? `${random.pick(COOL)}, ${random.pick(COLD_NOTES)} ${random.int(4, 12)} °C`
    : random.pick<string>(PLAIN);
  const shown = {
    id,
    pickup: gaps.includes("pickup") ? random.pick<string>(NO_ADDRESS) : (from ?? ""),
    delivery: gaps.includes("delivery") ? random.pick<string>(NO_ADDRESS) : (to ?? ""),
    weight: gaps.includes("weight") ? random.pick<string>(NO_WEIGHT) : weight,
    goods,
  };
  return { cool, grams, gaps, shown };
}

const book = ({ shown, grams, cool }: Parcel): Call => ({
  name: "book_courier",
  arguments: { parcel_id: shown.id, weight_g: grams, service: cool ? "cold" : "standard" },
});
const ask = ({ shown }: Parcel, detail: Detail): Call => ({
  name: "ask_sender",
  arguments: { parcel_id: shown.id, detail },
});

/** The gaps of parcels, no two alike: only one order of the details in six is right for all of them. */
const GAPS = [
  ["pickup", "delivery"],
  ["pickup", "weight"],
  ["delivery", "weight"],
] as const;

/** Traps: words that are no address or weight, two gaps in one parcel, kilograms, goods that only sound cold. */
export const courierDetails = defineTemplate(
  { id: "tools-courier-details", version: 2, sample: "core-tools-courier-details" },
  (random) => {
    const [a, b, c, d, e] = random.codes("P", 5);
    const order = random.sample(DETAILS, 3);
    const [first, second, third] = order;
    const pairs = random.shuffle<Detail[]>(GAPS.map((pair) => [...pair]));
    const parcels = random.shuffle([
      parcel(random, a, true, []),
      parcel(random, b, false, []),
      ...[c, d, e].map((id, i) => parcel(random, id, random.pick([true, false]), pairs[i] ?? [])),
    ]);
    const missing = ({ gaps }: Parcel, by: readonly Detail[]) => by.find((detail) => gaps.includes(detail));
    const handle =
      (by: readonly Detail[]) =>
      (one: Parcel): Call => {
        const gap = missing(one, by);
        return gap === undefined ? book(one) : ask(one, gap);
      };
    const right = parcels.map(handle(order));
    const change = (applies: (one: Parcel) => boolean, to: (one: Parcel) => Call[]) =>
      parcels.flatMap((one) => (applies(one) ? to(one) : [handle(order)(one)]));
    const complete = ({ gaps }: Parcel) => gaps.length === 0;
    const wrong = [
      ...[
        [first, third, second],
        [second, first, third],
        [third, second, first],
      ].map((other) => parcels.map(handle(other))),
      parcels.map(book),
      change(
        (one) => !complete(one),
        (one) => one.gaps.map((gap) => ask(one, gap)),
      ),
      change(complete, (one) => [book({ ...one, cool: !one.cool })]),
      change(complete, (one) => [book({ ...one, grams: one.grams / 1000 })]),
      change(
        (one) => !complete(one),
        (one) => [{ name: "return_to_sender", arguments: { parcel_id: one.shown.id } }],
      ),
      right.filter(({ name }) => name === "book_courier"),
    ];
    const listed = `${order.slice(0, -1).join(", ")}, ${order.at(-1)}`;
    return {
      prompt: `Book a courier for every parcel in \`input\` whose details are complete. A parcel needs a pickup address, a delivery address and a weight; nothing may be guessed or taken from another parcel. For a parcel with gaps ask the sender instead, once, naming its first missing detail in the order ${listed}. The service is \`cold\` for goods that must stay cool, otherwise \`standard\`. Weights go to the tool in grams. One call per parcel, in any order.`,
      input: { parcels: parcels.map(({ shown }) => shown) },
      output_format: "tool_calls",
      tools: random.shuffle(courierTools),
      grader: { type: "tool_calls", order: "any" },
      expected_output: keyOfCalls(right),
      wrong_answers: unlike(right, wrong),
    };
  },
);
