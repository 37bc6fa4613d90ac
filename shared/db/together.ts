import type { Context } from "../platform/context.ts";
import { createGathering, type Gathering } from "../platform/gathering.ts";
import type { Turns } from "../platform/turns.ts";
import { refusesData } from "./client.ts";

/** What callers of an isolate want to have written at a time. */
export interface Together<Item, Result> {
  /**
   * Has the item written, in one statement with those that others want to have written by then. What the database refuses
   * fails alone. Throws where the item can't be written; then nothing of it is, or, where the database did not answer, all
   * of it may be.
   */
  write(ctx: Context, item: Item): Promise<Result>;
}

/** An item that waits to be written, and what came of it. */
interface Waiting<Item, Result> {
  readonly item: Item;
  written: { result: Result } | null;
  failure: unknown;
}

/** How others wait for who writes a group: nobody waits for more to come. */
const GROUPS = { holdMs: 15_000, linger: () => 0 };

/**
 * Writes at most `most` items at a time, as databases commit in groups: the busier the isolate, the fewer statements.
 * `write` returns a result for each, in their order. An item that `isLarge` goes by itself, so that no request to the
 * database grows too large.
 */
export function createTogether<Item, Result>({
  most,
  isLarge,
  write,
}: {
  most: number;
  isLarge: (item: Item) => boolean;
  write: (ctx: Context, items: readonly Item[]) => Promise<readonly Result[]>;
}): Together<Item, Result> {
  type One = Waiting<Item, Result>;
  /** Those of each isolate, by its places for calls. */
  const gatherings = new WeakMap<Turns, Gathering<One>>();

  function gatheringOf({ calls }: Context): Gathering<One> {
    const known = gatherings.get(calls) ?? createGathering<One>({ ...GROUPS, most });
    gatherings.set(calls, known);
    return known;
  }

  /** Writes all together; where the database refuses that, each by itself. Never rejects. */
  async function writeAll(ctx: Context, all: readonly One[]): Promise<void> {
    try {
      const results = await write(
        ctx,
        all.map(({ item }) => item),
      );
      for (const [index, result] of results.entries()) {
        const one = all[index];
        if (one !== undefined) one.written = { result };
      }
    } catch (error) {
      if (refusesData(error) && all.length > 1) for (const one of all) await writeAll(ctx, [one]);
      else for (const one of all) one.failure = error;
    }
  }

  return {
    async write(ctx, item) {
      const waiting: One = { item, written: null, failure: undefined };
      if (!isLarge(item)) await gatheringOf(ctx).join(waiting, (all) => writeAll(ctx, all));
      // It is too large to share, or the request that wrote it with its own is gone.
      if (waiting.written === null && waiting.failure === undefined) await writeAll(ctx, [waiting]);
      if (waiting.written === null) throw waiting.failure;
      return waiting.written.result;
    },
  };
}
