import { sql } from "drizzle-orm";
import { bytea } from "../db/bytes.ts";
import { outbox, run_exchanges, runs } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import { newSalt } from "../evidence/commitment.ts";
import type { Context } from "../platform/context.ts";
import { hand } from "../db/outbox.ts";
import { collectedAt } from "../telemetry/collect.ts";
import type { CallOutcome } from "./answer.ts";
import type { Claim } from "./claim.ts";
import { scoreMessage } from "./messages.ts";
import { appendPhases, type PhaseEvent } from "./phases.ts";

/** What is kept of the call to an agent. */
export interface Exchanged {
  /** RFC 8785 bytes of the request, without `callback`. */
  request: Uint8Array;
  outcome: CallOutcome;
}

/**
 * Keeps what came of a call, in one statement: the bytes and their salts, the facts, and either the message that has
 * the answer graded or, for a promised callback, the one that ends the wait. Does nothing unless the claim still holds.
 * An agent may report before its call has ended: then the report is the answer, and what the call brought is no matter.
 */
export async function keep(ctx: Context, claim: Claim, { request, outcome }: Exchanged): Promise<void> {
  const { job, lease, deadline } = claim;
  const runId = job.run.id;
  const now = ctx.now();
  const waiting = outcome.kind === "callback";
  const response = outcome.kind === "callback" ? null : outcome.response;
  const [requestSalt, responseSalt] = [newSalt(), newSalt()];
  const kept = await readJson<{ answered: boolean; not_before: string | null }>(
    ctx,
    sql`with open_call as (
      select r.id, r.answered_at is not null as reported from ${runs} r
      where r.id = ${runId}::uuid and r.lease_token = ${lease}::uuid and r.status = 'running' for update
    ), held as (
      update ${runs} r set lease_token = null, awaiting_callback = ${waiting} and not o.reported,
        lease_expires_at = case when ${waiting} and not o.reported then r.deadline_at + interval '60 seconds' end,
        callback_hash = case when ${waiting} then r.callback_hash end,
        answered_at = case when ${waiting} then r.answered_at else coalesce(r.answered_at, ${now.toISOString()}::timestamptz) end,
        latency_ms = case when o.reported then r.latency_ms else ${waiting ? null : outcome.latencyMs}::integer end,
        failure_code = case when o.reported then r.failure_code else ${outcome.kind === "failure" ? outcome.code : null} end,
        failure_detail = case when o.reported then r.failure_detail else ${outcome.kind === "failure" ? outcome.detail : null} end
      from open_call o where r.id = o.id
      returning r.id, o.reported, r.answered_at is not null as answered, case
        when r.answered_at is null then ${deadline.toISOString()}::timestamptz
        when not r.simulated then ${collectedAt(sql`r.agent_id`, sql`r.answered_at`)} end as not_before
    ), exchange as (
      insert into ${run_exchanges} (run_id, request, request_salt, response, response_salt, answer)
      select h.id, ${bytea(request)}, ${bytea(requestSalt)}, case when h.reported then e.response else ${bytea(response)} end,
        case when h.reported then e.response_salt else ${bytea(response === null ? null : responseSalt)} end,
        case when h.reported then e.answer else ${outcome.kind === "answer" ? JSON.stringify(outcome.answer) : null} end
      from held h left join ${run_exchanges} e on e.run_id = h.id
      on conflict (run_id) do update set request = excluded.request, request_salt = excluded.request_salt,
        response = excluded.response, response_salt = excluded.response_salt, answer = excluded.answer
    ), facts as (
      ${appendPhases(sql`select id from held`, factsOf(outcome), now)}
    ), owed as (
      insert into ${outbox} (consumer, id, generation, body, not_before)
      select case when answered then 'score' else 'expire' end, id, ${job.run.attempt}::integer,
        jsonb_build_object('run_id', id), not_before
      from held on conflict (consumer, id) do update set generation = excluded.generation, due_at = excluded.due_at,
        not_before = excluded.not_before
    )
    select jsonb_build_object('answered', answered, 'not_before', not_before) as result from held`,
  );
  if (kept === null) return;
  const score = scoreMessage(runId, job.run.attempt, kept.not_before);
  const message = kept.answered ? score : { ...score, consumer: "expire" };
  // The consumer's own first statement takes the row out of the outbox: one round trip less for every run.
  ctx.defer(() => hand(ctx, message));
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
