import { type SQL, sql } from "drizzle-orm";
import { identities, passkeys } from "../db/schema/index.ts";
import { Problem } from "../platform/problem.ts";

/**
 * SQL: whether the account row `u` could not be signed in to any more without its account at the code host, or without one
 * of its passkeys. Ask under the account's lock.
 */
export function isLastWayIn(without: "code host" | "passkey"): SQL<boolean> {
  const left = sql`(select count(*) from ${passkeys} w where w.user_id = u.id)`;
  return without === "passkey"
    ? sql`(u.password_hash is null and ${left} <= 1 and not exists (select from ${identities} i where i.user_id = u.id))`
    : sql`(u.password_hash is null and ${left} = 0)`;
}

/** The 409 for taking it away. */
export function lastWayIn(): Problem {
  return new Problem("last_way_in", "This is the only way to sign in to the account. Set a password first.");
}
