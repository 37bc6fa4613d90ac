import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../../db/change.ts";
import { databaseFailure } from "../../db/client.ts";
import { email_tokens, users } from "../../db/schema/index.ts";
import { oweNotice } from "../../mail/owe-notice.ts";
import type { Context } from "../../platform/context.ts";
import { sha256 } from "../../platform/crypto.ts";
import { Problem } from "../../platform/problem.ts";
import { invalidToken, spendToken } from "../email-token.ts";

/**
 * What a domain contributes to a change of address: parts, by their names, that give what it keeps under the `former` address
 * of the part `follows` the new one, `email`: so that no address stays when the account goes. Where the former one is not
 * known to be the account's by anything else than `was_verified`, that must hold: else what is under it may be somebody else's.
 */
export type FollowInDomain = (given: { now: Date }) => Readonly<Record<string, SQL>>;

/**
 * Gives an account the address that its token was mailed to, which is verified by that, and tells the address that it had
 * before. Links that were mailed there stop working; sessions and keys go on. What `domains` keep under the former address
 * follows. Of accounts that confirm one address at once one
 * gets it. Throws `invalid_token`, and `email_taken`, which leaves the token in force.
 */
export async function confirmEmail(ctx: Context, token: string, domains: readonly FollowInDomain[]): Promise<void> {
  const following = domains
    .flatMap((follow) => Object.entries(follow({ now: ctx.now() })))
    .map(([name, part]) => sql`, ${sql.identifier(name)} as (${part})`);
  const moved = await write(ctx, {
    lock: sql`select from ${users} u, ${email_tokens} t where t.token_hash = ${sha256(token)} and u.id = t.user_id
      for no key update of u`,
    parts: sql`with ${spendToken(ctx, "confirm_email", token)}, moved as (
      update ${users} u set email = t.email, email_verified = true, updated_at = now()
      from spent s join ${email_tokens} t on t.user_id = s.user_id and t.token_hash = ${sha256(token)}
      where u.id = s.user_id returning u.id, u.email, old.email as former, old.email_verified as was_verified
    ), follows as (select email, former, was_verified from moved)${sql.join(following)}, mailed as (${
      // The statement sees the accounts as they were before it, so this goes to the former address.
      oweNotice(
        "email_change",
        sql`select m.id as user_id, 'email_changed' as notice, '' as title, m.email as reason, null::uuid as page_id
          from moved m`,
      )
    })`,
    owes: ["mailed"],
    select: sql`select to_jsonb(true) as result from moved`,
    result: z.literal(true),
  }).catch((error: unknown) => {
    if (databaseFailure(error)?.constraint !== "users_email_key") throw error;
    throw new Problem("email_taken", "Another account has this address by now. Sign in to it, or delete it first.");
  });
  if (moved === null) throw invalidToken();
}
