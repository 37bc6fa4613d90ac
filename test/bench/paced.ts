import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { percentile } from "./measure.ts";

/** A load that does not wait for its answers. */
export interface Pace {
  /** All of them are open from the beginning, and take turns. */
  connections: number;
  /** Requests a second. */
  rate: number;
  seconds: number;
  /** The address that the nth request comes from. */
  addressOf(n: number): string;
}

/**
 * The milliseconds that one request in a hundred exceeds where requests fall due one after the other at a steady rate. Each
 * counts from when it was due: one that finds no connection free, or is sent late, has waited. Load generators that only
 * limit how much is sent a second send all of it at the second's beginning, and then measure a full load for a while.
 * Throws for an answer that is no success.
 */
export async function pacedP99(url: string, { connections, rate, seconds, addressOf }: Pace): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: "fifo" });
  const ask = async (n: number): Promise<void> => {
    const sent = request(url, { agent, headers: { "cf-connecting-ip": addressOf(n) } }).end();
    const [answer]: IncomingMessage[] = await once(sent, "response");
    if (answer?.statusCode !== 200) throw new Error(`${url} answered with ${answer?.statusCode}`);
    await once(answer.resume(), "end");
  };
  try {
    await Promise.all(Array.from({ length: connections }, (_, n) => ask(n)));
    const total = Math.round(rate * seconds);
    const took: number[] = [];
    const answers: Promise<void>[] = [];
    const begun = performance.now();
    while (answers.length < total) {
      const due = Math.min(total, Math.ceil(((performance.now() - begun) * rate) / 1000));
      for (let n = answers.length; n < due; n += 1) {
        const at = begun + (n * 1000) / rate;
        answers.push(ask(connections + n).then(() => void took.push(performance.now() - at)));
      }
      await delay(1);
    }
    await Promise.all(answers);
    return percentile(took, 0.99);
  } finally {
    agent.destroy();
  }
}
