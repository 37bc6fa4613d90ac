import { describe, expect, test } from "vitest";
import { toolsAndPlans } from "../../../shared/suites/public/tools-and-plans/index.ts";
import { addDays, minutesOf, permutations, subsets } from "./core-support.ts";
import { readerOf } from "./suite-support.ts";

const { keyOf, inputOf, task } = readerOf(toolsAndPlans);

/** The items for which `cost` is least. */
function cheapest<T>(items: T[], cost: (item: T) => number): T[] {
  const least = Math.min(...items.map(cost));
  return items.filter((item) => cost(item) === least);
}

/** The least number of steps from `start` to a state that is `done`, breadth first; states are told apart by their JSON. */
function fewestSteps<T>(start: T, next: (state: T) => T[], done: (state: T) => boolean): number {
  const seen = new Set<string>();
  for (let [states, steps] = [[start], 0]; states.length > 0; steps += 1) {
    if (states.some(done)) return steps;
    states = states.flatMap(next).filter((state) => {
      const text = JSON.stringify(state);
      return !seen.has(text) && seen.add(text);
    });
  }
  throw new Error("No state that is reached is done.");
}

describe("an exhaustive search finds the key, and no other plan as good", () => {
  test("lathe-then-varnish", () => {
    const { hours } = inputOf<{ hours: Record<string, { lathe: number; varnish: number }> }>("lathe-then-varnish");
    const finish = (order: string[]) => {
      let [lathe, varnish] = [0, 0];
      for (const piece of order) {
        lathe += hours[piece]?.lathe ?? 0;
        varnish = Math.max(lathe, varnish) + (hours[piece]?.varnish ?? 0);
      }
      return varnish;
    };
    const orders = permutations(Object.keys(hours)).filter((order) => order.indexOf("desk") < order.indexOf("bench"));
    expect(cheapest(orders, finish).map((order) => order.join("-"))).toEqual([keyOf("lathe-then-varnish")]);
  });

  test("boathouse-building-dates", () => {
    const works = (day: string) =>
      ![0, 6].includes(new Date(day).getUTCDay()) && !["2026-05-14", "2026-05-25"].includes(day);
    const lastDay = (after: string, days: number): string =>
      days === 0 ? after : lastDay(addDays(after, 1), works(addDays(after, 1)) ? days - 1 : days);
    const later = (a: string, b: string) => (a > b ? a : b);
    const cured = addDays(lastDay(lastDay("2026-05-03", 2), 3), 7);
    const walls = lastDay(cured, 4);
    const ready = later(lastDay(walls, 3), lastDay(later(walls, "2026-05-22"), 3));
    let inspection = lastDay(ready, 1);
    while (new Date(inspection).getUTCDay() === 5) inspection = lastDay(inspection, 1);
    expect(keyOf("boathouse-building-dates")).toBe(inspection);
  });

  test("one-stage-many-acts", () => {
    const { acts } = inputOf<{ acts: { name: string; start: string; end: string; points: number }[] }>(
      "one-stage-many-acts",
    );
    const programmes = subsets(acts).filter((chosen) =>
      chosen.every((act) =>
        chosen.every(
          (other) =>
            other === act ||
            minutesOf(other.start) - minutesOf(act.end) >= 15 ||
            minutesOf(act.start) - minutesOf(other.end) >= 15,
        ),
      ),
    );
    const best = cheapest(programmes, (chosen) => -chosen.reduce((sum, { points }) => sum + points, 0));
    expect(best.map((chosen) => chosen.map(({ name }) => name))).toEqual([keyOf("one-stage-many-acts")]);
  });

  test("buses-between-two-ends: at each end the first arrival serves the next departure", () => {
    const { trips } = inputOf<{ trips: { from: string; leaves: string; arrives: string }[] }>("buses-between-two-ends");
    const other: Record<string, string> = { Ashby: "Brook", Brook: "Ashby" };
    const ready = trips.map(({ from, arrives }) => ({ end: other[from], at: minutesOf(arrives) + 8 }));
    let buses = 0;
    for (const { from, leaves } of trips.toSorted((a, b) => minutesOf(a.leaves) - minutesOf(b.leaves))) {
      const index = ready.findIndex(({ end, at }) => end === from && at <= minutesOf(leaves));
      if (index === -1) buses += 1;
      else ready.splice(index, 1);
    }
    expect(keyOf("buses-between-two-ends")).toBe(buses);
  });

  test("shelves-from-long-boards: board by board, every set of shelves that fits is tried", () => {
    const [, list = ""] = /lengths in mm: ([\d, ]+)\./.exec(task("shelves-from-long-boards").prompt) ?? [];
    const lengths = list.split(", ").map((length) => Number(length.replace(",", "")));
    expect(lengths).toHaveLength(11);
    const all = 2 ** lengths.length - 1;
    const fits = Array.from({ length: all + 1 }, (_, set) => {
      const chosen = lengths.filter((_length, index) => (set >> index) & 1);
      return chosen.reduce((sum, length) => sum + length, 10 * (chosen.length - 1)) <= 2400;
    });
    const boards = Array<number>(all + 1).fill(0);
    for (let set = 1; set <= all; set += 1) {
      let least = Number.POSITIVE_INFINITY;
      for (let cut = set; cut > 0; cut = (cut - 1) & set) {
        if (fits[cut]) least = Math.min(least, 1 + (boards[set ^ cut] ?? 0));
      }
      boards[set] = least;
    }
    expect(keyOf("shelves-from-long-boards")).toBe(boards[all]);
  });

  test("five-hands-five-jobs", () => {
    const { hours } = inputOf<{ hours: Record<string, Record<string, number | null>> }>("five-hands-five-jobs");
    const jobs = Object.keys(hours.Aino ?? {});
    const assignments = permutations(jobs).map((order) =>
      Object.fromEntries(Object.keys(hours).map((sailor, index) => [sailor, order[index] ?? ""])),
    );
    const total = (assignment: Record<string, string>) =>
      Object.entries(assignment).reduce(
        (sum, [sailor, job]) => sum + (hours[sailor]?.[job] ?? Number.POSITIVE_INFINITY),
        0,
      );
    expect(cheapest(assignments, total)).toEqual([keyOf("five-hands-five-jobs")]);
  });

  test("cellar-door-and-key", () => {
    const { map } = inputOf<{ map: string[] }>("cellar-door-and-key");
    const row = map.findIndex((fields) => fields.includes("S"));
    const steps = fewestSteps(
      { row, column: map[row]?.indexOf("S") ?? -1, key: false },
      (at) =>
        [
          [1, 0],
          [-1, 0],
          [0, 1],
          [0, -1],
        ].flatMap(([down = 0, right = 0]) => {
          const [next, column] = [at.row + down, at.column + right];
          const field = map[next]?.[column] ?? "#";
          if (field === "#" || (field === "D" && !at.key)) return [];
          return { row: next, column, key: at.key || field === "k" };
        }),
      (at) => map[at.row]?.[at.column] === "E",
    );
    expect(keyOf("cellar-door-and-key")).toBe(steps);
  });

  test("wagons-on-three-sidings", () => {
    const room = [5, 2, 3];
    const sidings = Object.values(inputOf<Record<string, string[]>>("wagons-on-three-sidings")).map((wagons) =>
      wagons.join(""),
    );
    const moves = fewestSteps(
      sidings,
      (now) =>
        now.flatMap((from, index) =>
          now.flatMap((to, target) => {
            if (target === index || from === "" || to.length >= (room[target] ?? 0)) return [];
            return [now.with(target, to + from.slice(-1)).with(index, from.slice(0, -1))];
          }),
        ),
      ([first]) => first === "ABCDE",
    );
    expect(keyOf("wagons-on-three-sidings")).toBe(moves);
  });
});
