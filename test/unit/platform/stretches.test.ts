import { describe, expect, it } from "vitest";
import { inStretches } from "../../../shared/platform/stretches.ts";

describe("work on many items", () => {
  it("lets in what waits after each stretch, and keeps the order of items and results", async () => {
    const happened: (number | string)[] = [];
    const waiting = (after: number): void => {
      if (after > 0) setTimeout(() => happened.push("let in") && waiting(after - 1), 0);
    };
    waiting(2);
    const results = await inStretches([1, 2, 3, 4, 5], 2, async (item) => {
      happened.push(item);
      return item * 10;
    });
    expect([happened, results]).toEqual([
      [1, 2, "let in", 3, 4, "let in", 5],
      [10, 20, 30, 40, 50],
    ]);
  });

  it("ends with the item that fails", async () => {
    const done: number[] = [];
    const failing = inStretches([1, 2, 3], 1, async (item) => {
      if (item === 2) throw new Error("two");
      done.push(item);
    });
    await expect(failing).rejects.toThrow("two");
    expect(done).toEqual([1]);
  });
});
