import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { patience, patiently, waningPatience } from "../../../shared/platform/patience.ts";

describe("a time limit that counts only the time in which the isolate was free", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  it("aborts with a TimeoutError once the time has gone by, and not before", () => {
    const signal = patience(700);
    vi.advanceTimersByTime(699);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(signal.reason).toMatchObject({ name: "TimeoutError" });
  });

  it("leaves no timer behind work that succeeds or fails, and ends work that takes longer", async () => {
    expect(await patiently(700, async () => 1)).toBe(1);
    await expect(patiently(700, () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    expect(vi.getTimerCount()).toBe(0);
    const endless = patiently(
      700,
      (signal) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    );
    vi.advanceTimersByTime(700);
    await expect(endless).rejects.toMatchObject({ name: "TimeoutError" });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is shorter for what is asked after something that did not answer, and as long for all else", async () => {
    const within = waningPatience(700, 200);
    const signals: AbortSignal[] = [];
    const ask = () => {
      const endless = within(
        (signal) =>
          new Promise<void>((_resolve, reject) => {
            signals.push(signal);
            signal.addEventListener("abort", () => reject(signal.reason));
          }),
      );
      endless.catch(() => undefined);
    };
    await within(async () => undefined);
    vi.advanceTimersByTime(700);
    ask();
    ask();
    vi.advanceTimersByTime(699);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
    vi.advanceTimersByTime(1);
    ask();
    vi.advanceTimersByTime(199);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, false]);
    vi.advanceTimersByTime(1);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
  });

  it("gives up while the isolate is busy only after as many turns as it has steps", async () => {
    vi.useRealTimers();
    const [patient, plain] = [patience(20), AbortSignal.timeout(20)];
    const until = performance.now() + 100;
    while (performance.now() < until);
    // Two turns of the event loop: in the first the late timers fire, in the second what arrived is read.
    for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect([patient.aborted, plain.aborted]).toEqual([false, true]);
  });
});
