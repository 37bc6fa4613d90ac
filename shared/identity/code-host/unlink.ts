import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, verdict } from "../../db/change.ts";
import { identities, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { notFound, Problem } from "../../platform/problem.ts";
import type { SessionPrincipal } from "../principal.ts";

/**
 * Takes the account's link to its user at the code host away. Throws 404 where there is none, and `last_way_in` where the
 * account has no password to sign in by.
 */
export async function unlinkCodeHost(ctx: Context, { userId }: SessionPrincipal): Promise<void> {
  const unlinking = verdict({
    unlinked: sql`not exists (select from ${identities} i where i.user_id = a.id)`,
    last: sql`a.password_hash is null`,
  });
  await change(ctx, {
    lock: sql`select from ${users} where id = ${userId}::uuid for no key update`,
    parts: sql`with target as (
      select a.id, ${unlinking.sql} as outcome from ${users} a where a.id = ${userId}::uuid
    ), unlinked as (
      delete from ${identities} i using target t where i.user_id = t.id and t.outcome = 'done'
    )`,
    result: sql`select jsonb_build_object('outcome', outcome) as result from target`,
    verdict: unlinking,
    done: z.object({}),
    refusals: {
      not_found: noneLinked,
      unlinked: noneLinked,
      last: () => new Problem("last_way_in", "This is the only way to sign in to the account. Set a password first."),
    },
  });
}

function noneLinked(): Problem {
  return notFound("account at a code host");
}
