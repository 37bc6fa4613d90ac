import { neonConfig } from "@neondatabase/serverless";
import { sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { createDatabase } from "../../../shared/db/client.ts";
import { narrowing } from "../../../shared/db/narrowing.ts";
import type { Context } from "../../../shared/platform/context.ts";

/** What the driver makes of a database that does not answer in time, or answers that it refuses. */
const FAULTS = {
  late: async () => Promise.reject(new DOMException("No answer within the time limit.", "TimeoutError")),
  refused: async () => Response.json({ message: "refused", code: "22012" }, { status: 400 }),
  away: async () => Promise.reject(new TypeError("fetch failed")),
};

/** Work over the numbers from 0 to 9, which meets the fault where a piece of `size` from a number on is too much. */
async function walk(fault: keyof typeof FAULTS, isTooMuch: (from: number, size: number) => boolean) {
  const db = createDatabase("postgres://nobody@127.0.0.1/nothing", "http://127.0.0.1:9");
  neonConfig.fetchFunction = FAULTS[fault];
  const [pieces, stepped]: [number[][], string[]] = [[], []];
  const log = { error: (_: string, { name }: { name: string }) => void stepped.push(name) };
  const ctx = { log } as unknown as Context;
  let cursor: string | null = null;
  do {
    const piece = await narrowing(ctx, cursor, {
      size: 8,
      async work(behind, size) {
        const from = behind === null ? 0 : Number(behind) + 1;
        if (isTooMuch(from, size)) await db.batch([db.execute(sql`select 1`)]);
        const done = Array.from({ length: Math.min(size, 10 - from) }, (_, n) => from + n);
        pieces.push(done);
        return { next: from + size < 10 ? String(done.at(-1)) : null };
      },
      async first(behind) {
        const place = behind === null ? 0 : Number(behind) + 1;
        return { cursor: String(place), named: { name: String(place) } };
      },
    });
    cursor = piece.next;
  } while (cursor !== null);
  return { pieces, stepped };
}

it("halves a piece that takes the database too long until it is done in time, and steps over nothing", async () => {
  const { pieces, stepped } = await walk("late", (_, size) => size > 2);
  expect(pieces).toEqual([
    [0, 1],
    [2, 3],
    [4, 5],
    [6, 7],
    [8, 9],
  ]);
  expect(stepped).toEqual([]);
});

it("fails where a single row takes too long: it is tried again later", async () => {
  await expect(walk("late", (from, size) => from + size > 5)).rejects.toThrow("time limit");
});

it("steps over a row that the database refuses", async () => {
  const { pieces, stepped } = await walk("refused", (from, size) => from <= 3 && from + size > 3);
  expect(pieces.flat()).toEqual([0, 1, 2, 4, 5, 6, 7, 8, 9]);
  expect(stepped).toEqual(["3"]);
});

it("fails at once where the database is away", async () => {
  const tried: number[] = [];
  await expect(walk("away", (_, size) => tried.push(size) > 0)).rejects.toThrow("fetch failed");
  expect(tried).toEqual([8]);
});
