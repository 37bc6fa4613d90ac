import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";

/** Reads of the service's public API, without any credential. One that is limited waits until it may go on. */
export interface Reads {
  one<T>(path: string, schema: z.ZodType<T>): Promise<T>;
  /** All items of a paginated list. */
  all<T>(path: string, item: z.ZodType<T>): Promise<T[]>;
}

const PAGE_SIZE = 100;
const TRIES = 20;

/** Reads of the service at `base`; `headers` go along with each. */
export function readsOf(base: string, headers: Record<string, string> = {}): Reads {
  async function one<T>(path: string, schema: z.ZodType<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await reached(base.replace(/\/$/, "") + path, {
        headers: { accept: "application/json", ...headers },
        signal: AbortSignal.timeout(30_000),
      });
      if (response.ok) return read(path, await response.text(), schema);
      if (response.status !== 429 || attempt === TRIES) throw new Error(`${path} answers ${response.status}`);
      await delay(1000 * Number(response.headers.get("retry-after") ?? 1));
    }
  }
  return {
    one,
    async all(path, item) {
      const found = [];
      const schema = z.object({ items: z.array(item) });
      for (let page = 1; ; page += 1) {
        const mark = path.includes("?") ? "&" : "?";
        const { items } = await one(`${path}${mark}page_size=${PAGE_SIZE}&page=${page}`, schema);
        found.push(...items);
        if (items.length < PAGE_SIZE) return found;
      }
    },
  };
}

async function reached(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const why = cause instanceof Error ? cause.message || cause.name : String(cause);
    const advice = "Is it running, and the address right?";
    throw new Error(`${new URL(url).origin} does not answer: ${why}. ${advice}`, { cause: error });
  }
}

function read<T>(path: string, text: string, schema: z.ZodType<T>): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`${path} is not what this service answers. Is the address that of a service of this release?`, {
      cause,
    });
  }
}
