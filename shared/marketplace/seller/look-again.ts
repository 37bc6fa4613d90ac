import { sql } from "drizzle-orm";
import type Stripe from "stripe";
import * as z from "zod";
import { ifKnown, withProvider } from "../../billing/stripe.ts";
import { read } from "../../db/change.ts";
import { describeError } from "../../db/client.ts";
import { FIRST_ID } from "../../db/cursors.ts";
import { isDeleted } from "../../db/deleted.ts";
import type { Piece } from "../../db/pieces.ts";
import { seller_accounts, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { gone, mirrorAccount, type Shown } from "./mirror.ts";

/** How many accounts one piece looks at: few, as each that changed is a request of its own. */
const PAGE = 20;

const Accounts = z.array(z.object({ user_id: z.uuid(), account_id: z.string() }));
type Account = z.output<typeof Accounts>[number];

/**
 * When this was begun, by the database's time with all its digits; the account behind which a page of the provider's list
 * begins; and once all of that was read, the seller behind whom those come that were not on it.
 */
const Place = z.object({ since: z.string(), behind: z.string().optional(), seller: z.uuid().optional() });
type Place = z.output<typeof Place>;

/**
 * Makes up for events of sellers' connected accounts that never came: looks at a page of the accounts at the provider and
 * mirrors those that are not as our users have them; behind the last page, those that were on none are read one by one, since
 * the provider does not list what is connected no more. Their events are theirs, and `reconcile` can't list them
 * (https://docs.stripe.com/connect/webhooks). One that fails does not hold up the others. Does nothing without a payment key,
 * or where nobody sells.
 */
export async function lookAtSellersAgain(ctx: Context, cursor: string | null): Promise<Piece> {
  if (ctx.env.STRIPE_SECRET_KEY === undefined) return { next: null };
  const at = await read(
    ctx,
    z.string(),
    sql`select to_jsonb(now()) as result where exists (select from ${seller_accounts})`,
  );
  if (at === null) return { next: null };
  const place: Place = cursor === null ? { since: at } : Place.parse(JSON.parse(cursor));
  const { next, failure } = await (place.seller === undefined
    ? mirrorListed(ctx, at, place)
    : mirrorOthers(ctx, at, place));
  return { next: next === null ? null : JSON.stringify({ since: place.since, ...next }), failure };
}

interface Step {
  next: Omit<Place, "since"> | null;
  failure: unknown;
}

/** Mirrors those of a page that are not as our users have them, and notes that all of it was read. */
async function mirrorListed(ctx: Context, at: string, { behind }: Place): Promise<Step> {
  const { data, has_more } = await withProvider(ctx, (stripe) =>
    stripe.accounts.list({ limit: PAGE, ...(behind === undefined ? {} : { starting_after: behind }) }),
  );
  const shown = JSON.stringify(
    data.map(({ id, charges_enabled, payouts_enabled }) => ({ id, charges_enabled, payouts_enabled })),
  );
  const changed = await read(
    ctx,
    Accounts,
    sql`select coalesce(jsonb_agg(jsonb_build_object('user_id', u.id, 'account_id', s.account_id)), '[]') as result
      from jsonb_to_recordset(${shown}::jsonb) l(id text, charges_enabled boolean, payouts_enabled boolean)
      join ${seller_accounts} s on s.account_id = l.id and s.disowned_at is null and coalesce(s.read_at <= ${at}::timestamptz, true)
      join ${users} u on u.id = s.user_id and not ${isDeleted}
      where (u.charges_enabled, u.payouts_enabled) is distinct from (l.charges_enabled, l.payouts_enabled)`,
  );
  const byId = new Map<string, Stripe.Account>(data.map((account) => [account.id, account]));
  const failure = await mirrorEach(ctx, at, changed ?? [], async (id) => byId.get(id) ?? null);
  await ctx.db.execute(sql`update ${seller_accounts} s set read_at = ${at}::timestamptz
    from jsonb_to_recordset(${shown}::jsonb) l(id text)
    where s.account_id = l.id and coalesce(s.read_at < ${at}::timestamptz, true)`);
  const last = data.at(-1)?.id;
  return { next: has_more && last !== undefined ? { behind: last } : { seller: FIRST_ID }, failure };
}

/**
 * Reads some of the accounts that nobody read since the beginning, of sellers who could be paid. Where that was not one of all,
 * the key is another account's, or one of the other mode: it would know nobody, and no seller has done anything.
 */
async function mirrorOthers(ctx: Context, at: string, { since, seller }: Place): Promise<Step> {
  const others = await read(
    ctx,
    Accounts,
    sql`select coalesce(
        jsonb_agg(jsonb_build_object('user_id', x.user_id, 'account_id', x.account_id) order by x.user_id), '[]') as result
      from (select s.user_id, s.account_id from ${seller_accounts} s join ${users} u on u.id = s.user_id and not ${isDeleted}
        where s.user_id > ${seller}::uuid and s.disowned_at is null and coalesce(s.read_at < ${since}::timestamptz, true)
          and (u.charges_enabled or u.payouts_enabled) order by s.user_id limit ${PAGE}) x
      where exists (select from ${seller_accounts} k where k.read_at >= ${since}::timestamptz)`,
  );
  const failure = await mirrorEach(ctx, at, others ?? [], (id) =>
    withProvider(ctx, (stripe) => ifKnown(stripe.accounts.retrieve(id))),
  );
  const last = others?.length === PAGE ? others.at(-1)?.user_id : undefined;
  return { next: last === undefined ? null : { seller: last }, failure };
}

/** Mirrors each account as `find` has it, or as one that is connected no more; returns what the last one that failed threw. */
async function mirrorEach(
  ctx: Context,
  at: string,
  accounts: readonly Account[],
  find: (id: string) => Promise<Shown | null>,
): Promise<unknown> {
  let failure: unknown;
  for (const { user_id, account_id } of accounts) {
    try {
      const account = await find(account_id);
      if (account === null) ctx.log.warn("seller's account is gone at the provider", { user_id, account_id });
      await mirrorAccount(ctx, { user_id, at }, account ?? gone(account_id));
    } catch (error) {
      failure = error;
      ctx.log.error("seller not looked at again", { user_id, detail: describeError(error) });
    }
  }
  return failure;
}
