import autocannon, { type Client, type Request } from "autocannon";
import { type Measured, measured, median } from "./measure.ts";
import { pacedP99 } from "./paced.ts";

/** Short, and many in turn: what else the machine does meets both alike. */
const SECONDS = 1;
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
  /** What the other one made of a second. */
  bare: number;
  /** Connections that failed or were given up, less those that the other one lost. */
  lost: Measured;
}

/** What `url` makes of callers, over what `base` does. Throws for an answer that is no success. */
export async function throughput(url: string, base: string, callers: Callers, rounds = ROUNDS): Promise<Load> {
  const rates: number[] = [];
  const bares: number[] = [];
  const lost: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const first = round % 2 === 0 ? await load(base, callers) : null;
    const subject = await load(url, callers);
    const bare = first ?? (await load(base, callers));
    if (round === 0) continue;
    rates.push(subject.rate / bare.rate);
    bares.push(bare.rate);
    lost.push(subject.lost - bare.lost);
  }
  return { rate: measured(rates), bare: median(bares), lost: measured(lost) };
}

/** Rounds of the crowd, which is loaded to the full to learn what it carries and loses. */
const FULL_ROUNDS = 3;
/** What a crowd asks for at a pace, of what hello world carries: as much goes to the program that asks, on the same cores. */
const SHARE = 1 / 4;
const PACED_ROUNDS = 17;
const PACED_SECONDS = 0.5;

/** How a crowd is answered, over how hello world answers it. */
export interface Crowd extends Pick<Load, "lost"> {
  /** How many milliseconds later the Worker answers all but one in a hundred requests, at the same pace. */
  later: Measured;
  /** The same of hello world over itself: what such a difference is worth on this machine. */
  noise: Measured;
}

/**
 * How much later than `base` a Worker answers a crowd, by rounds in turn, and the connections that it loses beyond those of
 * `base` at full load. The pace is the same for both, and one that both carry: at full load so many connections wait for each
 * other, so that their latency tells the throughput alone, of which a service may have less than a hello world. It is a
 * difference, as a ratio of a few milliseconds is a coin's toss: hello world over itself came to between 0.3 and 2.2.
 */
export async function crowded(url: string, base: string, callers: Callers): Promise<Crowd> {
  const { bare, lost } = await throughput(url, base, callers, FULL_ROUNDS);
  const paced = (to: string): Promise<number> => {
    loads += 1;
    const first = loads * PREPARED;
    const addressOf = (n: number): string => addressAt(first + Math.floor(n / callers.inARow));
    return pacedP99(to, { connections: callers.connections, rate: bare * SHARE, seconds: PACED_SECONDS, addressOf });
  };
  const later: number[] = [];
  const noise: number[] = [];
  for (let round = 0; round <= PACED_ROUNDS; round += 1) {
    const first = await paced(base);
    const subject = await paced(url);
    const last = await paced(base);
    if (round === 0) continue;
    // As often after hello world as before it.
    later.push(subject - (round % 2 === 0 ? first : last));
    noise.push(last - first);
  }
  return { lost, later: measured(later), noise: measured(noise) };
}

async function load(url: string, { connections, inARow }: Callers): Promise<{ rate: number; lost: number }> {
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
  return { rate: result["2xx"] / result.duration, lost: result.errors };
}

function requests(length: number, addressOf: (n: number) => number): Request[] {
  return Array.from({ length }, (_, n) => ({
    method: "GET" as const,
    headers: { "cf-connecting-ip": addressAt(addressOf(n)) },
  }));
}

function addressAt(address: number): string {
  return [16 + (address >> 24), address >> 16, address >> 8, address].map((part) => part & 255).join(".");
}
