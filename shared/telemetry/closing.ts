import { sql } from "drizzle-orm";
import { CHUNK, type CloseDomain } from "../db/closing.ts";
import { agents, otlp_tokens, spans } from "../db/schema/index.ts";

/** Deletes the receiver tokens of the account's agents, and then their spans. */
export const closing: CloseDomain = ({ owns }) => {
  const some = sql`(select o.agent_id from ${otlp_tokens} o join ${agents} a on a.id = o.agent_id where ${owns} limit ${CHUNK})`;
  return {
    // Those of an ordinary account all at once.
    parts: { receivers: sql`delete from ${otlp_tokens} o using u where o.agent_id in ${some}` },
    ending: [sql`with done as (delete from ${otlp_tokens} where agent_id in ${some} returning agent_id)`],
    chunks: [
      sql`with done as (
      delete from ${spans} s where (s.run_id, s.span_id) in (
        select s.run_id, s.span_id from ${spans} s join ${agents} a on a.id = s.agent_id where ${owns} limit ${CHUNK}
      ) returning s.run_id
    )`,
    ],
  };
};
