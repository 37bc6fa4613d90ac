import type * as z from "zod";
import type { Context } from "../platform/context.ts";

/** What QStash delivers to one URL: idempotent work on a small body. */
export interface Consumer<B = unknown> {
  /** Delivered to `/queues/{name}`. */
  name: string;
  body: z.ZodType<B>;
  /** How often QStash tries again after a failure: three times at most on its smallest plan. */
  retries: number;
  /** The milliseconds before each retry, in QStash's terms of `retried`; without it 12 s, 2 min 28 s, 30 min. */
  retryDelay?: string;
  /** How long one delivery may take before QStash gives it up, in seconds. */
  timeoutSeconds: number;
  /** At most this many deliveries at once for one flow key, and of all messages without one; null for no bound. */
  parallelism: number | null;
  /**
   * Set where nothing else in the database tells of the work: the message is owed until `handle` calls `done`, not only until
   * the queue has it, and the sweeper publishes it anew. So `dead` calls `done` for what is given up, and else does nothing.
   */
  untilDone?: true;
  /** Does the work. A throw makes QStash try again; coming a second time must change nothing. */
  handle(ctx: Context, body: B): Promise<void>;
  /** Called once when the last try has failed. */
  dead(ctx: Context, body: B, end: End): Promise<void>;
}

/**
 * How the last try of a message ended: `handle` threw `Permanent`, the database could not take what it was given, for no
 * reason that lies in it, or anything else.
 */
export type End = "refused" | "unavailable" | "failed";

/**
 * How a message is sent that is owed until it is done, and what its last try leaves owed: all but what was refused, which
 * `done` takes off. The tries of one publication, after 12 s, 84 s and ten minutes, bridge the time in which the queue takes
 * the next for a duplicate.
 */
export function owedUntil<B>(
  done: (ctx: Context, body: B) => Promise<void>,
): Pick<Consumer<B>, "retries" | "retryDelay" | "untilDone" | "dead"> {
  return {
    retries: 3,
    retryDelay: "12000 * pow(7, retried)",
    untilDone: true,
    dead: (ctx, body, end) => (end === "refused" ? done(ctx, body) : Promise.resolve()),
  };
}

/** Thrown by a consumer for a message that would fail at every further try. */
export class Permanent extends Error {}

/** Declares a consumer. */
export function consumer<B>(spec: Consumer<B>): Consumer {
  return spec;
}
