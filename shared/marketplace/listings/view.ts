import { type SQL, sql } from "drizzle-orm";
import { accountOf } from "../../agents/account.ts";
import { agentOwner } from "../../agents/view.ts";
import { agents, listings, seller_accounts, users } from "../../db/schema/index.ts";

/** SQL: the JSON of the listing row `l` of the agent row `a` and its seller's row `u`. */
export const listingJson: SQL = sql`jsonb_build_object('id', l.id, 'agent_id', l.agent_id, 'agent_name', a.name,
  'title', l.title, 'description', l.description, 'price_usd', l.price_usd, 'seller_username', u.username,
  'is_active', l.is_active, 'created_at', l.created_at)`;

/**
 * SQL: the tables and the condition of the listings that anybody may buy: the agent `a` of such a listing `l` is public,
 * active and still the seller's, and its seller `u`, whose connected account is `s`, can be paid.
 */
export const onOffer: SQL = sql`${listings} l join ${agents} a on a.id = l.agent_id join ${users} u on u.id = l.seller_id
  join ${seller_accounts} s on s.user_id = l.seller_id
  where l.is_active and a.is_public and a.is_active and u.charges_enabled and ${accountOf(agentOwner)} = l.seller_id`;
