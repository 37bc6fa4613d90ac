import { drawUntil } from "../../random.ts";
import { defineTemplate } from "../../types.ts";
import { FAMILY_NAMES, PLACES } from "../../words.ts";

/** Slabs that must not lie directly one behind the other, by their lengths. */
type Ban = (before: number | undefined, next: number) => boolean;

/** How many rows of slabs fill `length` units. */
function rows(slabs: readonly number[], length: number, banned: Ban): number {
  const known = new Map<string, number>();
  const fill = (left: number, before?: number): number => {
    if (left === 0) return 1;
    const name = `${left} ${before}`;
    const found =
      known.get(name) ??
      slabs
        .filter((next) => next <= left && !banned(before, next))
        .reduce((sum, next) => sum + fill(left - next, next), 0);
    known.set(name, found);
    return found;
  };
  return fill(length);
}

/** How many choices of slabs fill the length, whatever their order. */
function choices([slab, ...others]: readonly number[], length: number): number {
  if (slab === undefined) return Number(length === 0);
  if (length < 0) return 0;
  return choices(others, length) + (length >= slab ? choices([slab, ...others], length - slab) : 0);
}

/** Traps: order counts, and one pair of neighbours is ruled out. */
export const slabRows = defineTemplate(
  { id: "math-slab-rows", version: 1, sample: "core-math-slab-rows" },
  (random) => {
    const [first] = random.people(1);
    const owner = `${first} ${random.pick(FAMILY_NAMES)}`;
    const place = random.pick(PLACES);
    return drawUntil(() => {
      const slabs = random.sample([1, 2, 3, 4, 5, 6, 7], 3).toSorted((a, b) => a - b);
      const length = random.int(9, 20);
      const [before, next] = [random.pick(slabs), random.pick(slabs)];
      const key = rows(slabs, length, (one, other) => one === before && other === next);
      if (key < 100 || key > 900) return undefined;
      const wrong = [
        rows(slabs, length, () => false),
        choices(slabs, length),
        rows(slabs, length, (one, other) => one === other),
        rows(slabs, length, (one, other) => [before, next].includes(one ?? 0) && [before, next].includes(other)),
      ].filter((count) => count !== key);
      if (wrong.length < 3) return undefined;
      const rule =
        before === next
          ? `Two slabs of length ${before} must never lie directly next to each other.`
          : `A slab of length ${next} must never lie directly behind one of length ${before}, seen from the gate.`;
      return {
        prompt: `The garden path of ${owner} in ${place} is one slab wide and ${length} units long. It is laid, from the gate to the door, with slabs that are ${slabs[0]}, ${slabs[1]} or ${slabs[2]} units long (any number of each). ${rule} Rows that have the same slabs in another order count as different. In how many ways can the path be filled exactly? Answer with one whole number.`,
        output_format: "text",
        grader: { type: "numeric" },
        expected_output: key,
        wrong_answers: wrong.map(String),
      };
    });
  },
);
