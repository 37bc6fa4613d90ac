import type * as z from "zod";
import type { Context } from "../platform/context.ts";

/** What QStash delivers to one URL: idempotent work on a small body. */
export interface Consumer<B = unknown> {
  /** Delivered to `/queues/{name}`. */
  name: string;
  body: z.ZodType<B>;
  /** How often QStash tries again after a failure. */
  retries: number;
  /** How long one delivery may take before QStash gives it up, in seconds. */
  timeoutSeconds: number;
  /** At most this many deliveries at once for one flow key; null for no bound. */
  parallelism: number | null;
  /** Does the work. A throw makes QStash try again; coming a second time must change nothing. */
  handle(ctx: Context, body: B): Promise<void>;
  /** Called once after the last try failed. */
  dead(ctx: Context, body: B): Promise<void>;
}

/** Thrown by a consumer for a message that no further try can help. */
export class Permanent extends Error {}

/** Declares a consumer. */
export function consumer<B>(spec: Consumer<B>): Consumer {
  return spec;
}
