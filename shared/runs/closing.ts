import { sql } from "drizzle-orm";
import { CHUNK, type CloseDomain } from "../db/closing.ts";
import { takeBack } from "../db/owed.ts";
import { agents, readiness_checks, run_exchanges, runs, screening_sessions } from "../db/schema/index.ts";
import { publicForGood } from "./view.ts";

/**
 * Deletes what the account's agents have run, but for counted runs whose evidence is or was public, which lose everything
 * that only the owner could see. What the account started for other owners' agents stays without its name. Rows are locked
 * before they are judged: a run that came to count at this moment, and that the log names, stays.
 */
export const closing: CloseDomain = ({ id, owns }) => ({
  chunks: [
    sql`with chunk as (
      select r.id from ${runs} r join ${agents} a on a.id = r.agent_id
      where ${owns} and not ${publicForGood} limit ${CHUNK} for update of r
    ), messages as (
      ${takeBack(["dispatch", "score", "expire"], sql`select id from chunk`)}
    ), done as (
      delete from ${runs} r using chunk c where r.id = c.id returning r.id
    )`,
    sql`with chunk as (
      select r.id from ${runs} r join ${agents} a on a.id = r.agent_id where ${owns}
        and (r.api_key_id is not null or r.explanation is not null or r.failure_detail is not null or r.paid_owner is not null
          or exists (select from ${run_exchanges} e where e.run_id = r.id)) limit ${CHUNK}
    ), exchanges as (
      delete from ${run_exchanges} e using chunk c where e.run_id = c.id
    ), done as (
      update ${runs} r set api_key_id = null, explanation = null, failure_detail = null, paid_kind = null,
        paid_owner = null, paid_period = null
      from chunk c where r.id = c.id returning r.id
    )`,
    sql`with done as (
      update ${runs} r set user_id = null, api_key_id = null
      where r.id in (select id from ${runs} where user_id = ${id}::uuid limit ${CHUNK}) returning r.id
    )`,
    sql`with done as (
      delete from ${screening_sessions} where id in (
        select s.id from ${screening_sessions} s join ${agents} a on a.id = s.agent_id where ${owns}
          and not exists (select from ${runs} r where r.screening_session_id = s.id) limit ${CHUNK}
      ) returning id
    )`,
    sql`with done as (
      update ${screening_sessions} set user_id = null
      where id in (select id from ${screening_sessions} where user_id = ${id}::uuid limit ${CHUNK}) returning id
    )`,
    sql`with done as (
      delete from ${readiness_checks} where agent_id in (
        select c.agent_id from ${readiness_checks} c join ${agents} a on a.id = c.agent_id where ${owns} limit ${CHUNK}
      ) returning agent_id
    )`,
  ],
});
