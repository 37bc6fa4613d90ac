import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { email_tokens, users } from "../db/schema/index.ts";
import { LINK_LASTS_MS, type Template } from "../mail/message.ts";
import { owe } from "../db/owed.ts";
import type { Context } from "../platform/context.ts";
import { randomToken, sha256 } from "../platform/crypto.ts";
import { encrypt } from "../platform/encryption.ts";
import { newId } from "../platform/ids.ts";
import { Problem } from "../platform/problem.ts";

/**
 * SQL: parts of a statement that give the account `u` (id, email, username) a new token of 256 bits instead of any older
 * one for the same purpose, and owe the mail that carries it, as `mailed`. With `beside` older ones stay valid, and a mail to
 * nobody is owed where there is no account, too.
 */
export function mintToken(ctx: Context, purpose: Template, { beside = false }: { beside?: boolean } = {}): SQL {
  const token = randomToken();
  const id = newId(ctx.now());
  const expiresAt = new Date(ctx.now().getTime() + LINK_LASTS_MS[purpose]).toISOString();
  const mail = JSON.stringify({ id, template: purpose, token: encrypt(token, ctx.env.DATA_ENCRYPTION_KEYS, "mail") });
  const recipient = sql`jsonb_build_object('to', u.email, 'params', jsonb_build_object('username', u.username))`;
  const source = beside ? sql`from (select) one_row left join u on true` : sql`from u`;
  const replaced = sql`replaced as (
      delete from ${email_tokens} t using u where t.user_id = u.id and t.purpose = ${purpose}
    ), `;
  return sql`${beside ? sql`` : replaced}minted as (
      insert into ${email_tokens} (token_hash, user_id, purpose, email, expires_at)
      select ${sha256(token)}, u.id, ${purpose}, u.email, ${expiresAt}::timestamptz from u
    ), mailed as (${owe("mail", id, sql`${mail}::jsonb || ${recipient}`, source)})`;
}

/**
 * SQL: whether the row `t` of mailed tokens is this one, still valid, and was mailed to the address that `u` has today, or,
 * of one that changes the address, shall have.
 */
export function holds(ctx: Context, purpose: Template, token: string): SQL {
  const vouches = purpose === "confirm_email" ? sql`true` : sql`u.email = t.email`;
  return sql`t.token_hash = ${sha256(token)} and t.purpose = ${purpose} and t.used_at is null
    and t.expires_at > ${ctx.now().toISOString()}::timestamptz and u.id = t.user_id and ${vouches}`;
}

/**
 * SQL: parts of a statement that use up a mailed token: `spent` has the `user_id` of the account where the token was valid,
 * and otherwise no row. Of any number of parallel uses one succeeds; the account's other tokens for the purpose become
 * invalid with it.
 */
export function spendToken(ctx: Context, purpose: Template, token: string): SQL {
  return sql`target as (
      select t.user_id from ${email_tokens} t, ${users} u where ${holds(ctx, purpose, token)}
    ), used as (
      update ${email_tokens} t set used_at = ${ctx.now().toISOString()}::timestamptz from target g
      where t.user_id = g.user_id and t.purpose = ${purpose} and t.used_at is null
      returning t.token_hash, t.user_id
    ), spent as (select user_id from used where token_hash = ${sha256(token)})`;
}

/** SQL: a part of a statement that voids the tokens for `purposes` of the accounts of `source` (id). */
export function voidTokens(ctx: Context, purposes: readonly [Template, ...Template[]], source: SQL): SQL {
  const names = sql.join(
    purposes.map((purpose) => sql`${purpose}`),
    sql`, `,
  );
  return sql`update ${email_tokens} t set used_at = ${ctx.now().toISOString()}::timestamptz from ${source} x
    where t.user_id = x.id and t.purpose in (${names}) and t.used_at is null`;
}

/** SQL: how many tokens for a purpose the account row `users` was mailed that would not be over yet, used or not. */
export function recentTokens(ctx: Context, purpose: Template): SQL {
  return sql`(select count(*) from ${email_tokens} t where t.user_id = ${users.id} and t.purpose = ${purpose}
    and t.expires_at > ${ctx.now().toISOString()}::timestamptz)`;
}

/**
 * Whether a mailed token was used up and the account has the address that it was mailed to, verified: what the page says to
 * whom its button was pressed twice. A change of the password uses up those that reset it, too.
 */
export async function wasSpent(ctx: Context, purpose: Template, token: string): Promise<boolean> {
  const spent = await read(
    ctx,
    z.literal(true),
    sql`select to_jsonb(true) as result from ${email_tokens} t join ${users} u on u.id = t.user_id and u.email = t.email
      where t.token_hash = ${sha256(token)} and t.purpose = ${purpose} and t.used_at is not null and u.email_verified`,
  );
  return spent === true;
}

/** The one answer to every token that is unknown, used, replaced or expired. */
export function invalidToken(): Problem {
  return new Problem("invalid_token", "This link is invalid or has expired. Ask for a new one.");
}
