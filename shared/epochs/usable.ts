import { type SQL, sql } from "drizzle-orm";
import { epochs } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { epochsFrom } from "./calendar.ts";
import { openSecret } from "./secret.ts";

/** The running epoch and this many after it are looked at: one that is not in the log two days ahead is soon too late. */
const WATCHED = 2;

/** How many secrets are looked at: those of both kinds. */
const SECRETS = 2 * (WATCHED + 1);

/**
 * SQL: a JSON array of the stored secrets that runs are minted from now and in the next days, of both kinds: of the epochs
 * that are there, and whose commitments came into the log in time.
 */
export function watchedSecrets({ env, now }: Pick<Context, "env" | "now">): SQL {
  const names = JSON.stringify(epochsFrom(now(), env.EPOCH_SECONDS, WATCHED).map(({ name }) => name));
  return sql`(select coalesce(jsonb_agg(e.sealed), '[]') from ${epochs} e
    where e.is_timely and e.name in (select jsonb_array_elements_text(${names}::jsonb)))`;
}

/** SQL: whether all of `watchedSecrets` are there. */
export function isMintingReady(ctx: Pick<Context, "env" | "now">): SQL {
  return sql`(jsonb_array_length(${watchedSecrets(ctx)}) = ${SECRETS}::integer)`;
}

/** Whether all of `watchedSecrets` are there, and the service's keys open them. */
export function areUsable({ env }: Pick<Context, "env">, secrets: readonly string[]): boolean {
  try {
    for (const sealed of secrets) openSecret(sealed, env.DATA_ENCRYPTION_KEYS);
    return secrets.length === SECRETS;
  } catch {
    return false;
  }
}
