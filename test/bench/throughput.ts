import autocannon, { type Client, type Request } from "autocannon";
import { type Measured, measured } from "./measure.ts";

const SECONDS = 3;
const ROUNDS = 3;

/** Who asks: so many at once, each with so many requests in a row from one address before it goes on as another. */
export interface Callers {
  connections: number;
  inARow: number;
}

/** Requests that a connection prepares; then it begins again, so its addresses are those of before. */
const PREPARED = 4000;

/** A Worker under load, over another one in turn with it. */
export interface Load {
  /** Requests a second. */
  rate: Measured;
  /** The time that one request in a hundred exceeds. */
  p99: Measured;
  /** Connections that failed or were given up, less those that the other one lost. */
  lost: Measured;
}

/** What `url` makes of callers, over what `base` does. Throws for an answer that is no success. */
export async function throughput(url: string, base: string, callers: Callers): Promise<Load> {
  const rates: number[] = [];
  const p99s: number[] = [];
  const lost: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const bare = await load(base, callers, round);
    const subject = await load(url, callers, round);
    if (round === 0) continue;
    rates.push(subject.rate / bare.rate);
    p99s.push(subject.p99 / bare.p99);
    lost.push(subject.lost - bare.lost);
  }
  return { rate: measured(rates), p99: measured(p99s), lost: measured(lost) };
}

async function load(
  url: string,
  { connections, inARow }: Callers,
  round: number,
): Promise<{ rate: number; p99: number; lost: number }> {
  let started = 0;
  const setupClient = (client: Client): void => {
    started += 1;
    client.setRequests(requests(inARow, round, started));
  };
  const result = await autocannon({ url, connections, duration: SECONDS, setupClient });
  if (result.non2xx > 0) throw new Error(`${result.non2xx} answers of ${url} were no success`);
  return { rate: result.requests.average, p99: Math.max(1, result.latency.p99), lost: result.errors };
}

/** Addresses of a block of their own for each round and connection, so that nobody meets the limit of a minute. */
function requests(inARow: number, round: number, connection: number): Request[] {
  return Array.from({ length: PREPARED }, (_, n) => {
    const address = Math.floor(n / inARow);
    const third = ((connection & 15) << 4) | (address >> 8);
    return {
      method: "GET" as const,
      headers: { "cf-connecting-ip": `${100 + 16 * round + (connection >> 4)}.${inARow}.${third}.${address & 255}` },
    };
  });
}
