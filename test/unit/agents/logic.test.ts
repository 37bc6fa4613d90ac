import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { orderings } from "../../agents/solve/orderings.ts";
import { permutationsOf, subsetsOf } from "../../agents/solve/search.ts";
import { truthTellers } from "../../agents/solve/truth-tellers.ts";
import { taskOf } from "./support.ts";

const NAMES = ["Ada", "Bo", "Cleo", "Dan"] as const;

test("all orders and all subsets are tried, each once", () => {
  for (let size = 0; size <= 6; size += 1) {
    const items = Array.from({ length: size }, (_, index) => index);
    const orders = new Set([...permutationsOf(items)].map(String));
    expect(orders.size).toBe(items.reduce((product, item) => product * (item + 1), 1));
    expect(new Set([...subsetsOf(items)].map(String)).size).toBe(2 ** size);
  }
});

describe("who tells the truth", () => {
  const solve = (...statements: string[]) =>
    truthTellers(taskOf(statements.map((text, at) => `${NAMES[at]}: “${text}”`).join("\n"), { output_format: "json" }))
      ?.output ?? null;

  test.each([
    [
      "an exact count",
      ["Bo and Cleo both lie.", "Exactly one of us tells the truth.", "Ada and Bo are of the same kind."],
      ["Bo"],
    ],
    [
      "an implication",
      ["If Bo is honest, then so is Cleo.", "Cleo is a liar.", "Ada and Cleo are of the same kind."],
      ["Ada", "Cleo"],
    ],
    ["a parity", ["The number of honest people among us is even.", "Ada lies."], ["Bo"]],
  ])("follows from %s", (_, statements, honest) => {
    expect(solve(...statements)).toEqual(honest);
  });

  test.each([
    ["two answers are possible", ["Bo is a liar.", "Ada is a liar."]],
    ["no answer is possible", ["Ada lies.", "Ada tells the truth."]],
    ["a statement is not understood", ["Bo lies.", "The moon is made of cheese."]],
  ])("is left open where %s", (_, statements) => {
    expect(solve(...statements)).toBeNull();
  });

  test("is never told against what was said", () => {
    const name = fc.constantFrom(...NAMES.slice(0, 3));
    const statement = fc.oneof(
      fc.tuple(name, fc.boolean()).map(([who, honest]) => ({
        text: `${who} ${honest ? "tells the truth" : "lies"}.`,
        holds: (set: ReadonlySet<string>) => set.has(who) === honest,
      })),
      fc.tuple(name, name).map(([a, b]) => ({
        text: `${a} and ${b} are of different kinds.`,
        holds: (set: ReadonlySet<string>) => set.has(a) !== set.has(b),
      })),
      fc.integer({ min: 0, max: 3 }).map((least) => ({
        text: `At least ${least} of us lie.`,
        holds: (set: ReadonlySet<string>) => 3 - set.size >= least,
      })),
    );
    fc.assert(
      fc.property(fc.tuple(statement, statement, statement), (said) => {
        const possible = [...subsetsOf(NAMES.slice(0, 3))].filter((honest) => {
          const set = new Set<string>(honest);
          return said.every(({ holds }, at) => holds(set) === set.has(NAMES[at] ?? ""));
        });
        expect(solve(...said.map(({ text }) => text))).toEqual(possible.length === 1 ? possible[0] : null);
      }),
    );
  });
});

describe("the order of a row", () => {
  const question = "Give the order from first to last, joined by hyphens.";
  const solve = (clues: string, ask = question) =>
    orderings(taskOf(`Four carts stand in a row: Ash, Birch, Cedar, Elm.\n${clues}\n${ask}`))?.output ?? null;

  test.each([
    ["Ash stands directly behind Elm. Birch is first. Cedar is last.", "Birch-Elm-Ash-Cedar"],
    ["Elm stands exactly two positions behind Ash. Ash is not first. Cedar is first.", "Cedar-Ash-Birch-Elm"],
    [
      "Exactly two carts are between Birch and Cedar. Cedar is first. Ash stands somewhere ahead of Elm.",
      "Cedar-Ash-Elm-Birch",
    ],
    [
      "Neither Ash nor Birch is first. Elm is at an even position. Ash and Birch are next to each other. Elm stands before Ash. Birch is last.",
      "Cedar-Elm-Ash-Birch",
    ],
  ])("follows from: %s", (clues, order) => {
    expect(solve(clues)).toBe(order);
  });

  test("answers with the letter of the choice that is asked for", () => {
    const ask = "Which cart stands directly behind Birch?\nA) Ash\nB) Elm\nC) Cedar";
    expect(solve("Ash stands directly behind Elm. Birch is first. Cedar is last.", ask)).toBe("B");
  });

  test.each([
    ["two orders are possible", "Ash is first. Birch is last."],
    ["no order is possible", "Ash is first. Ash is last."],
    ["a clue is not understood", "Ash is first. Birch is last. Cedar looks longingly at Elm."],
  ])("is left open where %s", (_, clues) => {
    expect(solve(clues)).toBeNull();
  });
});
