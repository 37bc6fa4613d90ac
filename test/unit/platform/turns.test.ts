import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createGathering } from "../../../shared/platform/gathering.ts";
import { createTurns, type Place } from "../../../shared/platform/turns.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** Lets everything go on that waits for nothing but its turn. */
async function turn(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

describe("places for work side by side", () => {
  it("are given in the order in which they were asked for, never more than there are", async () => {
    const turns = createTurns({ places: 2, holdMs: 1000 });
    const order: number[] = [];
    const held: Place[] = [];
    for (const n of [0, 1, 2, 3, 4]) {
      void (async () => {
        held[n] = await turns.take();
        order.push(n);
      })();
    }
    await turn();
    expect([order, turns.taken()]).toEqual([[0, 1], 2]);
    held[1]?.leave();
    await turn();
    expect([order, turns.taken()]).toEqual([[0, 1, 2], 2]);
    held[0]?.leave();
    held[2]?.leave();
    await turn();
    expect([order, turns.taken()]).toEqual([[0, 1, 2, 3, 4], 2]);
  });

  it("are free again when they were held too long, and leaving one late takes nobody else's", async () => {
    const turns = createTurns({ places: 1, holdMs: 1000 });
    const late = await turns.take();
    const order: string[] = [];
    void turns.take().then(() => order.push("second"));
    void turns.take().then(() => order.push("third"));
    await vi.advanceTimersByTimeAsync(999);
    expect(order).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(order).toEqual(["second"]);
    late.leave();
    await turn();
    expect([order, turns.taken()]).toEqual([["second"], 1]);
  });

  it("can be kept for a next piece of work: held anew, and one that was lost only where nobody else wants it", async () => {
    const turns = createTurns({ places: 1, holdMs: 1000 });
    const place = await turns.take();
    let second: Place | undefined;
    void turns.take().then((its) => (second = its));
    await vi.advanceTimersByTimeAsync(900);
    expect(place.keep()).toBe(true);
    await vi.advanceTimersByTimeAsync(900);
    expect(second).toBeUndefined();
    await vi.advanceTimersByTimeAsync(100);
    expect(place.keep()).toBe(false);
    await turn();
    expect(turns.taken()).toBe(1);
    second?.leave();
    expect([place.keep(), turns.taken()]).toEqual([true, 1]);
  });
});

describe("work in groups", () => {
  let ms = 0;
  const gather = () => createGathering<number>({ most: 3, holdMs: 1000, linger: () => ms });

  it("is done by one of those who want it, with all that came meanwhile, each item once", async () => {
    const gathering = gather();
    const groups: number[][] = [];
    let finish = (): void => undefined;
    const work = (items: readonly number[]) => {
      groups.push([...items]);
      return new Promise<void>((resolve) => {
        finish = resolve;
      });
    };
    const all = Promise.all([1, 2, 3, 4, 5].map((item) => gathering.join(item, work)));
    await turn();
    expect(groups).toEqual([[1, 2, 3]]);
    finish();
    await turn();
    expect(groups).toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
    finish();
    await all;
    await gathering.join(6, async (items) => void groups.push([...items]));
    expect(groups.at(-1)).toEqual([6]);
  });

  it("keeps nobody whose own item is done", async () => {
    const gathering = gather();
    const finishes: (() => void)[] = [];
    const work = () => new Promise<void>((resolve) => void finishes.push(resolve));
    const done: number[] = [];
    const all = [1, 2, 3, 4].map((item) => gathering.join(item, work).then(() => done.push(item)));
    await turn();
    finishes[0]?.();
    await turn();
    expect([done, finishes.length]).toEqual([[1, 2, 3], 2]);
    finishes[1]?.();
    await Promise.all(all);
  });

  it("that fails rejects for who did it, and leaves the next to be done", async () => {
    const gathering = gather();
    const failing = gathering.join(1, () => Promise.reject(new Error("fault")));
    await expect(failing).rejects.toThrow("fault");
    const groups: number[][] = [];
    await gathering.join(2, async (items) => void groups.push([...items]));
    expect(groups).toEqual([[2]]);
  });

  it("waits for more where more is to be expected, unless the group is full", async () => {
    ms = 20;
    const gathering = gather();
    const groups: number[][] = [];
    const join = (item: number) => gathering.join(item, async (items) => void groups.push([...items]));
    void join(1);
    await vi.advanceTimersByTimeAsync(19);
    void join(2);
    expect(groups).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(groups).toEqual([[1, 2]]);
    await Promise.all([3, 4, 5].map(join));
    expect(groups.at(-1)).toEqual([3, 4, 5]);
    ms = 0;
  });
});
