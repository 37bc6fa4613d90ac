import type { Store } from "./store.ts";

/** What was published of late, to recognise repetitions. Times in Unix ms. */
export interface Publications {
  /** The id under which `key` was published in the last ten minutes; if it was not, it is now, as `messageId`. */
  firstOf(key: string, messageId: string, now: number): string;
}

const WINDOW_MS = 600_000;

/** The publications that `store` remembers. */
export function openPublications(store: Store): Publications {
  const table = store.table<{ messageId: string; until: number }>("publications");
  return {
    firstOf(key, messageId, now) {
      // Oldest first, as every key is kept equally long.
      for (const [old, { until }] of table.entries()) {
        if (until > now) break;
        table.delete(old);
      }
      const first = table.get(key);
      if (first !== undefined) return first.messageId;
      table.set(key, { messageId, until: now + WINDOW_MS });
      return messageId;
    },
  };
}
