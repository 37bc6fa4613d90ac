import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { grade } from "../../../shared/grading/grade.ts";
import { type Fits, maximumInOrderMatching, maximumMatching } from "../../../shared/grading/matching.ts";
import type { GraderOf, Json } from "../../../shared/grading/schema.ts";
import { taskOf } from "./support.ts";

type Call = { name: string; arguments: Json };
type Options = Omit<GraderOf<"tool_calls">, "type">;

const score = (options: Options, key: Json, calls?: Call[]): number =>
  grade(taskOf({ type: "tool_calls", ...options }, key), { output: null, ...(calls && { tool_calls: calls }) })
    .correctness;

const call = (name: string, args: Json = {}): Call => ({ name, arguments: args });
const expected = (name: string, args: Json = {}): Json => ({ name, arguments: args });

describe("one call", () => {
  const key = [
    expected("weather", {
      city: ["New York", "NYC"],
      days: [3],
      units: ["celsius", null],
      spots: [[1, "Home base"]],
      where: [{ lat: 40, label: "Home" }],
    }),
  ];
  const args = {
    city: "new york",
    days: 3,
    units: "celsius",
    spots: [1, "home base"],
    where: { label: "HOME", lat: 40 },
  };

  test.each<[string, Call, number]>([
    ["as expected", call("weather", args), 1],
    ["another allowed value", call("weather", { ...args, city: "nyc." }), 1],
    ["an integer written as a fraction", call("weather", { ...args, days: 3.0 }), 1],
    ["an optional argument left out", call("weather", { ...args, units: null }), 1],
    ["a value that is not allowed", call("weather", { ...args, city: "Boston" }), 0],
    ["a number as a string", call("weather", { ...args, days: "3" }), 0],
    ["a list out of order", call("weather", { ...args, spots: ["home base", 1] }), 0],
    ["an object with one field more", call("weather", { ...args, where: { lat: 40, label: "home", x: 1 } }), 0],
    ["an unknown argument", call("weather", { ...args, lang: "en" }), 0],
    ["another tool", call("Weather", args), 0],
    ["arguments that are no object", call("weather", [args]), 0],
    ["arguments as a JSON string", call("weather", JSON.stringify(args)), 0],
  ])("%s", (_, made, correctness) => {
    expect(score({ order: "strict" }, key, [made])).toBe(correctness);
  });

  test("an argument may be left out only where null is allowed", () => {
    const { units: _, ...without } = args;
    expect(score({ order: "strict" }, key, [call("weather", without)])).toBe(1);
    const { days: __, ...lacking } = args;
    expect(score({ order: "strict" }, key, [call("weather", lacking)])).toBe(0);
  });

  test("names of Object.prototype are arguments like any other", () => {
    const odd: Json = [expected("f", { constructor: ["a"] })];
    expect(score({ order: "any" }, odd, [call("f", { constructor: "a" })])).toBe(1);
    expect(score({ order: "any" }, odd, [call("f", {})])).toBe(0);
    expect(score({ order: "any" }, odd, [call("f", JSON.parse('{"constructor": "a", "__proto__": 1}'))])).toBe(0);
  });
});

describe("several calls", () => {
  const key = [expected("a"), expected("b"), expected("c")];
  const [a, b, c, d] = [call("a"), call("b"), call("c"), call("d")];

  test.each<[Options, Call[] | undefined, number]>([
    [{ order: "strict" }, [a, b, c], 1],
    [{ order: "strict" }, [a, c], 2 / 3],
    [{ order: "strict" }, [a, c, b], 2 / 3],
    [{ order: "strict" }, [c, b, a], 1 / 3],
    [{ order: "strict" }, [d, a, b, c], 3 / 4],
    [{ order: "strict", allow_extra: true }, [d, a, b, d, c], 1],
    [{ order: "strict", allow_extra: true }, [c, b, a], 1 / 3],
    [{ order: "any" }, [c, b, a], 1],
    [{ order: "any" }, [a, a, a], 1 / 3],
    [{ order: "any" }, [c, d, b, a], 3 / 4],
    [{ order: "any", allow_extra: true }, [c, d, b, a], 1],
    [{ order: "any", allow_extra: false }, [c, d, b, a], 3 / 4],
    [{ order: "any" }, [], 0],
    [{ order: "any" }, undefined, 0],
  ])("%j", (options, calls, correctness) => {
    expect(score(options, key, calls)).toBeCloseTo(correctness, 12);
  });

  test("where no call is expected, making none is right and making one is wrong, unless extra calls are allowed", () => {
    expect(score({ order: "any" }, [])).toBe(1);
    expect(score({ order: "any" }, [], [a])).toBe(0);
    expect(score({ order: "any", allow_extra: true }, [], [a])).toBe(1);
  });

  test("any order takes the best assignment, not the first that fits", () => {
    const flexible = [expected("f", { x: [1, 2] }), expected("f", { x: [1] })];
    expect(score({ order: "any" }, flexible, [call("f", { x: 1 }), call("f", { x: 2 })])).toBe(1);
  });

  test("says which calls are missing, wrong, out of order or not expected", () => {
    const explain = (calls: Call[]): string =>
      grade(taskOf({ type: "tool_calls", order: "strict" }, [expected("a", { x: [1] }), expected("b")]), {
        output: null,
        tool_calls: calls,
      }).explanation;
    expect(explain([call("b")])).toContain('"a" was not called.');
    expect(explain([call("a", { x: 2, y: 3 }), b])).toContain('"a" differs in "x", "y".');
    expect(explain([b, call("a", { x: 1 })])).toContain("came out of order.");
    expect(explain([call("a", { x: 1 }), b, d])).toContain('Not expected: "d".');
  });

  test("a thousand large calls against a hundred expected ones are matched in time", () => {
    const many = Array.from({ length: 100 }, (_, index) => expected("f", { x: [index, index + 1, index + 2] }));
    const made = Array.from({ length: 1000 }, (_, index) => call("f", { x: 99 - (index % 100), y: "y".repeat(900) }));
    expect(score({ order: "any" }, many, made)).toBe(0);
    expect(
      score(
        { order: "any", allow_extra: true },
        many,
        made.map(() => call("f", { x: 1 })),
      ),
    ).toBe(2 / 100);
    expect(score({ order: "any" }, many, [...made, d])).toBe(0);
  });
});

describe("maximum matching", () => {
  const graph = fc
    .tuple(fc.nat(5), fc.nat(5))
    .chain(([left, right]) =>
      fc.tuple(
        fc.constant(left),
        fc.constant(right),
        fc.array(fc.boolean(), { minLength: left * right, maxLength: left * right }),
      ),
    )
    .map(([left, right, edges]) => ({ left, right, fits: ((i, j) => edges[i * right + j] ?? false) satisfies Fits }));

  /** The size of the largest matching, by trying every assignment. */
  function bruteForce(
    left: number,
    right: number,
    fits: Fits,
    inOrder: boolean,
    from = 0,
    used: number[] = [],
  ): number {
    if (from === left) return 0;
    let best = bruteForce(left, right, fits, inOrder, from + 1, used);
    for (let to = inOrder ? Math.max(-1, ...used) + 1 : 0; to < right; to += 1) {
      if (used.includes(to) || !fits(from, to)) continue;
      best = Math.max(best, 1 + bruteForce(left, right, fits, inOrder, from + 1, [...used, to]));
    }
    return best;
  }

  test.each([
    ["in any order", maximumMatching, false],
    ["in order", maximumInOrderMatching, true],
  ] as const)("%s is valid and as large as the best of all assignments", (_, match, inOrder) => {
    fc.assert(
      fc.property(graph, ({ left, right, fits }) => {
        const matching = match(left, right, fits);
        const pairs = [...matching.entries()].filter(([, to]) => to >= 0);
        const targets = pairs.map(([, to]) => to);
        expect(matching).toHaveLength(left);
        expect(pairs.every(([from, to]) => fits(from, to))).toBe(true);
        expect(new Set(targets).size).toBe(targets.length);
        if (inOrder) expect(targets).toEqual(targets.toSorted((x, y) => x - y));
        expect(pairs).toHaveLength(bruteForce(left, right, fits, inOrder));
      }),
      { numRuns: 300 },
    );
  });
});
