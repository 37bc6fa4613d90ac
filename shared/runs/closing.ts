import { sql } from "drizzle-orm";
import type { CloseDomain } from "../db/closing.ts";
import { anyOf, chunkNaming, chunkOfEach } from "../db/closing-chunks.ts";
import { takeBack } from "../db/owed.ts";
import { agents, readiness_checks, run_exchanges, runs, screening_sessions } from "../db/schema/index.ts";
import { publicForGood } from "./view.ts";

/**
 * Deletes what the account's agents have run, but for counted runs whose evidence is or was public, which lose everything
 * that only the owner could see. What the account started for other owners' agents stays without its name. Rows are locked
 * before they are judged: a run that came to count at this moment, and that the log names, stays.
 */
export const closing: CloseDomain = (account) => ({
  chunks: [
    (place) => sql`${chunkOfEach(account, agents, place, runsOfAgent, [["r.id", "uuid"]], exchanged)}, gone as (
      select r.id from ${runs} r join ${agents} a on a.id = r.agent_id
      where r.id = ${anyOf("chunk")} and not ${publicForGood} order by r.id for update of r
    ), messages as (
      ${takeBack(["dispatch", "score", "expire"], sql`select id from gone`)}
    ), done as (
      delete from ${runs} r where r.id = ${anyOf("gone")} returning r.id
    )`,
    (place) => sql`${chunkOfEach(account, agents, place, runsOfAgent, [["r.id", "uuid"]], exchanged)}, told as (
      select r.id from ${runs} r where r.id = ${anyOf("chunk")}
        and (r.api_key_id is not null or r.explanation is not null or r.failure_detail is not null or r.paid_owner is not null
          or exists (select from ${run_exchanges} e where e.run_id = r.id))
    ), exchanges as (
      delete from ${run_exchanges} e where e.run_id = ${anyOf("told")}
    ), done as (
      update ${runs} r set api_key_id = null, explanation = null, failure_detail = null, paid_kind = null,
        paid_owner = null, paid_period = null
      where r.id = ${anyOf("told")} returning r.id
    )`,
    (place) => sql`${chunkNaming(account, runs, place, "user_id")}, done as (
      update ${runs} r set user_id = null, api_key_id = null, ${unpaid} where r.id = ${anyOf("chunk")} returning r.id
    )`,
    (place) => sql`${chunkOfEach(
      account,
      agents,
      place,
      sql`select s.created_at, s.id from ${screening_sessions} s where s.agent_id = a.id`,
      [
        ["s.created_at", "timestamptz"],
        ["s.id", "uuid"],
      ],
    )}, done as (
      delete from ${screening_sessions} s where s.id = ${anyOf("chunk")}
        and not exists (select from ${runs} r where r.screening_session_id = s.id) returning s.id
    )`,
    (place) => sql`${chunkNaming(account, screening_sessions, place, "user_id")}, done as (
      update ${screening_sessions} s set user_id = null where s.id = ${anyOf("chunk")} returning s.id
    )`,
    (place) => sql`${chunkOfEach(
      account,
      agents,
      place,
      sql`select h.agent_id from ${readiness_checks} h where h.agent_id = a.id`,
    )}, done as (
      delete from ${readiness_checks} h where h.agent_id = ${anyOf("chunk", "agent_id")} returning h.agent_id
    )`,
  ],
});

/** SQL: assignments by which the run row `r` says no more that an account's own allowance paid; a workspace's gets its runs back. */
const unpaid = sql.join(
  ["paid_kind", "paid_owner", "paid_period"].map(
    (name) => sql`${sql.raw(name)} = case when r.paid_kind <> 'user' then r.${sql.raw(name)} end`,
  ),
  sql`, `,
);

const runsOfAgent = sql`select r.id from ${runs} r where r.agent_id = a.id`;

/** SQL: the bytes that went over the wire with a run: its answer is kept twice, and each may have a MiB. */
const exchanged = sql`(select octet_length(e.request) + coalesce(octet_length(e.response), 0) + coalesce(octet_length(e.answer), 0)
  from ${run_exchanges} e where e.run_id = f.id)`;
