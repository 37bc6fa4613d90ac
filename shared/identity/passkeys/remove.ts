import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, verdict } from "../../db/change.ts";
import { passkeys, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";
import { isLastWayIn, lastWayIn } from "../ways-in.ts";
import type { SessionPrincipal } from "../principal.ts";
import { signInChanged } from "../sign-in-changed.ts";

/**
 * Takes one of the caller's passkeys away, and tells the account by mail; sessions that it began go on. Throws 404 for any
 * other, and `last_way_in` where nothing else signs in to the account.
 */
export async function removePasskey(ctx: Context, { userId }: SessionPrincipal, id: string): Promise<void> {
  const removal = verdict({ last: isLastWayIn("passkey") });
  await change(ctx, {
    // Ways in are taken away in turn: each sees what those before it have left.
    lock: sql`select from ${users} where id = ${userId}::uuid for no key update`,
    parts: sql`with target as (
      select p.id, ${removal.sql} as outcome from ${passkeys} p join ${users} u on u.id = p.user_id
      where p.id = ${id}::uuid and u.id = ${userId}::uuid
    ), removed as (
      delete from ${passkeys} p using target t where p.id = t.id and t.outcome = 'done' returning p.*
    ), mailed as (${signInChanged("passkey_removed", sql`select user_id, name as title from removed`)})`,
    owes: ["mailed"],
    result: sql`select jsonb_build_object('outcome', outcome) as result from target`,
    verdict: removal,
    done: z.object({}),
    refusals: { not_found: () => notFound("passkey"), last: lastWayIn },
  });
}
