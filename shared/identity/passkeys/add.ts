import { Buffer } from "node:buffer";
import { verifyRegistrationResponse } from "@simplewebauthn/server";
import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, telling, verdict } from "../../db/change.ts";
import { passkeys, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { bodyProblem, endedMeanwhile, Problem, quotaExceeded } from "../../platform/problem.ts";
import { stillHolds } from "../passwords/disown.ts";
import type { SessionPrincipal } from "../principal.ts";
import { spendChallenge } from "./challenges.ts";
import { signInChanged } from "../sign-in-changed.ts";
import { ALGORITHMS, expected, judged } from "./relying-party.ts";
import { type PasskeyCreate, PasskeyRead } from "./schemas.ts";
import { passkeyJson } from "./view.ts";

/** How many passkeys an account can have. */
export const MAX_PASSKEYS = 10;

/**
 * Gives the caller's account a passkey that its browser has just made by `creationOptions`, and tells the account by mail.
 * No proof is asked for of what kind of authenticator it is. Throws `invalid_token` where the options are over or were
 * answered before, a 422 for an answer that is not good, `passkey_taken`, and `quota_exceeded` at MAX_PASSKEYS.
 */
export async function addPasskey(
  ctx: Context,
  principal: SessionPrincipal,
  { name, credential }: z.output<typeof PasskeyCreate>,
): Promise<z.output<typeof PasskeyRead>> {
  const { userId } = principal;
  const made = await judged(ctx, () =>
    verifyRegistrationResponse({
      ...expected(ctx),
      response: { ...credential, clientExtensionResults: {} },
      expectedChallenge: (challenge) => spendChallenge(ctx, challenge, userId),
      supportedAlgorithmIDs: ALGORITHMS,
    }),
  );
  if (made === null) throw refused();
  const { id, publicKey, counter } = made.registrationInfo.credential;
  const adding = verdict(
    {
      ended: sql`not ${stillHolds(principal)}`,
      full: sql`c.used >= ${MAX_PASSKEYS}`,
    },
    "taken",
  );
  const { passkey } = await change(ctx, {
    // Those of one account are added in turn, and none by a session that ends at this moment.
    lock: sql`select from ${users} where id = ${userId}::uuid for no key update`,
    parts: sql`with target as (
      select u.id, c.used, ${adding.sql} as outcome from ${users} u, lateral (
        select count(*)::integer as used from ${passkeys} p where p.user_id = u.id) c
      where u.id = ${userId}::uuid
    ), p as (
      insert into ${passkeys} (user_id, name, credential_id, public_key, counter)
      select t.id, ${name}, ${id}, ${Buffer.from(publicKey).toString("base64url")}, ${counter}::bigint
      from target t where t.outcome = 'done' on conflict (credential_id) do nothing returning *
    ), mailed as (${signInChanged("passkey_added", sql`select user_id, name as title from p`)})`,
    owes: ["mailed"],
    result: sql`select jsonb_build_object('used', t.used, 'passkey', (select ${passkeyJson} from p),
      'outcome', case when t.outcome = 'done' and not exists (select from p) then 'taken' else t.outcome end) as result
      from target t`,
    verdict: adding,
    done: z.object({ passkey: PasskeyRead }),
    refusals: {
      not_found: endedMeanwhile,
      ended: endedMeanwhile,
      full: telling(z.object({ used: z.int() }), ({ used }) =>
        quotaExceeded(`An account can have ${MAX_PASSKEYS} passkeys. Remove one first.`, { limit: MAX_PASSKEYS, used }),
      ),
      taken: () => new Problem("passkey_taken", "This passkey signs in to an account already. Make another one."),
    },
  });
  return passkey;
}

function refused(): Problem {
  return bodyProblem(
    "validation_failed",
    "/credential",
    "The authenticator's answer is not good: it has to be of this site and of these options, with the owner verified.",
  );
}
