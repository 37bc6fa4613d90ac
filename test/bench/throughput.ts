import autocannon, { type Client, type Request } from "autocannon";
import { type Measured, measured } from "./measure.ts";

const SECONDS = 3;
const ROUNDS = 3;
const CONNECTIONS = 16;
/** Requests that one address sends in a row before the connection goes on as another: within the limit of a minute. */
const IN_A_ROW = 200;
const ADDRESSES = 20;

/** Requests a second of `url`, over those of `base`; both by busy callers of many addresses, in turn. */
export async function throughput(url: string, base: string): Promise<Measured> {
  const ratios: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const bare = await rate(base, round);
    const subject = await rate(url, round);
    if (round > 0) ratios.push(subject / bare);
  }
  return measured(ratios);
}

async function rate(url: string, round: number): Promise<number> {
  let connections = 0;
  const setupClient = (client: Client): void => {
    connections += 1;
    client.setRequests(requests(round, connections));
  };
  const result = await autocannon({ url, connections: CONNECTIONS, duration: SECONDS, setupClient });
  if (result.non2xx > 0) throw new Error(`${result.non2xx} answers of ${url} were no success`);
  return result.requests.average;
}

function requests(round: number, connection: number): Request[] {
  return Array.from({ length: ADDRESSES * IN_A_ROW }, (_, n) => ({
    method: "GET" as const,
    headers: { "cf-connecting-ip": `10.${100 + round}.${connection}.${Math.floor(n / IN_A_ROW)}` },
  }));
}
