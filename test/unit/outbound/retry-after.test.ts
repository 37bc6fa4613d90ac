import { describe, expect, it } from "vitest";
import { retryAfterMs } from "../../../shared/platform/outbound/retry-after.ts";

const now = new Date("2026-11-21T09:00:00.500Z");

describe("retryAfterMs", () => {
  it.each([
    ["0", 0],
    ["7", 7000],
    [" 120 ", 120_000],
    ["Sat, 21 Nov 2026 09:00:30 GMT", 29_500],
    ["Sat, 21 Nov 2026 09:00:00 GMT", 0],
    ["Fri, 20 Nov 2026 09:00:00 GMT", 0],
  ])("%j asks to wait %i ms", (header, ms) => {
    expect(retryAfterMs(header, now)).toBe(ms);
  });

  it.each([
    null,
    "",
    "soon",
    "-1",
    "1.5",
    "1e3",
    "0x10",
    "2026-11-21T09:00:30Z",
    "Sat, 99 Nov 2026 09:00:30 GMT",
    "Sat, 21 Nov 2026 09:00:30 CET",
  ])("%j asks nothing", (header) => {
    expect(retryAfterMs(header, now)).toBeNull();
  });
});
