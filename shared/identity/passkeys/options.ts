import { generateAuthenticationOptions, generateRegistrationOptions } from "@simplewebauthn/server";
import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../../db/change.ts";
import { passkeys, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { endedMeanwhile } from "../../platform/problem.ts";
import type { SessionPrincipal } from "../principal.ts";
import { ANYBODY, CHALLENGE_SECONDS, giveChallenge } from "./challenges.ts";
import { ALGORITHMS, expected, RP_NAME, userHandle } from "./relying-party.ts";
import { PasskeyCreationOptions, PasskeyRequestOptions } from "./schemas.ts";

const Owner = z.object({ email: z.string(), username: z.string().nullable(), credentials: z.array(z.string()) });

/**
 * What a browser needs to make a passkey for the caller's account: one that its authenticator finds without being told the
 * account, that it gives to its owner alone, and that the account does not have yet.
 */
export async function creationOptions(
  ctx: Context,
  { userId }: SessionPrincipal,
): Promise<z.output<typeof PasskeyCreationOptions>> {
  const owner = await read(
    ctx,
    Owner,
    sql`select jsonb_build_object('email', u.email, 'username', u.username, 'credentials', coalesce((
        select jsonb_agg(p.credential_id) from ${passkeys} p where p.user_id = u.id), '[]')) as result
      from ${users} u where u.id = ${userId}::uuid`,
  );
  if (owner === null) throw endedMeanwhile();
  const options = await generateRegistrationOptions({
    rpName: RP_NAME,
    rpID: expected(ctx).expectedRPID,
    userID: userHandle(userId),
    userName: owner.email,
    userDisplayName: owner.username ?? owner.email,
    timeout: CHALLENGE_SECONDS * 1000,
    attestationType: "none",
    excludeCredentials: owner.credentials.map((id) => ({ id })),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    supportedAlgorithmIDs: ALGORITHMS,
  });
  await giveChallenge(ctx, options.challenge, userId);
  return PasskeyCreationOptions.parse(options);
}

/** What a browser needs to sign somebody in by a passkey; the authenticator knows which account it is of. */
export async function requestOptions(ctx: Context): Promise<z.output<typeof PasskeyRequestOptions>> {
  const options = await generateAuthenticationOptions({
    rpID: expected(ctx).expectedRPID,
    timeout: CHALLENGE_SECONDS * 1000,
    userVerification: "required",
  });
  await giveChallenge(ctx, options.challenge, ANYBODY);
  return PasskeyRequestOptions.parse(options);
}
