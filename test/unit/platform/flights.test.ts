import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createFlights } from "../../../shared/platform/flights.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** What has come to pass of these waits, once nothing is left to do but to wait for time. */
async function over(waits: (Promise<void> | null)[]): Promise<boolean[]> {
  const ended = waits.map(() => false);
  for (const [n, wait] of waits.entries()) void wait?.then(() => (ended[n] = true));
  await vi.advanceTimersByTimeAsync(0);
  return ended;
}

describe("what one request of an isolate makes for all", () => {
  it("is waited for by those who want the same, until it is there", async () => {
    const flights = createFlights();
    expect(flights.landing("a")).toBeNull();
    const land = flights.begin("a");
    const waits = [flights.landing("a"), flights.landing("a")];
    expect([flights.landing("b"), await over(waits)]).toEqual([null, [false, false]]);
    land();
    expect([flights.landing("a"), await over(waits)]).toEqual([null, [true, true]]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is waited for a second at most, by those who came late not at all", async () => {
    const flights = createFlights();
    const landLate = flights.begin("a");
    await vi.advanceTimersByTimeAsync(400);
    const wait = flights.landing("a");
    await vi.advanceTimersByTimeAsync(999);
    expect(await over([wait])).toEqual([false]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await over([wait])).toEqual([true]);
    expect(flights.landing("a")).toBeNull();
    // Whoever makes it now is not ended by the end of the one before.
    flights.begin("a");
    landLate();
    expect(await over([flights.landing("a")])).toEqual([false]);
  });
});
