import { sql } from "drizzle-orm";
import * as z from "zod";
import { read, write } from "../../db/change.ts";
import { totp_factors, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { notFound, type Problem } from "../../platform/problem.ts";
import { assertUnlocked, clearAccount, settleAttempt } from "../lockout.ts";
import type { SessionPrincipal } from "../principal.ts";
import { signInChanged } from "../sign-in-changed.ts";
import { Factor, factorJson, proofOf, stillProves, wrongCode } from "./factor.ts";
import type { SecondFactorCode } from "./schemas.ts";

/**
 * Takes the second factor away, for a code of the app or a recovery code; the recovery codes go with it, and the account is told by mail. A wrong code counts
 * as a failed sign-in. Throws `invalid_second_factor`, `login_locked`, and 404 where none is in force.
 */
export async function removeTotp(
  ctx: Context,
  { userId }: SessionPrincipal,
  { code }: z.output<typeof SecondFactorCode>,
): Promise<void> {
  const found = await read(
    ctx,
    z.object({ email: z.string(), factor: Factor.nullable() }),
    sql`select jsonb_build_object('email', u.email, 'factor', ${factorJson(sql`u.id`)}) as result
      from ${users} u where u.id = ${userId}::uuid`,
  );
  if (found === null || found.factor === null) throw noFactor();
  await assertUnlocked(ctx, found.email);
  const proof = proofOf(ctx, found.factor, code);
  await settleAttempt(ctx, found.email, proof !== null);
  if (proof === null) throw wrongCode();
  const removed = await write(ctx, {
    // Of two at once the second sees that the first has taken it away.
    lock: sql`select from ${users} where id = ${userId}::uuid for no key update`,
    parts: sql`with removed as (
      delete from ${totp_factors} f where f.user_id = ${userId}::uuid and ${stillProves(proof)} returning f.user_id
    ), mailed as (${signInChanged("totp_removed", sql`select user_id, '' as title from removed`)})`,
    owes: ["mailed"],
    select: sql`select jsonb_build_object('removed', exists (select from removed), 'left', exists (
      select from ${totp_factors} f where f.user_id = ${userId}::uuid and f.confirmed_at is not null)) as result`,
    result: z.object({ removed: z.boolean(), left: z.boolean() }),
  });
  if (removed?.removed !== true) throw removed?.left === true ? wrongCode() : noFactor();
  ctx.defer(() => clearAccount(ctx, found.email));
}

function noFactor(): Problem {
  return notFound("second factor");
}
