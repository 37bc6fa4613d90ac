import autocannon, { type Client, type Request } from "autocannon";
import { type Measured, measured } from "./measure.ts";

/** Short, and many in turn: what else the machine does meets both alike. */
const SECONDS = 2;
const ROUNDS = 9;

/** Who asks: so many at once, each with so many requests in a row from one address before it goes on as another. */
export interface Callers {
  connections: number;
  inARow: number;
}

/**
 * Requests that all connections together prepare, far more than are sent in that time; a connection that is through with
 * its own begins again. To prepare them takes time of the processor that the Workers share.
 */
const PREPARED = 16_000;

/** Loads so far: each has addresses of its own, so that nobody meets the limit of a minute. */
let loads = 0;

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
    const first = round % 2 === 0 ? await load(base, callers) : null;
    const subject = await load(url, callers);
    const bare = first ?? (await load(base, callers));
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
): Promise<{ rate: number; p99: number; lost: number }> {
  loads += 1;
  let addresses = loads * PREPARED;
  const setupClient = (client: Client): void => {
    const first = addresses;
    const sent = requests(PREPARED / connections, (n) => first + Math.floor(n / inARow));
    addresses += sent.length;
    client.setRequests(sent);
  };
  const result = await autocannon({ url, connections, duration: SECONDS, setupClient });
  if (result.non2xx > 0) throw new Error(`${result.non2xx} answers of ${url} were no success`);
  return { rate: result["2xx"] / result.duration, p99: Math.max(1, result.latency.p99), lost: result.errors };
}

function requests(length: number, addressOf: (n: number) => number): Request[] {
  return Array.from({ length }, (_, n) => {
    const address = addressOf(n);
    const parts = [16 + (address >> 24), address >> 16, address >> 8, address].map((part) => part & 255);
    return { method: "GET" as const, headers: { "cf-connecting-ip": parts.join(".") } };
  });
}
