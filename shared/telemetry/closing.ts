import { type SQL, sql } from "drizzle-orm";
import { CHUNK, type Chunk, type CloseDomain } from "../db/closing.ts";
import { anyOf, chunkOfEach } from "../db/closing-chunks.ts";
import { agents, architecture_versions, otlp_tokens, spans } from "../db/schema/index.ts";

/** Deletes the receiver tokens of the account's agents, and then their spans and what they were made of. */
export const closing: CloseDomain = (account) => {
  const some = sql`select o.agent_id from ${otlp_tokens} o join ${agents} a on a.id = o.agent_id where ${account.owns} limit ${CHUNK}`;
  /** Deletes, by a statement over the part `chunk`, rows of the agents `a` that a query selects. */
  const ofAgents =
    (rows: SQL, deletion: SQL): Chunk =>
    (place) =>
      sql`${chunkOfEach(account, agents, place, rows)}, done as (${deletion})`;
  return {
    // Those of an ordinary account all at once.
    parts: { receivers: sql`delete from ${otlp_tokens} o using u where o.agent_id in (${some})` },
    ending: [
      ofAgents(
        sql`select o.agent_id from ${otlp_tokens} o where o.agent_id = a.id`,
        sql`delete from ${otlp_tokens} o where o.agent_id = ${anyOf("chunk", "agent_id")} returning o.agent_id`,
      ),
    ],
    chunks: [
      ofAgents(
        sql`select s.run_id, s.span_id from ${spans} s where s.agent_id = a.id`,
        sql`delete from ${spans} s using chunk c
          where s.run_id = ${anyOf("chunk", "run_id")} and (s.run_id, s.span_id) = (c.run_id, c.span_id) returning s.run_id`,
      ),
      ofAgents(
        sql`select v.agent_id, v.version from ${architecture_versions} v where v.agent_id = a.id`,
        sql`delete from ${architecture_versions} v using chunk c
          where v.agent_id = ${anyOf("chunk", "agent_id")} and (v.agent_id, v.version) = (c.agent_id, c.version)
          returning v.version`,
      ),
    ],
  };
};
