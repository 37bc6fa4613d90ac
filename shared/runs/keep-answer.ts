import { sql } from "drizzle-orm";
import { bytea } from "../db/bytes.ts";
import { write } from "../db/change.ts";
import { run_exchanges, runs } from "../db/schema/index.ts";
import { newSalt } from "../evidence/commitment.ts";
import type { Context } from "../platform/context.ts";
import { stringifyExact } from "../platform/exact-json.ts";
import { Message } from "../platform/message.ts";
import { collectedAt } from "../telemetry/collect.ts";
import type { CallOutcome } from "./answer.ts";
import type { Claim } from "./claim.ts";
import { oweScoreOrExpiry } from "./messages.ts";
import { appendPhases, type PhaseEvent } from "./phases.ts";

/** What is kept of the call to an agent. */
export interface Exchanged {
  /** RFC 8785 bytes of the request, without `callback`. */
  request: Uint8Array;
  outcome: CallOutcome;
}

/**
 * Keeps what came of a call, in one statement: the bytes and their salts, the facts, and either the message that has
 * the answer graded or, for a promised callback, the one that ends the wait. Returns the former where nothing is to be
 * waited for: it is owed, but not sent yet. Does nothing unless the claim still holds.
 * An agent may report before its call has ended: then the report is the answer, and what the call brought is ignored.
 */
export async function keepAnswer(ctx: Context, claim: Claim, { request, outcome }: Exchanged): Promise<Message | null> {
  const { job, lease, deadline, requestSalt } = claim;
  const runId = job.run.id;
  const now = ctx.now();
  const waiting = outcome.kind === "callback";
  const response = outcome.kind === "callback" ? null : outcome.response;
  const responseSalt = newSalt();
  return write(ctx, {
    parts: sql`with open_call as (
      select r.id, r.answered_at is not null as reported from ${runs} r
      where r.id = ${runId}::uuid and r.lease_token = ${lease}::uuid and r.status = 'running' for update
    ), updated as (
      update ${runs} r set lease_token = null, awaiting_callback = ${waiting} and not o.reported,
        lease_expires_at = case when ${waiting} and not o.reported then r.deadline_at + interval '60 seconds' end,
        callback_hash = case when ${waiting} then r.callback_hash end,
        answered_at = case when ${waiting} then r.answered_at else coalesce(r.answered_at, ${now.toISOString()}::timestamptz) end,
        latency_ms = case when o.reported then r.latency_ms else ${waiting ? null : outcome.latencyMs}::integer end,
        failure_code = case when o.reported then r.failure_code else ${outcome.kind === "failure" ? outcome.code : null} end,
        failure_detail = case when o.reported then r.failure_detail else ${outcome.kind === "failure" ? outcome.detail : null} end
      from open_call o where r.id = o.id
      returning r.id, r.attempt, o.reported, r.answered_at is not null as answered, case
        when r.answered_at is null then ${deadline.toISOString()}::timestamptz
        when not r.simulated then ${collectedAt(sql`r.agent_id`, sql`r.answered_at`)} end as not_before
    ), exchange as (
      insert into ${run_exchanges} (run_id, request, request_salt, response, response_salt, answer)
      select u.id, ${bytea(request)}, ${bytea(requestSalt)}, case when u.reported then e.response else ${bytea(response)} end,
        case when u.reported then e.response_salt else ${bytea(response === null ? null : responseSalt)} end,
        case when u.reported then e.answer else ${outcome.kind === "answer" ? stringifyExact(outcome.answer) : null} end
      from updated u left join ${run_exchanges} e on e.run_id = u.id
      on conflict (run_id) do update set request = excluded.request, request_salt = excluded.request_salt,
        response = excluded.response, response_salt = excluded.response_salt, answer = excluded.answer
    ), facts as (
      ${appendPhases(sql`select id from updated`, factsOf(outcome), now)}
    ), messages as (${oweScoreOrExpiry(sql`select id, attempt, answered, not_before from updated`)}
    ), later as (select * from messages where not_before is not null)`,
    hands: ["later"],
    select: sql`select to_jsonb(m) from messages m where m.not_before is null`,
    result: Message,
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
