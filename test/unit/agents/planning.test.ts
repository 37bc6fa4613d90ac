import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { load, meeting, tour } from "../../agents/solve/planning.ts";
import { schedule } from "../../agents/solve/schedule.ts";
import { permutationsOf, subsetsOf } from "../../agents/solve/search.ts";
import { taskWith, textOf } from "./support.ts";

const json = { output_format: "json" as const };

describe("a schedule", () => {
  const job = (name: string, days: number, after: string[] = [], more: { crews?: number; lift?: boolean } = {}) => ({
    job: name,
    days,
    after,
    crews: more.crews ?? 1,
    lift: more.lift ?? false,
  });
  const days = (jobs: ReturnType<typeof job>[], crews = 2) =>
    schedule(taskWith({ crews, jobs }, "When is it done?"))?.output;

  test.each([
    ["side by side where there are crews enough", [job("a", 3), job("b", 2)], "3"],
    ["one after the other where a job waits for another", [job("a", 3), job("b", 2, ["a"])], "5"],
    [
      "one after the other where each needs all crews",
      [job("a", 3, [], { crews: 2 }), job("b", 2, [], { crews: 2 })],
      "5",
    ],
    [
      "one after the other where there is one thing of a kind",
      [job("a", 3, [], { lift: true }), job("b", 2, [], { lift: true })],
      "5",
    ],
    ["with the long job first, which is found by trying", [job("a", 2), job("b", 2), job("c", 4)], "4"],
  ])("runs jobs %s", (_, jobs, expected) => {
    expect(days(jobs)).toBe(expected);
  });

  test("is not given where a job needs more than there is", () => {
    expect(days([job("a", 1, [], { crews: 3 })])).toBeUndefined();
  });

  test("of independent jobs for one crew takes as long as all of them", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 }), (lengths) => {
        const jobs = lengths.map((length, at) => job(`j${at}`, length));
        expect(days(jobs, 1)).toBe(String(lengths.reduce((sum, length) => sum + length, 0)));
      }),
      { numRuns: 30 },
    );
  });
});

describe("a load", () => {
  const thing = fc.record({ kg: fc.integer({ min: 1, max: 9 }), value: fc.integer({ min: 1, max: 50 }) });

  test("is worth as much as the best of all loads within the limit", () => {
    fc.assert(
      fc.property(fc.array(thing, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 30 }), (sizes, max_kg) => {
        const things = sizes.map((size, at) => ({ name: `n${at}`, ...size }));
        const total = (chosen: typeof things, field: "kg" | "value") =>
          chosen.reduce((sum, one) => sum + one[field], 0);
        const best = Math.max(
          ...[...subsetsOf(things)].filter((set) => total(set, "kg") <= max_kg).map((set) => total(set, "value")),
        );
        const names = load(taskWith({ max_kg, things }, "Choose.", json))?.output as string[];
        const chosen = things.filter(({ name }) => names.includes(name));
        expect(total(chosen, "kg")).toBeLessThanOrEqual(max_kg);
        expect(total(chosen, "value")).toBe(best);
      }),
    );
  });

  test.each([
    ["", ["oar", "sail"]],
    ["The sail may be taken only together with the mast.", ["oar", "rope"]],
    ["The oar and the sail are alike, so at most one of them is taken.", ["sail", "rope"]],
  ])("keeps to the rule: %s", (rule, names) => {
    const things = [
      { name: "oar", kg: 2, value: 8 },
      { name: "sail", kg: 2, value: 9 },
      { name: "mast", kg: 4, value: 1 },
      { name: "rope", kg: 1, value: 2 },
    ];
    expect(load(taskWith({ max_kg: 4, things }, `Choose the best. ${rule}`, json))?.output).toEqual(names);
  });
});

test("a tour has the least driving of all that meet the opening times", () => {
  const minutes = fc.integer({ min: 1, max: 30 });
  fc.assert(
    fc.property(
      fc.array(minutes, { minLength: 10, maxLength: 10 }),
      fc.integer({ min: 20, max: 90 }),
      (legs, latest) => {
        const places = ["hub", "A", "B", "C", "D"];
        const pairs = places.flatMap((from, at) => places.slice(at + 1).map((to) => [from, to] as const));
        const leg = new Map(pairs.map(([from, to], at) => [[from, to].toSorted().join(), legs[at] ?? 0]));
        const between = (a: string, b: string) => leg.get([a, b].toSorted().join()) ?? 0;
        const driving_minutes = Object.fromEntries(
          places.map((from) => [
            from,
            Object.fromEntries(pairs.filter(([a]) => a === from).map(([a, b]) => [b, between(a, b)])),
          ]),
        );
        const shops = {
          A: { earliest: 0, latest },
          B: { earliest: 0, latest: 500 },
          C: { earliest: 25, latest: 500 },
          D: { earliest: 0, latest: 500 },
        };
        const drive = (order: readonly string[]) =>
          [...order, "hub"].reduce((sum, to, at) => sum + between(order[at - 1] ?? "hub", to), 0);
        const onTime = (order: readonly string[]) => {
          let time = 0;
          for (const [at, stop] of order.entries()) {
            time = Math.max(time + between(order[at - 1] ?? "hub", stop), stop === "C" ? 25 : 0);
            if (stop === "A" && time > latest) return false;
            time += 5;
          }
          return true;
        };
        const possible = [...permutationsOf(["A", "B", "C", "D"])].filter(onTime).map(drive);
        const answer = textOf(tour(taskWith({ shops, unloading_minutes: 5, driving_minutes }, "Which order?")));
        if (possible.length === 0) expect(answer).toBe("");
        else expect(drive(answer.split("-"))).toBe(Math.min(...possible));
      },
    ),
  );
});

describe("a meeting", () => {
  const person = (utc_offset_hours: number, ...busy: [string, string][]) => ({ utc_offset_hours, busy });
  const find = (people: ReturnType<typeof person>[], step = "full hour") =>
    meeting(taskWith({ minutes: 60, working_hours: ["09:00", "17:00"], people }, `It begins on a ${step}.`, json))
      ?.output ?? null;

  test.each([
    ["in the working hours of all time zones", [person(0), person(-5)], "14:00"],
    ["when what somebody does has ended", [person(0, ["09:00", "10:30"])], "11:00"],
    ["across the date line", [person(12, ["11:00", "17:00"]), person(11)], "22:00"],
  ])("is found %s", (_, people, start_utc) => {
    expect(find(people)).toEqual({ start_utc });
  });

  test("begins at the steps that the prompt allows", () => {
    expect(find([person(0, ["09:00", "10:05"])], "quarter of an hour")).toEqual({ start_utc: "10:15" });
  });

  test("is not given where nobody has the same working hours", () => {
    expect(find([person(0), person(12)])).toBeNull();
  });
});
