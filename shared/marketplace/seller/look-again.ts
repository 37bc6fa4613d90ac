import { sql } from "drizzle-orm";
import * as z from "zod";
import { withProvider } from "../../billing/stripe.ts";
import { read } from "../../db/change.ts";
import { describeError } from "../../db/client.ts";
import { isDeleted } from "../../db/deleted.ts";
import type { Piece } from "../../db/pieces.ts";
import { seller_accounts, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { mirrorAccount } from "./mirror.ts";

/** How many accounts one piece looks at: few, as each that changed is a request of its own. */
const PAGE = 20;

const Changed = z.array(z.object({ user_id: z.uuid(), account_id: z.string() }));

/**
 * Makes up for events of sellers' connected accounts that never came: looks at a page of the accounts at the provider and
 * mirrors those that are not as our users have them. Their events are theirs, and `reconcile` can't list them
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
  const { data, has_more } = await withProvider(ctx, (stripe) =>
    stripe.accounts.list({ limit: PAGE, ...(cursor === null ? {} : { starting_after: cursor }) }),
  );
  const shown = JSON.stringify(
    data.map(({ id, charges_enabled, payouts_enabled }) => ({ id, charges_enabled, payouts_enabled })),
  );
  const changed = await read(
    ctx,
    Changed,
    sql`select coalesce(jsonb_agg(jsonb_build_object('user_id', u.id, 'account_id', s.account_id)), '[]') as result
      from jsonb_to_recordset(${shown}::jsonb) l(id text, charges_enabled boolean, payouts_enabled boolean)
      join ${seller_accounts} s on s.account_id = l.id and s.disowned_at is null and coalesce(s.read_at <= ${at}::timestamptz, true)
      join ${users} u on u.id = s.user_id and not ${isDeleted}
      where (u.charges_enabled, u.payouts_enabled) is distinct from (l.charges_enabled, l.payouts_enabled)`,
  );
  let failure: unknown;
  for (const { user_id, account_id } of changed ?? []) {
    const account = data.find(({ id }) => id === account_id);
    if (account === undefined) continue;
    try {
      await mirrorAccount(ctx, { user_id, at }, account);
    } catch (error) {
      failure = error;
      ctx.log.error("seller not looked at again", { user_id, detail: describeError(error) });
    }
  }
  return { next: has_more ? (data.at(-1)?.id ?? null) : null, failure };
}
