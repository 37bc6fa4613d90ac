import { type SQL, sql } from "drizzle-orm";
import { revenue } from "../../db/schema/index.ts";

/** SQL: the JSON of the purchase row `p`. */
export const purchaseJson: SQL = sql`json_build_object('id', p.id, 'listing_id', p.listing_id, 'agent_name', p.agent_name,
  'status', p.status, 'price_usd', p.price_usd,
  'refunded_usd', coalesce((select v.refunded_usd from ${revenue} v where v.purchase_id = p.id), 0),
  'checkout_url', case p.status when 'AWAITING_PAYMENT' then p.checkout_url end,
  'hired_agent_id', p.hired_agent_id, 'created_at', p.created_at, 'completed_at', p.completed_at)`;
