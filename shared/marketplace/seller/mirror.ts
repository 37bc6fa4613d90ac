import { sql } from "drizzle-orm";
import type Stripe from "stripe";
import * as z from "zod";
import { write } from "../../db/change.ts";
import { isDeleted } from "../../db/deleted.ts";
import { seller_accounts, users } from "../../db/schema/index.ts";
import { mirrorSeller } from "../../identity/parts/mirror-seller.ts";
import type { Context } from "../../platform/context.ts";

/** Whose connected account was read, and the database's time before that, with all its digits. */
export interface Reading {
  user_id: string;
  at: string;
}

/** What a connected account may do, as far as it is mirrored. */
export type Shown = Pick<Stripe.Account, "id" | "charges_enabled" | "payouts_enabled">;

/** An account that is connected to ours no more: nobody can be paid by it. */
export const gone = (id: string): Shown => ({ id, charges_enabled: false, payouts_enabled: false });

/**
 * Mirrors what a connected account may do onto its user, unless it was read again since, and gives a user without one the
 * row. Nothing happens where the user has another account, is gone, or was not who opened it.
 */
export async function mirrorAccount(ctx: Context, { user_id, at }: Reading, account: Shown): Promise<void> {
  await write(ctx, {
    parts: sql`with owner as (
      select u.id from ${users} u where u.id = ${user_id}::uuid and not ${isDeleted} for no key update
    ), s as (
      insert into ${seller_accounts} as s (user_id, account_id, read_at)
      select id, ${account.id}, ${at}::timestamptz from owner
      on conflict (user_id) do update set read_at = excluded.read_at
      where s.account_id = excluded.account_id and s.disowned_at is null and coalesce(s.read_at <= excluded.read_at, true) returning s.user_id
    ), mirrored as (
      ${mirrorSeller(sql`select user_id from s`, account)}
    )`,
    select: sql`select to_jsonb(user_id) as result from s`,
    result: z.uuid(),
  });
}
