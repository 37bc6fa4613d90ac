import { createTurns } from "./turns.ts";

/** Work of one kind in an isolate that is done in groups: what comes while a group is being done is done with the next. */
export interface Gathering<Item> {
  /**
   * Has `item` done by `work`, together with what else has come meanwhile, or by another caller in its group. Resolves
   * once it is done, or its group was held for too long, and rejects as this caller's own call of `work` does. An item
   * whose caller the runtime drops may stay undone.
   */
  join(item: Item, work: (items: readonly Item[]) => Promise<void>): Promise<void>;
}

/**
 * Groups of at most `most` items, one after the other; the next one begins after `holdMs`, should the runtime drop one.
 * Each waits `linger()` milliseconds for more to come.
 */
export function createGathering<Item>({
  most,
  holdMs,
  linger,
}: {
  most: number;
  holdMs: number;
  linger: () => number;
}): Gathering<Item> {
  const items: Item[] = [];
  const turns = createTurns({ places: 1, holdMs });
  return {
    async join(item, work) {
      items.push(item);
      const place = await turns.take();
      try {
        // What others want is left to them: each has a turn of its own.
        if (!items.includes(item)) return;
        const ms = items.length < most ? linger() : 0;
        if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
        while (items.includes(item)) await work(items.splice(0, most));
      } finally {
        place.leave();
      }
    },
  };
}
