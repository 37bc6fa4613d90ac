import { PassThrough } from "node:stream";
import { expect, it, onTestFinished, vi } from "vitest";
import { waitingOn } from "../../../clients/cli/src/progress.ts";

it("a pause that the service asks for is told of once, also where several requests wait; a short one is not", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const stderr = new PassThrough();
  const sleep = waitingOn({ stderr });
  const { signal } = new AbortController();
  const waited = Promise.all([sleep(2250, signal), sleep(41_100, signal), sleep(41_300, signal)]);
  await vi.advanceTimersByTimeAsync(41_300);
  await waited;
  const later = sleep(9000, signal);
  await vi.advanceTimersByTimeAsync(9000);
  await later;
  expect(String(stderr.read())).toBe(
    "The service asks to wait, or is away: trying again in 42 s.\n" +
      "The service asks to wait, or is away: trying again in 9 s.\n",
  );
});
