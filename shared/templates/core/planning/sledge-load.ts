import { drawUntil, type Random } from "../../random.ts";
import { defineTemplate } from "../../types.ts";

const THINGS = [
  "altimeter",
  "barograph",
  "camera",
  "drill",
  "echo-sounder",
  "flares",
  "generator",
  "heater",
  "ice axe set",
  "kite",
  "lantern",
  "magnetometer",
  "radio",
  "sextant",
  "theodolite",
  "winch",
] as const;
const CARRIERS = ["sledge", "raft", "handcart", "canoe", "mule"] as const;
const PLACES = Array.from({ length: 8 }, (_, i) => i);

interface Thing {
  name: string;
  kg: number;
  litres: number;
  value: number;
}
interface Limits {
  kg: number;
  litres: number;
}

/** All choices of eight things: bit i stands for thing i. */
const CHOICES = Array.from({ length: 2 ** PLACES.length }, (_, choice) => choice);

type Measure = keyof Limits | "value";
type Sums = Record<Measure, number[]>;

function drawThings(random: Random, names: readonly string[]): Thing[] {
  return names.map((name) => {
    const kg = random.int(2, 12);
    return { name, kg, litres: Math.max(2, kg + random.int(-2, 3)), value: 2 * kg + random.int(-1, 4) };
  });
}

/** What each choice sums up to. */
function sumsOf(things: readonly Thing[]): Sums {
  const sums = (of: Measure) => {
    const found = [0];
    for (const thing of things) found.push(...found.map((sum) => sum + thing[of]));
    return found;
  };
  return { kg: sums("kg"), litres: sums("litres"), value: sums("value") };
}

const holds = (choice: number, place: number): boolean => ((choice >> place) & 1) === 1;

interface Load {
  things: Thing[];
  limits: Limits;
  /** Of four things their places: the first needs the second, the others exclude each other. */
  roles: [number, number, number, number];
  key: number;
  careless: number[];
}

/** A load and the two rules that the best load within the limits breaks; undefined where a trap does not bite. */
function drawLoad(random: Random, names: readonly string[]): Load | undefined {
  const things = drawThings(random, names);
  const sums = sumsOf(things);
  const limit = (all = 0) => Math.round(all / 2);
  const limits: Limits = { kg: limit(sums.kg.at(-1)), litres: limit(sums.litres.at(-1)) };
  const worth = (choice: number) => sums.value[choice] ?? 0;
  const light = CHOICES.filter((choice) => (sums.kg[choice] ?? 0) <= limits.kg);
  const fit = light.filter((choice) => (sums.litres[choice] ?? 0) <= limits.litres);
  const best = (choices: readonly number[], allowed: (choice: number) => boolean) =>
    choices.reduce((most, next) => (worth(next) > worth(most) && allowed(next) ? next : most), 0);
  const free = best(fit, () => true);
  const taken = PLACES.filter((place) => holds(free, place));
  const left = PLACES.filter((place) => !holds(free, place));
  if (taken.length < 3 || left.length === 0) return undefined;
  for (let tries = 0; tries < 12; tries += 1) {
    const [needy, one, other] = random.sample(taken, 3);
    const needed = random.pick(left);
    const coupled = (choice: number) => !holds(choice, needy) || holds(choice, needed);
    const apart = (choice: number) => !(holds(choice, one) && holds(choice, other));
    const both = (choice: number) => coupled(choice) && apart(choice);
    const key = best(fit, both);
    // Whoever forgets the volume, the pair that goes together or the one that excludes itself loads something else.
    const careless = [best(light, both), best(fit, apart), best(fit, coupled), free];
    if (careless.some((choice) => worth(choice) === worth(key))) continue;
    if (fit.some((choice) => choice !== key && worth(choice) === worth(key) && both(choice))) continue;
    // Nor does it help to load what is worth most for its weight and volume again and again.
    const ratio = ({ kg, litres, value }: Thing) => value / (kg + litres);
    const greedy = things
      .toSorted((a, b) => ratio(b) - ratio(a))
      .map((thing) => 2 ** things.indexOf(thing))
      .reduce((load, next) => (fit.includes(load + next) && both(load + next) ? load + next : load), 0);
    if (greedy !== key)
      return { things, limits, roles: [needy, needed, one, other], key, careless: [...careless, greedy] };
  }
  return undefined;
}

/** Traps: two limits, one thing that needs another, two that exclude each other; the best ratios lead astray. */
export const sledgeLoad = defineTemplate(
  { id: "planning-sledge-load", version: 1, sample: "core-planning-sledge-load" },
  (random) => {
    const names = random.sample(THINGS, 8).toSorted();
    const { things, limits, roles, key, careless } = drawUntil(() => drawLoad(random, names));
    const [needy, needed, one, other] = roles.map((place) => names[place] ?? "");
    const namesOf = (choice: number) => names.filter((_, place) => holds(choice, place));
    return {
      prompt: `A survey party loads one ${random.pick(CARRIERS)} from the things in \`input\`; each is taken whole or left. The load may weigh at most ${limits.kg} kg and fill at most ${limits.litres} litres. The ${needy} may be taken only together with the ${needed}. The ${one} and the ${other} share a mount, so at most one of them is taken. Choose the load with the greatest total value; there is exactly one such load. Answer with the names of its things as a JSON array of strings.`,
      input: { max_kg: limits.kg, max_litres: limits.litres, things: things.map((thing) => ({ ...thing })) },
      output_format: "json",
      output_schema: { type: "array", items: { type: "string" } },
      grader: { type: "set_f1" },
      expected_output: namesOf(key),
      wrong_answers: careless.map(namesOf),
    };
  },
);
