import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { Instant } from "../../platform/time.ts";

const usd = z.number();

/** What its seller has of a completed purchase; who bought is not among it. */
export const Sale = z.object({
  purchase_id: z.uuid(),
  listing_id: z.uuid(),
  agent_name: z.string(),
  gross_usd: usd,
  refunded_usd: usd,
  fee_usd: usd,
  net_usd: usd,
  realised_at: Instant,
});

/** SQL: the JSON of the row `v` of `revenue` and its purchase row `p`. */
export const saleJson: SQL = sql`json_build_object('purchase_id', v.purchase_id, 'listing_id', p.listing_id,
  'agent_name', p.agent_name, 'gross_usd', v.gross_usd, 'refunded_usd', v.refunded_usd,
  'fee_usd', v.fee_usd, 'net_usd', v.net_usd, 'realised_at', v.realised_at)`;
