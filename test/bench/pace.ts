import { median, time } from "./measure.ts";

/** What the work takes on the machine that the budgets were made for, in milliseconds. */
const REFERENCE_MS = 24;
const ROUNDS = 12;
const ROWS = Array.from({ length: 20_000 }, (_, n) => ({ id: n, name: `n${n}`, values: [n, n + 1] }));

/**
 * How many times as long as that machine this one takes just now for work that fills memory, as nearly all of the service's
 * does: a core can be as fast as ever, and memory several times slower. At least 1. Budgets in milliseconds, and rows a
 * second, are judged at this pace; ratios of two such times need nothing of it.
 */
export async function paceNow(): Promise<number> {
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) took.push(await time(async () => void read(JSON.stringify(ROWS))));
  return Math.max(1, median(took) / REFERENCE_MS);
}

function read(text: string): Map<string, unknown> {
  const rows: typeof ROWS = JSON.parse(text);
  return new Map(rows.map((row) => [row.name, row]));
}
