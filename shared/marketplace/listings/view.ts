import { type SQL, sql } from "drizzle-orm";
import { accountOf } from "../../agents/account.ts";
import { agentOwner } from "../../agents/conditions.ts";
import { agents, listings, seller_accounts, users } from "../../db/schema/index.ts";

/** SQL: the JSON of the listing row `l` of the agent row `a` and its seller's row `u`, as the viewer sees it. */
export const listingJson = (
  viewer: string | null,
): SQL => sql`json_build_object('id', l.id, 'agent_id', l.agent_id, 'agent_name', a.name,
  'title', l.title, 'description', l.description, 'price_usd', l.price_usd, 'seller_username', u.username,
  'is_active', l.is_active, 'is_own', coalesce(l.seller_id = ${viewer}::uuid, false), 'created_at', l.created_at)`;

/**
 * SQL: whether anybody may buy the listing row `l`: its agent `a` is public, active and still the seller's, and the seller
 * `u`, whose connected account is `s`, can be paid.
 */
export const isSold: SQL = sql`l.is_active and a.id = l.agent_id and u.id = l.seller_id and s.user_id = l.seller_id
  and a.is_public and a.is_active and u.charges_enabled and ${accountOf(agentOwner)} = l.seller_id`;

/** SQL: the tables and the condition of the listings `l` that anybody may buy, with `a`, `u` and `s`. */
export const onOffer: SQL = sql`${listings} l cross join ${agents} a cross join ${users} u
  cross join ${seller_accounts} s where ${isSold}`;

/** SQL: the same listings alone, each looked at by itself: so they come in an order without all being looked at. */
export const onOfferInTurn: SQL = sql`${listings} l cross join lateral (
    select from ${agents} a cross join ${users} u cross join ${seller_accounts} s where ${isSold} limit 1) x
  where l.is_active`;
