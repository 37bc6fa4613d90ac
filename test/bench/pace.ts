import { median, time } from "./measure.ts";

/** Additions in a loop, and what they take on the machine that the budgets were made for: an undisturbed core at 3 to 4 GHz. */
const ADDITIONS = 1e8;
const REFERENCE_MS = 100;
const ROUNDS = 5;

/**
 * How many times as long as that machine this one takes just now; at least 1. Budgets in milliseconds, and rows a second,
 * hold for the work of a processor, so that they are judged at its pace; ratios of two such times need nothing of it.
 */
export async function paceNow(): Promise<number> {
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) took.push(await time(async () => void added(ADDITIONS)));
  return Math.max(1, median(took) / REFERENCE_MS);
}

function added(most: number): number {
  let sum = 0;
  for (let n = 0; n < most; n += 1) sum += n;
  return sum;
}
