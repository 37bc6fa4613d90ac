import { expect, it } from "vitest";
import { createWorkerLog } from "../stack/worker/log.ts";

it("keeps the last 5,000 lines, found by level and by what they contain", () => {
  const log = createWorkerLog();
  const line = (index: number) => ({ level: index % 2 === 0 ? "info" : "warn", message: "request", index });
  for (let index = 0; index < 12_345; index++) log.add(JSON.stringify(line(index)), "log");
  const all = log.lines();
  expect(all).toHaveLength(5000);
  expect([all[0], all.at(-1)]).toEqual([line(7345), line(12_344)]);
  expect(log.lines({ level: "warn" })).toHaveLength(2500);
  expect(log.lines({ contains: '"index":9999}' })).toEqual([line(9999)]);
  expect(log.lines({ level: "info", contains: '"index":9999}' })).toEqual([]);
});

it("keeps what is no JSON object of a line as text", () => {
  const log = createWorkerLog();
  for (const [text, level] of [
    ["✘ broken", "error"],
    ["null", "debug"],
    ['{"a":1}', "log"],
  ] as const)
    log.add(text, level);
  expect(log.lines()).toEqual([
    { level: "error", message: "✘ broken" },
    { level: "info", message: "null" },
    { level: "info", message: '{"a":1}' },
  ]);
});
