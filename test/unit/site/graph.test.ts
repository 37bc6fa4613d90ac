import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Arrow, BOX, draw } from "../../../functions/site/graph.ts";

const arrow = (from: string, to: string): Arrow => ({ from, to, count: 1 });
const columns = (arrows: Arrow[]) => Map.groupBy(draw("agent", arrows).boxes, ({ x }) => x);
const namesByColumn = (arrows: Arrow[]) =>
  [...columns(arrows)].toSorted(([x], [other]) => x - other).map(([, boxes]) => boxes.map(({ name }) => name));

describe("a drawn call graph", () => {
  test.each<[string, Arrow[], string[][]]>([
    ["of nothing", [], [["agent"]]],
    [
      "by distance, by the shortest way",
      [arrow("agent", "a"), arrow("a", "b"), arrow("agent", "b"), arrow("b", "c")],
      [["agent"], ["a", "b"], ["c"]],
    ],
    [
      "with circles and calls of itself",
      [arrow("agent", "a"), arrow("a", "agent"), arrow("a", "a")],
      [["agent"], ["a"]],
    ],
    [
      "with what the agent does not lead to beside it",
      [arrow("x", "y"), arrow("agent", "a")],
      [
        ["agent", "x"],
        ["a", "y"],
      ],
    ],
    ["with a circle that nothing leads to", [arrow("x", "y"), arrow("y", "x")], [["agent", "x"], ["y"]]],
  ])("%s", (_what, arrows, expected) => {
    expect(namesByColumn(arrows)).toEqual(expected);
  });

  test("has each box once, apart from the others and inside the frame, and leaves out what is too much", () => {
    const name = fc.nat(40).map((number) => (number === 0 ? "agent" : `n${number}`));
    const arrows = fc.uniqueArray(fc.record({ from: name, to: name, count: fc.nat() }), {
      maxLength: 80,
      selector: ({ from, to }) => `${from} ${to}`,
    });
    fc.assert(
      fc.property(arrows, (all) => {
        const drawing = draw("agent", all);
        const { boxes } = drawing;
        expect(new Set(boxes.map((box) => box.name)).size).toBe(boxes.length);
        expect(boxes.length).toBeLessThanOrEqual(24);
        expect(drawing.arrows.length + drawing.omitted).toBe(all.length);
        if (new Set(["agent", ...all.flatMap(({ from, to }) => [from, to])]).size <= 24)
          expect(drawing.omitted).toBe(0);
        for (const [index, box] of boxes.entries()) {
          expect(Math.min(box.x, box.y)).toBeGreaterThanOrEqual(0);
          expect(box.x + BOX.width).toBeLessThanOrEqual(drawing.width);
          expect(box.y + BOX.height).toBeLessThanOrEqual(drawing.height);
          for (const other of boxes.slice(index + 1)) {
            const apart = Math.abs(box.x - other.x) >= BOX.width || Math.abs(box.y - other.y) >= BOX.height;
            expect(apart, `${box.name} over ${other.name}`).toBe(true);
          }
        }
        for (const { path } of drawing.arrows)
          expect(path).toMatch(/^M[-\d.,]+ C[-\d.]+,[-\d.]+(?: [-\d.]+,[-\d.]+){2}$/);
      }),
    );
  });
});
