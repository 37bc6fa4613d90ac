import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { instanceSalt, instanceSeed, requestSalt } from "../../../shared/templates/mint.ts";
import { type Random, randomFrom } from "../../../shared/templates/random.ts";
import vectors from "../../../shared/templates/vectors.json" with { type: "json" };
import { SecondGenerator, secondDerivation } from "./second-generator.ts";

/** What both generators can do, with plain results. */
interface Generator {
  int(min: number, max: number): number;
  pick(items: readonly string[]): string | undefined;
  sample(items: readonly string[], count: number): string[];
  shuffle(items: readonly string[]): string[];
  people(count: number): string[];
  companies(count: number): string[];
  codes(prefix: string, count: number): string[];
}

type Drawing = (generator: Generator) => unknown;

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

/** The draw that a vector names, with its arguments. */
function drawing({ draw, arguments: [first = 0, second = 0] }: (typeof vectors)[number]["draws"][number]): Drawing {
  const items = Array.isArray(first) ? first.map(String) : [];
  const [a, b] = [Number(first), Number(second)];
  const drawings: Record<string, Drawing> = {
    int: (generator) => generator.int(a, b),
    pick: (generator) => generator.pick(items),
    sample: (generator) => generator.sample(items, b),
    shuffle: (generator) => generator.shuffle(items),
    people: (generator) => generator.people(a),
    companies: (generator) => generator.companies(a),
    codes: (generator) => generator.codes(String(first), b),
  };
  const found = drawings[draw];
  if (found === undefined) throw new Error(`no draw is called ${draw}`);
  return found;
}

const names = fc.uniqueArray(fc.string({ maxLength: 5 }), { minLength: 1, maxLength: 12 });
const drawings: fc.Arbitrary<Drawing> = fc.oneof(
  fc
    .tuple(
      fc.integer({ min: -(2 ** 40), max: 2 ** 40 }),
      fc.oneof(fc.nat({ max: 20 }), fc.integer({ min: 0, max: 2 ** 32 - 1 })),
    )
    .map(
      ([min, more]): Drawing =>
        (generator) =>
          generator.int(min, min + more),
    ),
  names.map(
    (items): Drawing =>
      (generator) =>
        generator.pick(items),
  ),
  fc.tuple(names, fc.nat()).map(
    ([items, n]): Drawing =>
      (generator) =>
        generator.sample(items, n % (items.length + 1)),
  ),
  names.map(
    (items): Drawing =>
      (generator) =>
        generator.shuffle(items),
  ),
  fc.nat({ max: 24 }).map(
    (count): Drawing =>
      (generator) =>
        generator.people(count),
  ),
  fc.nat({ max: 30 }).map(
    (count): Drawing =>
      (generator) =>
        generator.companies(count),
  ),
  fc.nat({ max: 30 }).map(
    (count): Drawing =>
      (generator) =>
        generator.codes("Q", count),
  ),
);

test("there are twenty vectors, with every draw that the text describes among them", () => {
  expect(vectors).toHaveLength(20);
  const described: (keyof Random)[] = ["int", "pick", "sample", "shuffle", "people", "companies", "codes"];
  expect(new Set(vectors.flatMap(({ draws }) => draws.map(({ draw }) => draw)))).toEqual(new Set(described));
});

describe.each(vectors)("vector of run $run_id", ({ secret, template, run_id, draws, ...derived }) => {
  test("the service and whoever follows the text derive the same seed and salts", () => {
    const key = Buffer.from(secret, "hex");
    expect(hex(instanceSeed(template, key, run_id))).toBe(derived.seed);
    expect(hex(instanceSalt(key, run_id))).toBe(derived.instance_salt);
    expect(hex(requestSalt(key, run_id))).toBe(derived.request_salt);
    expect(secondDerivation(secret, ["instance", template.id, template.version, run_id])).toBe(derived.seed);
    expect(secondDerivation(secret, ["salt", run_id])).toBe(derived.instance_salt);
    expect(secondDerivation(secret, ["request-salt", run_id])).toBe(derived.request_salt);
  });

  test("the service and whoever follows the text draw the same", () => {
    const results = draws.map(({ result }) => result);
    for (const generator of [randomFrom(Buffer.from(derived.seed, "hex")), new SecondGenerator(derived.seed)]) {
      expect(draws.map((draw) => drawing(draw)(generator))).toEqual(results);
    }
  });
});

test("whatever is drawn in whatever order, both generators agree", () => {
  const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(seeds, fc.array(drawings, { minLength: 1, maxLength: 12 }), (seed, list) => {
      const [first, second] = [randomFrom(seed), new SecondGenerator(hex(seed))];
      expect(list.map((draw) => draw(first))).toEqual(list.map((draw) => draw(second)));
    }),
    { numRuns: 500 },
  );
});
