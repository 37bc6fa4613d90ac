import autocannon from "autocannon";
import { median } from "./measure.ts";

const SECONDS = 3;
const ROUNDS = 3;
const ADDRESSES = 400;

/** Requests a second of `url`, over those of `base`; both by callers of many addresses, in turn. */
export async function throughput(url: string, base: string): Promise<number> {
  const ratios: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const bare = await rate(base, round);
    const subject = await rate(url, round);
    if (round > 0) ratios.push(subject / bare);
  }
  return median(ratios);
}

async function rate(url: string, round: number): Promise<number> {
  const requests = Array.from({ length: ADDRESSES }, (_, n) => ({
    method: "GET" as const,
    // Sixteen connections go through the list in turn; new addresses each round keep everybody within the limit.
    headers: { "cf-connecting-ip": `10.${100 + round}.${(n >> 8) & 255}.${n & 255}` },
  }));
  const result = await autocannon({ url, connections: 16, duration: SECONDS, requests });
  if (result.non2xx > 0) throw new Error(`${result.non2xx} answers of ${url} were no success`);
  return result.requests.average;
}
