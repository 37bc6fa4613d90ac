import { expect, it } from "vitest";
import { beyondBare } from "../../bench/resident.ts";

const BENCH = 10;
const ps = (pid: number, parent: number, size: number, name: string) => ({ pid, parent, size, name });

it("the Worker's memory is that of its own runtime, beyond that of the bare Worker, whatever else runs", () => {
  const own = [
    ps(1, 0, 5000, "init"),
    ps(BENCH, 1, 80_000, "node"),
    ps(11, BENCH, 90_000, "workerd"),
    ps(12, BENCH, 70_000, "node"),
    ps(13, 12, 60_000, "node"),
    ps(14, 13, 250_000, "workerd"),
  ];
  const others = [ps(20, 1, 1_000_000, "workerd"), ps(21, 12, 900_000, "postgres")];
  expect(beyondBare([...own, ...others], BENCH)).toBe(160_000);
  expect(() => beyondBare(others, BENCH)).toThrow("not found");
});
