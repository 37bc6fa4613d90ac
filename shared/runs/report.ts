import { Buffer } from "node:buffer";
import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { bytea } from "../db/bytes.ts";
import { change, read, verdict } from "../db/change.ts";
import { run_exchanges, runs, tasks } from "../db/schema/index.ts";
import { newSalt } from "../evidence/commitment.ts";
import type { Context } from "../platform/context.ts";
import { sha256 } from "../platform/crypto.ts";
import { parseExact, stringifyExact } from "../platform/exact-json.ts";
import { bodyProblem, notFound, Problem } from "../platform/problem.ts";
import { collectedAt } from "../telemetry/collect.ts";
import type { Answer } from "./answer.ts";
import { latencyBetween } from "./keep-answer.ts";
import { oweScore } from "./messages.ts";
import { appendPhases, type PhaseEvent } from "./phases.ts";
import { Reported } from "./protocols/reading.ts";
import { noteRefusedReport } from "./refused-reports.ts";
import type { RunUpdate } from "./schemas.ts";
import { RunRead } from "./shown.ts";
import { mayRun, type RunRow, runJson, runsWithAgents, visibleRun } from "./view.ts";

/** Who reports: the agent with its run's token, or the owner. */
export type Reporter = { kind: "token"; token: string } | { kind: "user"; userId: string };

/** SQL: when the time of the run `r` of the task `k` began: known from when its call has ended, which else corrects it. */
const SENT = sql`r.deadline_at - k.time_limit_ms * interval '1 millisecond'`;

const REPORT = verdict({ forbidden: sql`not allowed` }, "dead_token");

/**
 * Takes an agent's report on a running run, in one statement: an answer or a failure is kept and handed on to be graded;
 * `running` is noted. The token dies with its run and tells nothing else. For the owner a final run stays as it is. That the
 * database could not take an answer is noted, so that it is not held against the agent.
 * Throws `unauthenticated` for a dead or foreign token, 404 and `forbidden` for a user, `feature_disabled` for the sweep
 * contract while its flag is off.
 */
export async function report(
  ctx: Context,
  reporter: Reporter,
  runId: string,
  input: z.output<typeof RunUpdate>,
  raw: string,
): Promise<RunRow> {
  assertSweeps(ctx, input);
  // Who reports was admitted first, and in a busy isolate that takes longer than many an agent. When the request came says
  // nothing: its body is the answer, and may come much later.
  const now = new Date(ctx.now().getTime() - ctx.admissionMs);
  const at = sql`${now.toISOString()}::timestamptz`;
  const final = input.status !== "running";
  const answer = input.status === "completed" ? toAnswer(input, raw) : null;
  const failed = input.status === "failed";
  const detail = failed ? (input.error ?? "The agent reported a failure.") : null;
  const byUser = reporter.kind === "user";
  const taken = change(ctx, {
    // The call may end at this moment, and both go on counting the facts.
    lock: sql`select from ${runs} where id = ${runId}::uuid for update`,
    parts: sql`with target as (
      select x.id, ${REPORT.sql} as outcome from (${reportable(reporter, runId)}) x
    ), updated as (
      update ${runs} r set answered_at = case when ${final} then ${at} end,
        latency_ms = case when ${final} then ${latencyBetween(SENT, at)} end,
        failure_code = ${failed ? "agent_reported_failure" : null}, failure_detail = ${detail},
        lease_expires_at = case when ${final} and r.awaiting_callback then null else r.lease_expires_at end,
        awaiting_callback = r.awaiting_callback and not ${final},
        callback_hash = case when ${final} then null else r.callback_hash end
      from target t, ${tasks} k
      where r.id = t.id and k.id = r.task_id and t.outcome = 'done' and r.status = 'running' and r.answered_at is null and r.deadline_at > ${at}
      returning r.id, r.attempt, r.lease_token is null as call_ended,
        ${collectedAt(sql`r.agent_id`, sql`r.answered_at`)} as not_before
    ), exchange as (
      insert into ${run_exchanges} (run_id, request, request_salt, response, response_salt, answer)
      select id, '', '', ${bytea(Buffer.from(raw))}, ${bytea(newSalt())}, ${answer === null ? null : stringifyExact(answer)}
      from updated where ${final}
      on conflict (run_id) do update set response = excluded.response, response_salt = excluded.response_salt, answer = excluded.answer
    ), facts as (
      ${appendPhases(sql`select id from updated`, factsOf(input), now)}
    ), scores as (${
      // While the call that dispatched the run is open, its end has the answer graded.
      oweScore(sql`select id, attempt, not_before from updated where ${final} and call_ended`)
    })`,
    hands: ["scores"],
    result: sql`select jsonb_build_object('run', ${runJson(byUser ? sql`true` : sql`false`)}, 'outcome', case
        when t.outcome = 'done' and ${!byUser} and not exists (select from updated) then 'dead_token' else t.outcome end
      ) as result from target t join ${runs} r on r.id = t.id`,
    verdict: REPORT,
    done: z.object({ run: RunRead }),
    refusals: {
      not_found: () => unseen(reporter),
      forbidden: notReporter,
      dead_token: deadToken,
    },
  });
  try {
    return (await taken).run;
  } catch (error) {
    if (final && !byUser) await noteRefusedReport(ctx, runId, now, error);
    throw error;
  }
}

/** Throws `unauthenticated` for a token that is not good for the run, 404 and `forbidden` for a user, as `report` does. */
export async function assertReportRight(ctx: Context, reporter: Reporter, runId: string): Promise<void> {
  const allowed = await read(
    ctx,
    z.boolean(),
    sql`select to_jsonb(x.allowed) as result from (${reportable(reporter, runId)}) x`,
  );
  if (allowed === null) throw unseen(reporter);
  if (!allowed) throw notReporter();
}

function assertSweeps(ctx: Context, input: z.output<typeof RunUpdate>): void {
  if (ctx.env.FLAGS.has("sweeps")) return;
  for (const field of ["serving_model", "input_tokens", "output_tokens"] as const) {
    if (input[field] !== undefined)
      throw bodyProblem("feature_disabled", `/${field}`, "The sweep contract is switched off here.");
  }
}

/** SQL: a query of the run that the reporter sees, and whether they may report on it. */
function reportable(reporter: Reporter, runId: string): SQL {
  const allowed = reporter.kind === "token" ? sql`true` : mayRun("edit", reporter.userId);
  return sql`select r.id, ${allowed} as allowed from ${runsWithAgents(sql`${runs}`)}
    where r.id = ${runId}::uuid and ${visible(reporter)}`;
}

function visible(reporter: Reporter): SQL {
  if (reporter.kind === "user") return visibleRun(reporter.userId);
  return sql`r.callback_hash = ${sha256(reporter.token)} and r.status = 'running'`;
}

function unseen({ kind }: Reporter): Problem {
  return kind === "token" ? deadToken() : notFound("run");
}

function notReporter(): Problem {
  return new Problem("forbidden", "Only the agent, or its owner, may report on this run.");
}

function deadToken(): Problem {
  return new Problem("unauthenticated", "This token is not good for this run, or the run is over.", {
    headers: { "WWW-Authenticate": 'Bearer error="invalid_token"' },
  });
}

/** The answer of a report with all digits: the validated body has lost those of numbers beyond 2^53. */
function toAnswer({ status: _status, error: _error, ...rest }: z.output<typeof RunUpdate>, raw: string): Answer {
  const { output = null, ...exact } = Reported.parse(parseExact(raw));
  const given = Object.entries({ ...rest, ...exact }).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), output };
}

function factsOf({ status }: z.output<typeof RunUpdate>): PhaseEvent[] {
  if (status === "running") return [{ phase: "agent_responding", outcome: "started", metadata: { reported: true } }];
  if (status === "completed")
    return [{ phase: "response_received", outcome: "succeeded", metadata: { callback: true } }];
  return [{ phase: "response_received", outcome: "failed", metadata: { failure_code: "agent_reported_failure" } }];
}
