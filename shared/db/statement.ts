import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import type { Context, Idempotency } from "../platform/context.ts";
import { endedMeanwhile, Problem } from "../platform/problem.ts";
import { databaseFailure } from "./client.ts";
import { idempotency_keys } from "./schema/index.ts";

const IN_PROGRESS = "ID001";
const SEEN = "ID002";
const ENDED = "SE001";

/** What a statement selected, and whether that is the kept result of an earlier request with the same Idempotency-Key. */
export interface Ran {
  found: unknown;
  replayed: boolean;
}

/**
 * Runs one writing statement in one round trip: `parts` starts with `with` and names its parts, `select` selects one row
 * with the column `result` (JSON). Where the request carries an Idempotency-Key, the result is stored in the same
 * statement, so that an answer which was lost on its way is found again; for a key seen before the stored result is
 * returned and nothing is done. `lock` runs first in the same transaction, so that the statement sees everything that the
 * transactions it waited for have committed. The row of the caller's session decides at last, since Redis may have missed
 * that it ended. Throws `idempotency_in_progress`, `idempotency_key_reused`, and `unauthenticated` where nothing was done.
 */
export async function runOnce(ctx: Context, parts: SQL, select: SQL, lock?: SQL): Promise<Ran> {
  const once = ctx.idempotency;
  const inForce = ctx.question === null ? sql`` : sql` where session_still_holds(${ctx.question.condition})`;
  if (once === null) {
    const held = ctx.question === null ? select : sql`select w.result from (${select}) w${inForce}`;
    const statement = ctx.db.execute<{ result: unknown }>(sql`${parts} ${held}`);
    try {
      const { rows } =
        lock === undefined ? await statement : (await ctx.db.batch([ctx.db.execute(lock), statement]))[1];
      return { found: rows[0]?.result, replayed: false };
    } catch (error) {
      throw refused(error);
    }
  }
  const keep = sql`${parts}, result as (${select}), kept as (
    insert into ${idempotency_keys} (caller, key, fingerprint, result, expires_at)
    select ${once.caller}, ${once.key}, ${once.fingerprint}, result, now() + interval '24 hours' from result
  ) select result from result${inForce}`;
  try {
    const [, , kept] = await ctx.db.batch([
      ctx.db.execute(sql`select idempotency_claim(caller, ${once.key}) from ${callersOf(once)}`),
      ctx.db.execute(lock ?? sql`select`),
      ctx.db.execute<{ result: unknown }>(keep),
    ]);
    return { found: kept.rows[0]?.result, replayed: false };
  } catch (error) {
    const code = databaseFailure(error)?.code;
    if (code === IN_PROGRESS) {
      throw new Problem(
        "idempotency_in_progress",
        "The first request with this key is still running; try again shortly.",
        {
          headers: { "Retry-After": "1" },
        },
      );
    }
    if (code !== SEEN) throw refused(error);
    return { found: await replay(ctx), replayed: true };
  }
}

/** What the database refused: the 401 where the caller's session had ended, else the error as it came. */
function refused(error: unknown): unknown {
  return databaseFailure(error)?.code === ENDED ? endedMeanwhile() : error;
}

/**
 * Stores the result of work that was not done in the database under the request's Idempotency-Key, where there is one;
 * returns it, or what a parallel request stored first. Begin such work with `keptResult`.
 */
export async function keepResult<Result extends z.ZodType>(
  ctx: Context,
  schema: Result,
  result: z.output<Result>,
): Promise<z.output<Result>> {
  if (ctx.idempotency === null) return result;
  const parts = sql`with done as (select ${JSON.stringify(result)}::jsonb as result)`;
  return schema.parse((await runOnce(ctx, parts, sql`select result from done`)).found);
}

/** What `keepResult` stored under the request's Idempotency-Key; null where it stored nothing. Throws `idempotency_key_reused`. */
export async function keptResult<Result extends z.ZodType>(
  ctx: Context,
  schema: Result,
): Promise<z.output<Result> | null> {
  const kept = await findKept(ctx);
  return kept === null ? null : schema.parse(kept.result);
}

/**
 * Does a check that is not the statement's own, before a write that may be a repeated one. Null where it fails and the write
 * was done before, under the request's Idempotency-Key: its answer is given again, whatever the check says by now. Asks the
 * database only where the check fails.
 * @example
 * await unlessKept(ctx, () => assertFuture(ctx, input.expires_at)); // then `change`, which replays
 */
export async function unlessKept<Result>(ctx: Context, check: () => Promise<Result> | Result): Promise<Result | null> {
  try {
    return await check();
  } catch (error) {
    if ((await findKept(ctx)) === null) throw error;
    return null;
  }
}

/** Whether a result is kept under a key of this caller: a request that comes with it does nothing any more. */
export async function isKept(ctx: Pick<Context, "db">, key: KeyOf): Promise<boolean> {
  return (await rowOf(ctx, key)) !== undefined;
}

async function findKept(ctx: Context): Promise<{ result: unknown } | null> {
  const once = ctx.idempotency;
  if (once === null) return null;
  const kept = await rowOf(ctx, once);
  if (kept === undefined) return null;
  if (kept.fingerprint !== once.fingerprint) throw reused();
  once.replayed = true;
  return { result: kept.result };
}

/** An Idempotency-Key, and whose it is. */
type KeyOf = Pick<Idempotency, "caller" | "callerBefore" | "key">;

async function rowOf(
  ctx: Pick<Context, "db">,
  of: KeyOf,
): Promise<{ fingerprint: string; result: unknown } | undefined> {
  const { rows } = await ctx.db.execute<{ fingerprint: string; result: unknown }>(
    sql`select fingerprint, result from ${idempotency_keys}
      where caller in (select caller from ${callersOf(of)}) and key = ${of.key} and expires_at > now()`,
  );
  return rows[0];
}

/** SQL: a FROM clause of the caller's name, and of the one it had when a result that is still stored may have been stored. */
function callersOf({ caller, callerBefore }: KeyOf): SQL {
  return sql`jsonb_array_elements_text(${JSON.stringify([caller, ...(callerBefore ?? [])])}::jsonb) as callers (caller)`;
}

async function replay(ctx: Context): Promise<unknown> {
  const kept = await findKept(ctx);
  if (kept === null) throw reused();
  return kept.result;
}

function reused(): Problem {
  const message = "This Idempotency-Key was sent with another request; use a new key for a new request.";
  return new Problem("idempotency_key_reused", message, {
    errors: [{ in: "header", pointer: "/Idempotency-Key", code: "idempotency_key_reused", message }],
  });
}
