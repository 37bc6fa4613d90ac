import { Buffer } from "node:buffer";
import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { byteaText } from "../db/bytes.ts";
import { change, read, verdict } from "../db/change.ts";
import { inSeries, kept, writeSeries } from "../db/kept.ts";
import { run_exchanges, runs, tasks } from "../db/schema/index.ts";
import type { Step } from "../db/written.ts";
import { newSalt } from "../evidence/commitment.ts";
import type { Context } from "../platform/context.ts";
import { sha256 } from "../platform/crypto.ts";
import { stringifyExact } from "../platform/exact-json.ts";
import { parseJsonBounded } from "../platform/outbound/json.ts";
import { bodyProblem, notFound, Problem } from "../platform/problem.ts";
import { collectedAt } from "../telemetry/collect.ts";
import { Answer } from "./answer.ts";
import { LOCK_CALLED, latencyBetween } from "./keep-answer.ts";
import { oweScore } from "./messages.ts";
import { appendFacts, type PhaseEvent, toFacts } from "./phases.ts";
import { excerpt, Reported } from "./protocols/reading.ts";
import { noteFaultyReport, noteRefusedReport } from "./refused-reports.ts";
import type { RunUpdate } from "./schemas.ts";
import { RunRead } from "./shown.ts";
import { mayRun, type RunRow, runJson, runsWithAgents, visibleRun } from "./view.ts";

/** Who reports: the agent with its run's token, or the owner. */
export type Reporter = { kind: "token"; token: string } | { kind: "user"; userId: string };

/** SQL: when the time of the run `r` of the task `k` began: known from when its call has ended, which else corrects it. */
const SENT = sql`r.deadline_at - k.time_limit_ms * interval '1 millisecond'`;

const OF_AGENT = verdict({ forbidden: sql`not allowed` });

/** What a user is told of a report at `at`: of an agent's, its token's death tells. */
const ofUserAt = (at: SQL) =>
  verdict({
    forbidden: sql`not allowed`,
    report_too_late: sql`exists (
      select from ${runs} r where r.id = x.id and r.status = 'running' and r.answered_at is null and r.deadline_at <= ${at}
    )`,
  });

const LATE = "The report came after the deadline of its run.";

/** What a statement that takes a report is given. */
const GIVEN = {
  run: "uuid",
  at: "timestamptz",
  /** Whether it ends the attempt, and whether by a failure. */
  final: "boolean",
  failed: "boolean",
  detail: "text",
  response: "bytea",
  salt: "bytea",
  /** JSON text; null for none. */
  answer: "text",
  facts: "jsonb",
} as const;
type Given = keyof typeof GIVEN;

/**
 * Takes a report on the run that `target` selects, with whether it may be reported on in `allowed`; shows the run as its
 * owner reads it where it is `owned`, and whether the report was `taken`. The run is locked, and found by its id alone: a
 * search by its state would read all open runs.
 */
function reporting(value: (name: Given) => SQL, target: SQL, owned: SQL, judged: SQL): Step {
  const [at, final] = [value("at"), value("final")];
  return {
    parts: sql`with target as (
      select x.id, ${judged} as outcome, (
        select r.status = 'running' and r.answered_at is null and r.deadline_at > ${at} from ${runs} r where r.id = x.id
      ) as is_open from (${target}) x
    ), updated as (
      update ${runs} r set answered_at = case when ${final} then ${at} end,
        latency_ms = case when ${final} then ${latencyBetween(SENT, at)} end,
        failure_code = case when ${value("failed")} then 'agent_reported_failure' end, failure_detail = ${value("detail")},
        lease_expires_at = case when ${final} and r.awaiting_callback then null else r.lease_expires_at end,
        awaiting_callback = r.awaiting_callback and not ${final},
        callback_hash = case when ${final} then null else r.callback_hash end
      from target t, ${tasks} k
      where r.id = t.id and k.id = r.task_id and t.outcome = 'done' and t.is_open
      returning r.id, r.attempt, r.lease_token is null as call_ended,
        ${collectedAt(sql`r.agent_id`, sql`r.answered_at`)} as not_before
    ), exchange as (
      insert into ${run_exchanges} (run_id, request, request_salt, response, response_salt, answer)
      select id, '', '', ${value("response")}, ${value("salt")}, ${value("answer")} from updated where ${final}
      on conflict (run_id) do update set response = excluded.response, response_salt = excluded.response_salt, answer = excluded.answer
    ), facts as (
      ${appendFacts(sql`select id, ${value("facts")} as facts from updated`, at)}
    ), scores as (${
      // While the call that dispatched the run is open, its end has the answer graded.
      oweScore(sql`select id, attempt, not_before from updated where ${final} and call_ended`)
    })`,
    hands: ["scores"],
    select: sql`select jsonb_build_object('run', ${runJson(owned)}, 'outcome', t.outcome,
        'taken', exists (select from updated)) from target t join ${runs} r on r.id = t.id`,
  };
}

/** Takes what an agent reports with the token of its run; without a row where that is not good any more. */
export const TAKE_REPORT = kept("take_report", { ...GIVEN, callback_hash: "text" }, (value) =>
  reporting(value, ofToken(value("run"), value("callback_hash")), sql`false`, OF_AGENT.sql),
);

/** The run is locked first: its call may end at this moment, and both go on counting the facts. */
export const TAKE_REPORTS = inSeries("take_reports", [LOCK_CALLED, TAKE_REPORT]);

const Taken = z.object({ taken: z.boolean(), run: RunRead });

/**
 * Takes an agent's report on a running run, in one statement: an answer or a failure is kept and handed on to be graded;
 * `running` is noted. The token dies with its run and tells nothing else. For the owner a final run stays as it is. That the
 * database could not take an answer is noted, so that it is not held against the agent, and that one came too late, whoever
 * sent it.
 * Throws `unauthenticated` for a dead or foreign token, 404, `forbidden` and `report_too_late` for a user, `feature_disabled`
 * for the sweep contract while its flag is off.
 */
export async function report(
  ctx: Context,
  reporter: Reporter,
  runId: string,
  input: z.output<typeof RunUpdate>,
  raw: string,
): Promise<RunRow> {
  assertSweeps(ctx, input);
  const now = cameAt(ctx, ctx.now());
  const final = input.status !== "running";
  const answer = input.status === "completed" ? toAnswer(input, raw) : null;
  const failed = input.status === "failed";
  const given = {
    run: runId,
    at: now.toISOString(),
    final,
    failed,
    detail: failed ? wordsOf(input) || "The agent reported a failure, and did not say why." : null,
    response: byteaText(Buffer.from(raw)),
    salt: byteaText(newSalt()),
    answer: answer === null ? null : stringifyExact(answer),
    facts: JSON.stringify(toFacts(factsOf(input))),
  };
  if (reporter.kind === "user") return takeOfUser(ctx, reporter.userId, given, now);
  try {
    return await takeOfAgent(ctx, reporter.token, given, now);
  } catch (error) {
    if (final) await noteRefusedReport(ctx, runId, now, error);
    throw error;
  }
}

/**
 * When a report came whose body was there at `at`. Who reports was admitted first, and in a busy isolate that takes longer than
 * many an agent. When the request came says nothing: its body is the answer, and may come much later.
 */
export function cameAt({ admissionMs }: Pick<Context, "admissionMs">, at: Date): Date {
  return new Date(at.getTime() - admissionMs);
}

type Report = Readonly<Record<Given, string | boolean | null>> & { run: string };

async function takeOfAgent(ctx: Context, token: string, given: Report, at: Date): Promise<RunRow> {
  const series = TAKE_REPORTS.with([{ runs: JSON.stringify([given.run]) }, { ...given, callback_hash: sha256(token) }]);
  const [, found] = await writeSeries(ctx, series, [z.int(), Taken]);
  if (found?.taken === true) return found.run;
  if (found === null || given["final"] !== true) throw deadToken();
  // Its token is good until the wait for a report ends: all that it lacks is time.
  const late = deadToken(LATE);
  await noteFaultyReport(ctx, given.run, at, late);
  throw late;
}

async function takeOfUser(ctx: Context, userId: string, given: Report, at: Date): Promise<RunRow> {
  const typed = (name: Given) => sql`${given[name]}::${sql.raw(GIVEN[name])}`;
  const judged = ofUserAt(typed("at"));
  const { select, ...step } = reporting(typed, ofUser(given.run, userId), sql`true`, judged.sql);
  const late = new Problem("report_too_late", LATE);
  try {
    const { run } = await change(ctx, {
      lock: sql`select from ${runs} where id = ${given.run}::uuid for update`,
      ...step,
      result: select,
      verdict: judged,
      done: z.object({ run: RunRead }),
      refusals: { not_found: () => notFound("run"), forbidden: notReporter, report_too_late: () => late },
    });
    return run;
  } catch (error) {
    // An agent may report as its owner, and few keep what they are answered.
    if (error === late && given["final"] === true) await noteFaultyReport(ctx, given.run, at, late);
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
    if (input[field] != null)
      throw bodyProblem("feature_disabled", `/${field}`, "The sweep contract is switched off here.");
  }
}

/** SQL: a query of the run that the reporter sees, and whether they may report on it. */
function reportable(reporter: Reporter, runId: string): SQL {
  if (reporter.kind === "user") return ofUser(runId, reporter.userId);
  return ofToken(sql`${runId}::uuid`, sql`${sha256(reporter.token)}`);
}

function ofToken(run: SQL, hash: SQL): SQL {
  return sql`select n.id, true as allowed
    from (select r.id, r.status, r.callback_hash from ${runs} r where r.id = ${run} offset 0) n
    where n.callback_hash = ${hash} and n.status = 'running'`;
}

function ofUser(runId: string, userId: string): SQL {
  return sql`select r.id, ${mayRun("edit", userId)} as allowed from ${runsWithAgents(sql`${runs}`)}
    where r.id = ${runId}::uuid and ${visibleRun(userId)}`;
}

function unseen({ kind }: Reporter): Problem {
  return kind === "token" ? deadToken() : notFound("run");
}

function notReporter(): Problem {
  return new Problem("forbidden", "Only the agent, or its owner, may report on this run.");
}

function deadToken(detail = "This token is not good for this run, or the run is over."): Problem {
  return new Problem("unauthenticated", detail, {
    headers: { "WWW-Authenticate": 'Bearer error="invalid_token"' },
  });
}

/**
 * The answer of a report, read as one that comes at once is: the validated body has lost the digits of numbers beyond 2^53.
 * It has been held to the same depth, so that what it was validated from can be read here. Null says nothing but as an output.
 */
function toAnswer({ status: _status, error: _error, ...rest }: z.output<typeof RunUpdate>, raw: string): Answer {
  const json = parseJsonBounded(raw, { exact: true });
  const exact = Reported.parse(json.ok ? json.value : undefined);
  const said = ([name, value]: [string, unknown]) => value !== undefined && (value !== null || name === "output");
  return Answer.parse(Object.fromEntries(Object.entries({ ...rest, ...exact }).filter(said)));
}

/** What the agent says of its failure, whole, and as clean as what is quoted of an answer. */
function wordsOf({ error }: z.output<typeof RunUpdate>): string {
  return error == null ? "" : excerpt(error, error.length);
}

function factsOf({ status }: z.output<typeof RunUpdate>): PhaseEvent[] {
  if (status === "running") return [{ phase: "agent_responding", outcome: "started", metadata: { reported: true } }];
  if (status === "completed")
    return [{ phase: "response_received", outcome: "succeeded", metadata: { callback: true } }];
  return [{ phase: "response_received", outcome: "failed", metadata: { failure_code: "agent_reported_failure" } }];
}
