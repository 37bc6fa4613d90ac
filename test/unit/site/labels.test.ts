import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DOT, type Labelled, placeLabels } from "../../../functions/site/parts/charts/labels.ts";

const FRAME = { left: 0, right: 300, top: 0, bottom: 200 };

/** What a text covers: at least six wide a digit, and as high as a digit is. */
const covered = ({ x, y }: { x: number; y: number }, text: string) => ({
  left: x,
  right: x + 6 * text.length,
  top: y - 8,
  bottom: y,
});
type Area = ReturnType<typeof covered>;
const apart = (a: Area, b: Area) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;

const points: fc.Arbitrary<Labelled[]> = fc.array(
  fc.record({
    x: fc.integer({ min: 0, max: 300 }),
    y: fc.integer({ min: 0, max: 200 }),
    text: fc.integer({ min: 1, max: 500 }).map(String),
  }),
  { maxLength: 60 },
);

describe("labels of dots", () => {
  it("cover neither each other nor a dot, and stay within the frame", () => {
    fc.assert(
      fc.property(points, (given) => {
        const areas = placeLabels(given, FRAME).flatMap((place, index) =>
          place === null ? [] : [covered(place, given[index]?.text ?? "")],
        );
        const dots = given.map(({ x, y }) => ({ left: x - DOT, right: x + DOT, top: y - DOT, bottom: y + DOT }));
        for (const [index, area] of areas.entries()) {
          expect(area.left >= FRAME.left && area.right <= FRAME.right).toBe(true);
          expect(area.top >= FRAME.top && area.bottom <= FRAME.bottom).toBe(true);
          for (const other of [...areas.slice(index + 1), ...dots]) expect(apart(area, other)).toBe(true);
        }
      }),
    );
  });

  it("are there for each of a few, at one place or at an edge", () => {
    const at = (x: number, y: number) => ["1", "2", "3", "4"].map((text) => ({ x, y, text }));
    for (const four of [at(150, 100), at(150, 99).slice(0, 2), at(299, 199).slice(0, 1), at(1, 1).slice(0, 1)]) {
      expect(placeLabels(four, FRAME)).not.toContain(null);
    }
  });

  it("are left out where there is no room, those that come last first", () => {
    const five = ["1", "2", "3", "4", "5"].map((text) => ({ x: 150, y: 100, text }));
    expect(placeLabels(five, FRAME).map((place) => place !== null)).toEqual([true, true, true, true, false]);
  });
});
