import { sql } from "drizzle-orm";
import { bytea } from "../db/bytes.ts";
import { kept, type Sendable } from "../db/kept.ts";
import { run_exchanges, runs } from "../db/schema/index.ts";
import { newSalt } from "../evidence/commitment.ts";
import type { Context } from "../platform/context.ts";
import { stringifyExact } from "../platform/exact-json.ts";
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
}

/** What is kept of the call of a run, unless it was reported meanwhile or the lease is another one's. */
export const KEEP_ANSWER = kept(
  "keep_answer",
  {
    run: "uuid",
    lease: "uuid",
    waiting: "boolean",
    at: "timestamptz",
    deadline: "timestamptz",
    latency_ms: "integer",
    failure_code: "text",
    failure_detail: "text",
    request: "bytea",
    request_salt: "bytea",
    response: "bytea",
    response_salt: "bytea",
    answer: "text",
    facts: "jsonb",
  },
  (value) => ({
    parts: sql`with open_call as (
      select r.id, r.answered_at is not null as reported from ${runs} r
      where r.id = ${value("run")} and r.lease_token = ${value("lease")} and r.status = 'running' for update
    ), updated as (
      update ${runs} r set lease_token = null, awaiting_callback = ${value("waiting")} and not o.reported,
        lease_expires_at = case when ${value("waiting")} and not o.reported then r.deadline_at + interval '60 seconds' end,
        callback_hash = case when ${value("waiting")} then r.callback_hash end,
        answered_at = case when ${value("waiting")} then r.answered_at else coalesce(r.answered_at, ${value("at")}) end,
        latency_ms = case when o.reported then r.latency_ms else ${value("latency_ms")} end,
        failure_code = case when o.reported then r.failure_code else ${value("failure_code")} end,
        failure_detail = case when o.reported then r.failure_detail else ${value("failure_detail")} end
      from open_call o where r.id = o.id
      returning r.id, r.attempt, o.reported, r.answered_at is not null as answered, case
        when r.answered_at is null then ${value("deadline")}
        when not r.simulated then ${collectedAt(sql`r.agent_id`, sql`r.answered_at`)} end as not_before
    ), exchange as (
      insert into ${run_exchanges} (run_id, request, request_salt, response, response_salt, answer)
      select u.id, ${value("request")}, ${value("request_salt")}, case when u.reported then e.response else ${value("response")} end,
        case when u.reported then e.response_salt else ${value("response_salt")} end,
        case when u.reported then e.answer else ${value("answer")} end
      from updated u left join ${run_exchanges} e on e.run_id = u.id
      on conflict (run_id) do update set request = excluded.request, request_salt = excluded.request_salt,
        response = excluded.response, response_salt = excluded.response_salt, answer = excluded.answer
    ), facts as (
      ${appendFacts(sql`select id, ${value("facts")} as facts from updated`, value("at"))}
    ), messages as (${oweScoreOrExpiry(sql`select id, attempt, answered, not_before from updated`)}
    ), later as (select * from messages where not_before is not null)`,
    hands: ["later"],
    select: sql`select to_jsonb(m) from messages m where m.not_before is null`,
  }),
);

/**
 * The statement that keeps what came of a call: the bytes and their salts, the facts, and either the message that has
 * the answer graded or, for a promised callback, the one that ends the wait. Its result is the former, a `Message`, where nothing is to be
 * waited for: it is owed, but not sent yet. Does nothing unless the claim still holds.
 * An agent may report before its call has ended: then the report is the answer, and what the call brought is ignored.
 */
export function keeping(ctx: Context, claim: Claim, { request, outcome }: Exchanged): Sendable {
  const { job, lease, deadline, requestSalt } = claim;
  const waiting = outcome.kind === "callback";
  const response = outcome.kind === "callback" ? null : outcome.response;
  return KEEP_ANSWER.with({
    run: job.run.id,
    lease,
    waiting,
    at: ctx.now().toISOString(),
    deadline: deadline.toISOString(),
    latency_ms: waiting ? null : outcome.latencyMs,
    failure_code: outcome.kind === "failure" ? outcome.code : null,
    failure_detail: outcome.kind === "failure" ? outcome.detail : null,
    request: bytea(request),
    request_salt: bytea(requestSalt),
    response: bytea(response),
    response_salt: bytea(response === null ? null : newSalt()),
    answer: outcome.kind === "answer" ? stringifyExact(outcome.answer) : null,
    facts: JSON.stringify(toFacts(factsOf(outcome))),
  });
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
