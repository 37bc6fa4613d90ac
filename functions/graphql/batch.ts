import type { SQL } from "drizzle-orm";
import type { Context, Database } from "../../shared/platform/context.ts";

type Result = Awaited<ReturnType<Database["execute"]>>;

interface Waiting {
  statement: SQL;
  settled: PromiseWithResolvers<Result>;
}

/**
 * The context with a database that sends the statements of one tick together: one round trip, in one transaction, for any
 * number of reads. When it fails, each of them fails.
 */
export function batching(ctx: Context): Context {
  let waiting: Waiting[] = [];
  const flush = async (): Promise<void> => {
    const [first, ...rest] = waiting;
    waiting = [];
    if (first === undefined) return;
    const { db } = ctx;
    const all = [first, ...rest];
    try {
      const results =
        rest.length === 0
          ? [await db.execute(first.statement)]
          : await db.batch([db.execute(first.statement), ...rest.map(({ statement }) => db.execute(statement))]);
      for (const [index, result] of results.entries()) all[index]?.settled.resolve(result);
    } catch (error) {
      for (const { settled } of all) settled.reject(error);
    }
  };
  const execute = (statement: SQL): Promise<Result> => {
    const settled = Promise.withResolvers<Result>();
    waiting.push({ statement, settled });
    if (waiting.length === 1) queueMicrotask(() => void flush());
    return settled.promise;
  };
  const db: Database = Object.create(ctx.db, { execute: { value: execute } });
  return Object.create(ctx, { db: { value: db } });
}
