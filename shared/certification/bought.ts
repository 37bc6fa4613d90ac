import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { agents, CERTIFICATION_STATES, certifications } from "../db/schema/index.ts";
import { Instant } from "../platform/time.ts";
import { buyerNow } from "./buyer.ts";

/** A certification as whose it is may keep it: what was paid for, and what came of it. */
export const BoughtCertification = z.object({
  id: z.uuid(),
  agent_id: z.uuid(),
  status: z.enum(CERTIFICATION_STATES),
  price_usd: z.number(),
  runs_included: z.int(),
  eu_waiver_at: Instant,
  created_at: Instant,
  paid_at: Instant.nullable(),
  screening_session_id: z.uuid().nullable(),
  paused_reason: z.string().nullable(),
  score: z.number().nullable(),
  issued_at: Instant.nullable(),
  expires_at: Instant.nullable(),
  revoked_at: Instant.nullable(),
  /** The signed credential. */
  credential: z.string().nullable(),
});

/** SQL: the JSON of the certification row `c`. */
export const boughtJson: SQL = sql`json_build_object('id', c.id, 'agent_id', c.agent_id, 'status', c.status,
  'price_usd', c.price_usd, 'runs_included', c.runs_included, 'eu_waiver_at', c.eu_waiver_at,
  'created_at', c.created_at, 'paid_at', c.paid_at, 'screening_session_id', c.screening_session_id,
  'paused_reason', c.paused_reason, 'score', c.score, 'issued_at', c.issued_at, 'expires_at', c.expires_at,
  'revoked_at', c.revoked_at, 'credential', c.jws)`;

/**
 * SQL: a FROM item and the condition that find the certifications `c` that are the account's now (`buyerNow`): among those
 * that it bought, and those of agents of its own that somebody bought who has nothing to do with them any more.
 */
export function boughtBy(userId: string): SQL {
  const me = sql`${userId}::uuid`;
  return sql`${certifications} c join ${agents} a on a.id = c.agent_id
    where c.id in (select b.id from ${certifications} b where b.user_id = ${me}
      union select b.id from ${agents} o join ${certifications} b on b.agent_id = o.id
      where o.user_id = ${me} and o.team_id is null) and ${buyerNow} = ${me}`;
}
