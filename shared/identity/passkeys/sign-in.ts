import { Buffer } from "node:buffer";
import { verifyAuthenticationResponse } from "@simplewebauthn/server";
import { sql } from "drizzle-orm";
import * as z from "zod";
import { read, write } from "../../db/change.ts";
import { passkeys, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { Problem } from "../../platform/problem.ts";
import { accountJson, AccountRow, toUserRead } from "../account.ts";
import { rememberSignIn } from "../sessions/familiar.ts";
import { newSession, sessionParts, type SignedIn, signedIn } from "../sessions/new-session.ts";
import { ANYBODY, spendChallenge } from "./challenges.ts";
import { expected, judged, userHandle } from "./relying-party.ts";
import type { PasskeySignIn } from "./schemas.ts";

const Known = z.object({ user_id: z.uuid(), public_key: z.string(), counter: z.int() });

/**
 * Signs in to the account of a passkey, by an authenticator's answer to `requestOptions`. It has verified its owner, so no
 * second factor is asked for. A counter that does not go on tells of a copy and is refused. Throws `invalid_token` where the
 * options are over or were answered before, `invalid_credentials` for any answer that is not good, and
 * `dependency_unavailable` without Redis.
 */
export async function signInByPasskey(
  ctx: Context,
  { credential }: z.output<typeof PasskeySignIn>,
  userAgent: string | null,
): Promise<SignedIn> {
  const known = await read(
    ctx,
    Known,
    sql`select jsonb_build_object('user_id', p.user_id, 'public_key', p.public_key, 'counter', p.counter) as result
      from ${passkeys} p where p.credential_id = ${credential.id}`,
  );
  if (known === null || !isOf(known.user_id, credential.response.userHandle)) throw refused();
  const { id } = credential;
  const publicKey = Uint8Array.from(Buffer.from(known.public_key, "base64url"));
  const proven = await judged(ctx, () =>
    verifyAuthenticationResponse({
      ...expected(ctx),
      response: { ...credential, clientExtensionResults: {} },
      expectedChallenge: (challenge) => spendChallenge(ctx, challenge, ANYBODY),
      credential: { id, publicKey, counter: known.counter },
    }),
  );
  if (proven === null) throw refused();
  const { newCounter } = proven.authenticationInfo;
  const session = newSession(ctx);
  const row = await write(ctx, {
    // Takes turns with what takes the passkey away.
    lock: sql`select from ${users} where id = ${known.user_id}::uuid for no key update`,
    parts: sql`with used as (
      update ${passkeys} p set counter = ${newCounter}::bigint, last_used_at = ${ctx.now().toISOString()}::timestamptz
      where p.credential_id = ${id} and p.user_id = ${known.user_id}::uuid and p.public_key = ${known.public_key}
        and (p.counter < ${newCounter}::bigint or (p.counter = 0 and ${newCounter}::bigint = 0)) returning p.user_id
    ), u as (
      select x.* from ${users} x join used on used.user_id = x.id
    ), ${sessionParts(session, userAgent, sql`u`)}, ${rememberSignIn(ctx, userAgent)}`,
    owes: ["noticed"],
    select: sql`select ${accountJson(ctx)} as result from u`,
    result: AccountRow,
  });
  if (row === null) throw refused();
  return signedIn(ctx, toUserRead(ctx, row), session);
}

/** Whether the authenticator keeps the passkey for this account, which WebAuthn section 7.2 has it say. */
function isOf(userId: string, handle: string): boolean {
  return Buffer.from(userHandle(userId)).equals(Buffer.from(handle, "base64url"));
}

function refused(): Problem {
  return new Problem(
    "invalid_credentials",
    "This passkey does not sign in to an account here. Use another one, or your email and password.",
  );
}
