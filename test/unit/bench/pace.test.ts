import { expect, it } from "vitest";
import { type Figure, lineOf } from "../../bench/measure.ts";
import { paceNow } from "../../bench/pace.ts";

const figure = (more: Partial<Figure>): Figure => ({
  name: "a line",
  value: 150,
  unit: "ms",
  kind: "most",
  budget: 70,
  ...more,
});

it.each<[string, Partial<Figure>, isOver: boolean]>([
  ["times are judged as they are on the budgets' own machine", {}, true],
  ["times may be as much longer as the machine is slower", { pace: 2.5 }, false],
  ["and no longer", { pace: 2 }, true],
  ["rows a second may be as many fewer", { unit: "rows/s", kind: "least", budget: 370, pace: 2.5 }, false],
  ["and no fewer", { unit: "rows/s", kind: "least", budget: 390, pace: 2.5 }, true],
  ["so may runs a second", { unit: "runs/s", kind: "least", budget: 370, pace: 2.5 }, false],
  ["ratios stay what they are", { unit: "×", value: 2, budget: 1.8, pace: 2.5 }, true],
  ["sizes do, too", { unit: "KB", pace: 2.5 }, true],
])("%s", (_name, more, isOver) => {
  expect(lineOf(figure(more)).endsWith("OVER")).toBe(isOver);
});

it("measures a pace that is no better than the budgets' own", async () => {
  expect(await paceNow()).toBeGreaterThanOrEqual(1);
});
