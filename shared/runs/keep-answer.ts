import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { byteaText } from "../db/bytes.ts";
import { kept } from "../db/kept.ts";
import { run_exchanges, runs } from "../db/schema/index.ts";
import { newSalt } from "../evidence/commitment.ts";
import type { Context } from "../platform/context.ts";
import { stringifyExact } from "../platform/exact-json.ts";
import { Message } from "../platform/message.ts";
import { collectedAt } from "../telemetry/collect.ts";
import type { CallOutcome } from "./answer.ts";
import type { Claim } from "./claim.ts";
import { oweScoreOrExpiry } from "./messages.ts";
import { appendFacts, type PhaseEvent, toFacts } from "./phases.ts";

/** What is kept of the call to an agent. */
export interface Exchanged {
  /** RFC 8785 bytes of the request, without `callback`. */
  request: Uint8Array;
  outcome: CallOutcome;
  /** When the agent's time began. */
  sentAt: Date;
}

/** What is kept of a call, as its statement is given it. */
export interface KeptAnswer {
  run: string;
  lease: string;
  waiting: boolean;
  at: string;
  sent: string;
  /** By when a promised report has to come. */
  deadline: string;
  latency_ms: number | null;
  failure_code: string | null;
  failure_detail: string | null;
  /** Bytes as PostgreSQL reads them. */
  request: string;
  request_salt: string;
  response: string | null;
  response_salt: string | null;
  /** JSON text. */
  answer: string | null;
  facts: ReturnType<typeof toFacts>;
}

/** What the statement is given of each call. */
const COLUMNS =
  sql.raw(`run uuid, lease uuid, waiting boolean, at timestamptz, sent timestamptz, deadline timestamptz, latency_ms integer,
  failure_code text, failure_detail text, request bytea, request_salt bytea, response bytea, response_salt bytea, answer text,
  facts jsonb`);

/**
 * How long after the deadline the wait for a report ends: one that came in time may still be under way. The database is
 * waited for nearly as long, and only what it then has not taken is noted.
 */
const UNDER_WAY = sql`interval '15 seconds'`;

/** Locks runs (their ids) whose calls have ended: what is kept then sees the facts of a report that came at this moment. */
export const LOCK_CALLED = kept("lock_called", { runs: "jsonb" }, (value) => ({
  parts: sql`with locked as (
    select r.id from jsonb_array_elements_text(${value("runs")}) as g(id) join ${runs} r on r.id = g.id::uuid
    order by r.id for update of r
  )`,
  select: sql`select to_jsonb(count(*)) from locked`,
}));

/**
 * Keeps what came of the calls of runs (a list of `KeptAnswer`), unless it was reported meanwhile or the lease is another
 * one's. Its result has the messages of those that can be graded now, by run.
 */
export const KEEP_ANSWERS = kept("keep_answers", { answers: "jsonb" }, (value) => ({
  parts: sql`with given as (
      select * from jsonb_to_recordset(${value("answers")}) as g(${COLUMNS})
    ), named as (
      select r.id, r.status, r.lease_token, r.answered_at is not null as reported, g.*
      from given g join ${runs} r on r.id = g.run order by r.id for update of r
    ), open_calls as (
      select * from named where lease_token = lease and status = 'running'
    ), updated as (
      update ${runs} r set lease_token = null, awaiting_callback = o.waiting and not o.reported,
        lease_expires_at = case when o.waiting and not o.reported then o.deadline + interval '60 seconds' end,
        deadline_at = o.deadline,
        callback_hash = case when o.waiting then r.callback_hash end,
        answered_at = case when o.waiting then r.answered_at else coalesce(r.answered_at, o.at) end,
        latency_ms = case when o.reported then ${latencyBetween(sql`o.sent`, sql`r.answered_at`)} else o.latency_ms end,
        failure_code = case when o.reported then r.failure_code else o.failure_code end,
        failure_detail = case when o.reported then r.failure_detail else o.failure_detail end
      from open_calls o where r.id = o.id
      returning r.id, r.attempt, r.answered_at is not null as answered, case
        when r.answered_at is null then o.deadline + ${UNDER_WAY}
        when not r.simulated then ${collectedAt(sql`r.agent_id`, sql`r.answered_at`)} end as not_before
    ), exchange as (
      insert into ${run_exchanges} (run_id, request, request_salt, response, response_salt, answer)
      select o.id, o.request, o.request_salt, case when o.reported then e.response else o.response end,
        case when o.reported then e.response_salt else o.response_salt end,
        case when o.reported then e.answer else o.answer end
      from open_calls o left join ${run_exchanges} e on e.run_id = o.id
      on conflict (run_id) do update set request = excluded.request, request_salt = excluded.request_salt,
        response = excluded.response, response_salt = excluded.response_salt, answer = excluded.answer
    ), facts as (
      ${appendFacts(sql`select id, facts, at from open_calls`, sql`x.at`)}
    ), messages as (${oweScoreOrExpiry(sql`select id, attempt, answered, not_before from updated`)}
    ), later as (select * from messages where not_before is not null)`,
  hands: ["later"],
  select: sql`select jsonb_object_agg(m.id, to_jsonb(m)) from messages m where m.not_before is null`,
}));

/** SQL: how long a report took, in milliseconds, from when the agent's time began. */
export function latencyBetween(sent: SQL, reported: SQL): SQL {
  return sql`greatest(0, round(extract(epoch from (${reported}) - (${sent})) * 1000))::integer`;
}

/** What `KEEP_ANSWERS` finds. */
export const Scorable = z.record(z.string(), Message);

/**
 * What there is to be kept of a call: the bytes and their salts, the facts, and whether the answer can be graded or a
 * promised callback is waited for. An agent may report before its call has ended: then the report is the answer, and what
 * the call brought is ignored.
 */
export function keeping(ctx: Context, claim: Claim, { request, outcome, sentAt }: Exchanged): KeptAnswer {
  const { job, lease, requestSalt } = claim;
  const waiting = outcome.kind === "callback";
  const response = outcome.kind === "callback" ? null : outcome.response;
  return {
    run: job.run.id,
    lease,
    waiting,
    at: ctx.now().toISOString(),
    sent: sentAt.toISOString(),
    deadline: new Date(sentAt.getTime() + job.task.time_limit_ms).toISOString(),
    latency_ms: waiting ? null : outcome.latencyMs,
    failure_code: outcome.kind === "failure" ? outcome.code : null,
    failure_detail: outcome.kind === "failure" ? outcome.detail : null,
    request: byteaText(request),
    request_salt: byteaText(requestSalt),
    response: response === null ? null : byteaText(response),
    response_salt: response === null ? null : byteaText(newSalt()),
    answer: outcome.kind === "answer" ? stringifyExact(outcome.answer) : null,
    facts: toFacts(factsOf(outcome)),
  };
}

function factsOf(outcome: CallOutcome): PhaseEvent[] {
  const duration_ms = outcome.latencyMs;
  switch (outcome.kind) {
    case "callback":
      return [{ phase: "agent_responding", outcome: "succeeded", duration_ms, metadata: { callback: true } }];
    case "failure":
      return [{ phase: "response_received", outcome: "failed", duration_ms, metadata: { failure_code: outcome.code } }];
    case "answer":
      return [
        { phase: "agent_responding", outcome: "succeeded", duration_ms },
        { phase: "response_received", outcome: "succeeded", duration_ms, metadata: { bytes: outcome.response.length } },
      ];
  }
}
