import { sql } from "drizzle-orm";
import * as z from "zod";
import { note } from "../../analytics/event.ts";
import { write } from "../../db/change.ts";
import { identities, totp_factors, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { accountJson, AccountRow, toUserRead } from "../account.ts";
import { CodeHostFailure, type CodeHostProfile } from "./code-host.ts";
import { CLAIMING, disown, type DisownInDomain, Taken, takeEffect, takenJson } from "../passwords/disown.ts";
import { normaliseEmail } from "../email.ts";
import { rememberSignIn } from "../sessions/familiar.ts";
import { type HalfSignedIn, sealFirstStep } from "../second-factor/first-step.ts";
import { newSession, sessionParts, type SignedIn, signedIn } from "../sessions/new-session.ts";

const Entered = z.object({
  account: AccountRow,
  taken: Taken,
  /** Whether a second factor is asked for: then nothing was started. */
  half: z.boolean(),
  password_hash: z.string().nullable(),
});

/**
 * Signs in whoever the code host vouches for, in one statement: the account linked to that user of the provider, else
 * the one with the verified address, which is linked, else a new one without a password. Whoever made an account for an
 * address that was never verified may not be its owner: its password, its sessions and, through `domains`, every other way
 * in end when the owner comes. Of an account with a second factor this is only the first step. Throws CodeHostFailure `email_not_verified`.
 */
export async function codeHostSignIn(
  ctx: Context,
  profile: CodeHostProfile,
  userAgent: string | null,
  domains: readonly DisownInDomain[],
): Promise<SignedIn | HalfSignedIn> {
  const first = await enter(ctx, profile, userAgent, domains);
  if (first !== null) return first;
  if (profile.email === null) throw new CodeHostFailure("email_not_verified");
  // The account was made at this very moment by another sign-in of the same person; now it is found.
  const second = await enter(ctx, profile, userAgent, domains);
  if (second === null) throw new Error("no account for a verified address");
  return second;
}

async function enter(
  ctx: Context,
  { provider, providerUserId, email }: CodeHostProfile,
  userAgent: string | null,
  domains: readonly DisownInDomain[],
): Promise<SignedIn | HalfSignedIn | null> {
  const session = newSession(ctx);
  const address = email === null ? null : normaliseEmail(email);
  const event = sql`case when exists (select from created) then 'signup_completed' else 'user_logged_in' end`;
  const disowned = disown(ctx, sql`not c.proven`, domains);
  const entered = await write(ctx, {
    // What signs in or is granted at this moment comes before this and is seen, or after it and is refused; and an account
    // that is being deleted is linked to nobody then.
    lock: sql`select from ${users} where email = ${address} or id = (select i.user_id from ${identities} i
      where i.provider = ${provider} and i.provider_user_id = ${providerUserId}) order by id for no key update`,
    parts: sql`with known as (
      select u.* from ${identities} i join ${users} u on u.id = i.user_id
      where i.provider = ${provider} and i.provider_user_id = ${providerUserId}
    ), claimed as (
      update ${users} u set password_hash = case when u.email_verified then u.password_hash end, ${CLAIMING}
      where u.email = ${address} and not exists (select from known)
      returning u as account, u.id, old.email_verified as proven
    ), created as (
      insert into ${users} (email, email_verified) select ${address}, true
      where ${address}::text is not null and not exists (select from known) and not exists (select from claimed)
      on conflict (email) do nothing returning *
    ), u as (
      select * from known union all select (account).* from claimed union all select * from created
    ), linked as (
      insert into ${identities} (provider, provider_user_id, user_id) select ${provider}, ${providerUserId}, u.id from u
      on conflict do nothing
    ), ${disowned.parts}, halfway as (
      select f.user_id from ${totp_factors} f join u on u.id = f.user_id
      where f.confirmed_at is not null and not exists (select from claimed c where not c.proven)
    ), entered as (
      select * from u where not exists (select from halfway)
    ), ${sessionParts(session, userAgent, sql`entered`)}, ${rememberSignIn(ctx, userAgent, sql`entered`)},
    noted as (${note(ctx, event, { method: "codehost" }, sql`from entered u`)})`,
    owes: ["noted", "noticed", ...disowned.owes],
    select: sql`select jsonb_build_object('account', ${accountJson(ctx)}, 'taken', ${takenJson(ctx)},
      'half', exists (select from halfway), 'password_hash', u.password_hash) as result from u`,
    result: Entered,
  });
  if (entered === null) return null;
  await takeEffect(ctx, entered.taken);
  if (entered.half) return sealFirstStep(ctx, entered.account.id, entered.password_hash, "codehost");
  return signedIn(ctx, toUserRead(ctx, entered.account), session);
}
