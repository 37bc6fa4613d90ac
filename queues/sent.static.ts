import type { Delivery } from "../shared/queue/publish.ts";
import { CONSUMERS } from "./consumers.ts";

/** How each consumer wants its messages sent: all that is known of it before it is loaded. */
export const SENT: Record<string, Delivery> = Object.fromEntries(
  await Promise.all(
    Object.entries(CONSUMERS).map(async ([name, load]) => {
      const { retries, retryDelay, timeoutSeconds, parallelism, untilDone } = await load();
      const delay = retryDelay === undefined ? {} : { retryDelay };
      const until = untilDone === undefined ? {} : { untilDone };
      return [name, { retries, ...delay, timeoutSeconds, parallelism, ...until }] as const;
    }),
  ),
);
