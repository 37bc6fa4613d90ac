import { type SQL, sql } from "drizzle-orm";
import { epochs } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { epochsFrom } from "./calendar.ts";

/** The running epoch and this many after it are looked at: one that is not in the log two days ahead is soon too late. */
const WATCHED = 2;

/**
 * SQL: whether runs can be minted now and in the next days: the epochs of both kinds are there, and their commitments came
 * into the log in time.
 */
export function isMintingReady({ env, now }: Pick<Context, "env" | "now">): SQL {
  const names = JSON.stringify(epochsFrom(now(), env.EPOCH_SECONDS, WATCHED).map(({ name }) => name));
  return sql`(select count(*) = 2 * ${WATCHED + 1}::integer from ${epochs} e
    where e.is_timely and e.name in (select jsonb_array_elements_text(${names}::jsonb)))`;
}
