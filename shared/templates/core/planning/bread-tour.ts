import { permutations } from "../../lists.ts";
import { drawUntil, type Random } from "../../random.ts";
import { defineTemplate } from "../../types.ts";

const LETTERS = "BCDEFGHJKLMNPQRSTUVWXZ".split("");
const GOODS = ["bread", "milk", "flowers", "papers", "fish", "laundry"] as const;
/** The orders of five shops; the yard is place 0. */
const ORDERS = permutations([1, 2, 3, 4, 5]);

interface Window {
  earliest: number;
  latest: number;
}

/** Driving minutes between any two places, the same both ways, near what the plane would allow. */
function drawDistances(random: Random): number[][] {
  const spots = Array.from({ length: 6 }, () => [random.int(0, 26), random.int(0, 26)] as const);
  const apart = spots.map(([x, y]) => spots.map(([u, v]) => Math.max(6, Math.round(Math.hypot(x - u, y - v)))));
  return apart.map((row, from) => row.map((minutes, to) => (from < to ? minutes : (apart[to]?.[from] ?? 0))));
}

/** Traps: the shortest tour comes too late, the nearest shop first leads astray, waiting is not driving. */
export const breadTour = defineTemplate(
  { id: "planning-bread-tour", version: 2, sample: "core-planning-bread-tour" },
  (random) => {
    const shops = random.sample(LETTERS, 5).toSorted();
    const goods = random.pick(GOODS);
    const unloading = random.int(4, 8);
    return drawUntil(() => {
      const distances = drawDistances(random);
      const drive = (from: number, to: number) => distances[from]?.[to] ?? 0;
      const driving = (order: readonly number[]) =>
        order.reduce((sum, shop, i) => sum + drive(order[i - 1] ?? 0, shop), drive(order.at(-1) ?? 0, 0));
      // The opening times are set around a tour that is not the shortest one.
      const planned = random.pick(ORDERS);
      const windows = drawWindows(random, planned, drive, unloading);
      const finish = (order: readonly number[]) => {
        let minute = 0;
        for (const [i, shop] of order.entries()) {
          const { earliest = 0, latest = 0 } = windows[shop] ?? {};
          const begin = Math.max(minute + drive(order[i - 1] ?? 0, shop), earliest);
          if (begin > latest) return undefined;
          minute = begin + unloading;
        }
        return minute + drive(order.at(-1) ?? 0, 0);
      };
      const ranked = ORDERS.map((order) => ({ order, minutes: driving(order), finish: finish(order) })).toSorted(
        (a, b) => a.minutes - b.minutes,
      );
      const [best, second] = ranked.filter((one) => one.finish !== undefined);
      const [shortest] = ranked;
      if (best === undefined || second === undefined || shortest === undefined) return undefined;
      if (best.minutes === second.minutes || shortest.minutes === best.minutes) return undefined;
      const soonest = ranked
        .filter((one) => one.finish !== undefined)
        .reduce((first, one) => ((one.finish ?? 0) < (first.finish ?? 0) ? one : first));
      const nearest = [1, 2, 3, 4, 5].reduce<number[]>((tour) => {
        const left = [1, 2, 3, 4, 5].filter((shop) => !tour.includes(shop));
        return [...tour, left.reduce((a, b) => (drive(tour.at(-1) ?? 0, b) < drive(tour.at(-1) ?? 0, a) ? b : a))];
      }, []);
      const written = (order: readonly number[]) => order.map((shop) => shops[shop - 1] ?? "").join("-");
      const key = written(best.order);
      const wrong = [
        shortest.order,
        shortest.order.toReversed(),
        second.order,
        soonest.order,
        nearest,
        best.order.toReversed(),
      ];
      const trapped = [...new Set(wrong.map(written))].filter((order) => order !== key);
      const input = inputOf(shops, drive, windows);
      return {
        prompt: `A van with ${goods} leaves the yard at minute 0, calls once at each of the shops ${shops.slice(0, -1).join(", ")} and ${shops.at(-1)}, and returns to the yard. \`input\` gives the driving minutes between any two places (the same both ways) and, for each shop, the minutes between which unloading may begin. A van that comes too early waits; one that comes after \`latest\` is too late. Unloading takes ${unloading} minutes at each shop. Among the orders that meet every opening time, choose the one with the fewest driving minutes in all, the way back to the yard included; waiting and unloading do not count as driving. Answer with the five shop letters in the order of the visits, joined by hyphens, as in A-B-C-D-E, and nothing else.`,
        input: { unloading_minutes: unloading, ...input },
        output_format: "text",
        grader: { type: "exact" },
        expected_output: key,
        wrong_answers: trapped,
      };
    });
  },
);

/** Opening times by shop that the planned tour meets. */
function drawWindows(
  random: Random,
  planned: readonly number[],
  drive: (from: number, to: number) => number,
  unloading: number,
): Record<number, Window> {
  const windows: Record<number, Window> = {};
  let minute = 0;
  for (const [i, shop] of planned.entries()) {
    const arrival = minute + drive(planned[i - 1] ?? 0, shop);
    const earliest = random.pick([0, 0, 5 * Math.ceil((arrival + random.int(0, 12)) / 5)]);
    const begin = Math.max(arrival, earliest);
    windows[shop] = { earliest, latest: 5 * Math.ceil((begin + random.int(8, 50)) / 5) };
    minute = begin + unloading;
  }
  return windows;
}

/** The tables of the input: each distance once, each shop by its letter. */
function inputOf(
  shops: readonly string[],
  drive: (from: number, to: number) => number,
  windows: Record<number, Window>,
): {
  driving_minutes: Record<string, Record<string, number>>;
  shops: Record<string, { earliest: number; latest: number }>;
} {
  const names = ["yard", ...shops];
  const rows = names
    .slice(0, -1)
    .map((name, from): [string, Record<string, number>] => [
      name,
      Object.fromEntries(names.slice(from + 1).map((to, i) => [to, drive(from, from + 1 + i)])),
    ]);
  const open = shops.map((shop, i): [string, Window] => [shop, windows[i + 1] ?? { earliest: 0, latest: 0 }]);
  return {
    driving_minutes: Object.fromEntries(rows),
    shops: Object.fromEntries(open.map(([shop, window]) => [shop, { ...window }])),
  };
}
