import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, verdict } from "../../db/change.ts";
import { identities, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { notFound, type Problem } from "../../platform/problem.ts";
import type { SessionPrincipal } from "../principal.ts";
import { isLastWayIn, lastWayIn } from "../ways-in.ts";

/**
 * Takes the account's link to its user at the code host away. Throws 404 where there is none, and `last_way_in` where the
 * account has neither a password nor a passkey to sign in by.
 */
export async function unlinkCodeHost(ctx: Context, { userId }: SessionPrincipal): Promise<void> {
  const unlinking = verdict({
    unlinked: sql`not exists (select from ${identities} i where i.user_id = u.id)`,
    last: isLastWayIn("code host"),
  });
  await change(ctx, {
    lock: sql`select from ${users} where id = ${userId}::uuid for no key update`,
    parts: sql`with target as (
      select u.id, ${unlinking.sql} as outcome from ${users} u where u.id = ${userId}::uuid
    ), unlinked as (
      delete from ${identities} i using target t where i.user_id = t.id and t.outcome = 'done'
    )`,
    result: sql`select jsonb_build_object('outcome', outcome) as result from target`,
    verdict: unlinking,
    done: z.object({}),
    refusals: {
      not_found: noneLinked,
      unlinked: noneLinked,
      last: lastWayIn,
    },
  });
}

function noneLinked(): Problem {
  return notFound("account at a code host");
}
