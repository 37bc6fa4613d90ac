import { sql } from "drizzle-orm";
import * as z from "zod";
import { note } from "../../analytics/event.ts";
import { read, write } from "../../db/change.ts";
import { users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { Problem } from "../../platform/problem.ts";
import { accountJson, AccountRow, toUserRead } from "../account.ts";
import { assertUnlocked, clearAccount, settleAttempt } from "../lockout.ts";
import { rememberSignIn } from "../sessions/familiar.ts";
import { newSession, sessionParts, type SignedIn, signedIn } from "../sessions/new-session.ts";
import { Factor, factorJson, proofOf, spendProof, wrongCode } from "./factor.ts";
import { openFirstStep } from "./first-step.ts";
import type { SecondFactorCode } from "./schemas.ts";

const Halfway = z.object({ email: z.string(), password_hash: z.string().nullable(), factor: Factor.nullable() });

/**
 * Ends a sign-in whose first step was passed, by a code of the app or a recovery code. Throws `invalid_token` where that step
 * is unknown, over, or of a password that was changed since; `invalid_second_factor`, which counts as a failed sign-in;
 * `login_locked`; `dependency_unavailable` without the lockout store.
 */
export async function completeSignIn(
  ctx: Context,
  firstStep: string | undefined,
  { code }: z.output<typeof SecondFactorCode>,
  userAgent: string | null,
): Promise<SignedIn> {
  const step = openFirstStep(ctx, firstStep);
  if (step === null) throw stepOver();
  const user = await read(
    ctx,
    Halfway,
    sql`select jsonb_build_object('email', u.email, 'password_hash', u.password_hash, 'factor', ${factorJson(sql`u.id`)})
      as result from ${users} u where u.id = ${step.userId}::uuid`,
  );
  if (user === null || user.factor === null || !step.holds(user.password_hash)) throw stepOver();
  await assertUnlocked(ctx, user.email);
  const proof = proofOf(ctx, user.factor, code);
  await settleAttempt(ctx, user.email, proof !== null);
  if (proof === null) throw wrongCode();
  const session = newSession(ctx);
  const row = await write(ctx, {
    // Takes turns with a change of the password, which ends the sessions that it finds.
    lock: sql`select from ${users} where id = ${step.userId}::uuid for no key update`,
    parts: sql`with ${spendProof(step.userId, proof)}, u as (
      select u.* from ${users} u join proven p on p.user_id = u.id
      where u.password_hash is not distinct from ${user.password_hash}
    ), ${sessionParts(session, userAgent, sql`u`)}, ${rememberSignIn(ctx, userAgent)}, noted as (${note(
      ctx,
      "user_logged_in",
      { method: step.method },
      // A sign-in by password is no event, with a second factor or without.
      sql`from u where ${step.method === "codehost"}::boolean`,
    )})`,
    owes: ["noticed", "noted"],
    select: sql`select ${accountJson(ctx)} as result from u`,
    result: AccountRow,
  });
  if (row === null) throw wrongCode();
  ctx.defer(() => clearAccount(ctx, user.email));
  return signedIn(ctx, toUserRead(ctx, row), session);
}

function stepOver(): Problem {
  return new Problem("invalid_token", "The first step of this sign-in is missing or over. Sign in from the beginning.");
}
