import { sql } from "drizzle-orm";
import { CHUNK, type CloseDomain } from "../db/closing.ts";
import { agents, otlp_tokens, spans } from "../db/schema/index.ts";

/** Deletes the receiver tokens of the account's agents, and then their spans. */
export const closing: CloseDomain = ({ owns }) => ({
  parts: {
    receivers: sql`delete from ${otlp_tokens} o using ${agents} a, u where o.agent_id = a.id and ${owns}`,
  },
  chunks: [
    sql`with done as (
      delete from ${spans} s where (s.run_id, s.span_id) in (
        select s.run_id, s.span_id from ${spans} s join ${agents} a on a.id = s.agent_id where ${owns} limit ${CHUNK}
      ) returning s.run_id
    )`,
  ],
});
