import { type SQL, sql } from "drizzle-orm";
import { giveBackAllowance } from "../billing/allowances.ts";
import { outbox, runs } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { flush, hand } from "../db/outbox.ts";
import { MESSAGE, owed } from "../db/owed.ts";
import type { Message } from "../platform/message.ts";
import { AFTER_END, afterEnd } from "./after-end.ts";
import { lockAgents } from "../agents/lock.ts";
import { appendPhases } from "./phases.ts";
import { mayCancel, mayRun, type RunRow, runJson, runsWithAgents, visibleRun } from "./view.ts";

/** How often a run is taken up before it is given up as our fault. */
const MAX_ATTEMPTS = 5;

/**
 * SQL: the parts `ended` and `afterEnd`'s of a statement that cancels the queued runs within `scope` (a condition over runs
 * `r`) and gives their allowance back. Running ones go on: what an agent was asked for counts, however it ends.
 */
export function cancelling(scope: SQL, now: Date): SQL {
  return sql`ended as (
      update ${runs} r set status = 'cancelled', finalized_at = ${now.toISOString()}::timestamptz
      where ${scope} and r.status = 'queued' returning r.*
    ), refunded as (${giveBackAllowance(sql`select paid_kind, paid_owner, paid_period from ended`)}
    ), dropped as (
      delete from ${outbox} o using ended e where o.id = e.id and o.consumer = 'dispatch'
    ), ${afterEnd("ended", now)}`;
}

/**
 * Cancels a queued run, and its allowance comes back; a final run stays as it is. Throws 404 for a run that is not
 * visible, `forbidden` without the right, `run_in_progress` once the run was taken up: it then ends by its deadline.
 */
export async function cancelRun(ctx: Context, principal: UserPrincipal, runId: string): Promise<RunRow> {
  const viewer = principal.userId;
  const now = ctx.now();
  const result = await endJson<{ allowed: boolean; run: RunRow; messages: Message[] }>(
    ctx,
    sql`r.id = ${runId}::uuid`,
    sql`with target as (
      select r.id, ${mayRun("see", viewer)} as owned,
        ${mayCancel(viewer)} as allowed
      from ${runsWithAgents(sql`${runs}`)}
      where r.id = ${runId}::uuid and ${visibleRun(viewer)}
    ), ${cancelling(sql`r.id in (select id from target where allowed)`, now)}, now_run as (
      select * from ended union all select r.* from ${runs} r join target x on x.id = r.id where not exists (select from ended)
    )
    select jsonb_build_object('allowed', x.allowed, 'run', ${runJson(sql`x.owned`)},
      'messages', ${owed(...AFTER_END)}) as result
    from target x join now_run r on r.id = x.id`,
  );
  if (result === null) throw notFound("run");
  if (!result.allowed) throw new Problem("forbidden", "Only who may run the agent may cancel its runs.");
  // Queued still in what this statement saw: it was taken up at the same moment.
  if (result.run.status === "running" || result.run.status === "queued") {
    throw new Problem(
      "run_in_progress",
      "The run was taken up, and can't be cancelled any more. It ends by its deadline.",
    );
  }
  ctx.defer(() => flush(ctx, result.messages));
  return result.run;
}

/**
 * Runs one statement that makes runs within `scope` (a condition over runs `r`) final, under the lock of their agents.
 * Returns the column `result` (JSON) of its row; null without a row. One round trip.
 */
async function endJson<T>(ctx: Context, scope: SQL, statement: SQL): Promise<T | null> {
  const [, { rows }] = await ctx.db.batch([
    ctx.db.execute(lockAgents(sql`select r.agent_id from ${runs} r where ${scope}`)),
    ctx.db.execute<{ result: T }>(statement),
  ]);
  return rows[0]?.result ?? null;
}

/** Ends the wait for a callback that did not come before the deadline, and has the run scored as the agent's failure. */
export async function expire(ctx: Context, runId: string): Promise<void> {
  const message = await readJson<Message>(
    ctx,
    sql`with taken as (delete from ${outbox} where consumer = 'expire' and id = ${runId}::uuid), ${lapse(ctx, sql`r.id = ${runId}::uuid`)}
    select to_jsonb(owed) as result from owed`,
  );
  if (message !== null) ctx.defer(() => hand(ctx, message));
}

/** SQL: the parts `lapsed`, `late` and `owed` of a statement that fails running runs whose callback did not come. */
function lapse(ctx: Context, scope: SQL): SQL {
  const now = ctx.now();
  return sql`lapsed as (
      update ${runs} r set answered_at = ${now.toISOString()}::timestamptz, awaiting_callback = false, callback_hash = null,
        lease_expires_at = null, failure_code = 'agent_timeout', failure_detail = 'No callback came before the deadline.'
      where ${scope} and r.status = 'running' and r.awaiting_callback and r.answered_at is null
        and r.deadline_at <= ${now.toISOString()}::timestamptz
      returning r.id, r.attempt
    ), late as (
      ${appendPhases(
        sql`select id from lapsed`,
        [{ phase: "response_received", outcome: "failed", metadata: { failure_code: "agent_timeout" } }],
        now,
      )}
    ), owed as (
      insert into ${outbox} (consumer, id, generation, body)
      select 'score', id, attempt, jsonb_build_object('run_id', id) from lapsed
      on conflict (consumer, id) do nothing returning ${MESSAGE}
    )`;
}

const REAP_SIZE = 200;

/**
 * Finds running runs whose holder is gone: those that wait for a callback past their deadline fail as the agent's, others
 * are freed to be taken up again, or given up as our fault after five attempts. At most 200 a call; returns how many.
 */
export async function reap(ctx: Context): Promise<number> {
  const now = ctx.now();
  const expired = sql`r.status = 'running' and r.lease_expires_at < now()`;
  const hopeless = sql`not r.awaiting_callback and r.attempt >= ${MAX_ATTEMPTS}`;
  const reaped = await endJson<{ runs: number; messages: Message[] }>(
    ctx,
    sql`${expired} and ${hopeless}`,
    sql`with expired as (
      select r.id from ${runs} r
      where ${expired}
      order by r.lease_expires_at limit ${REAP_SIZE} for update skip locked
    ), ${lapse(ctx, sql`r.id in (select id from expired)`)},
    again as (
      update ${runs} r set lease_token = null, lease_expires_at = null, callback_hash = null,
        answered_at = null, latency_ms = null, failure_code = null, failure_detail = null
      from expired x where r.id = x.id and not r.awaiting_callback and r.attempt < ${MAX_ATTEMPTS} and r.status = 'running'
      returning r.id, r.attempt, r.agent_id
    ), resent as (
      insert into ${outbox} (consumer, id, generation, body, flow_key)
      select 'dispatch', id, attempt, jsonb_build_object('run_id', id), agent_id::text from again
      on conflict (consumer, id) do update set generation = excluded.generation, due_at = excluded.due_at
      returning ${MESSAGE}
    ), given_up as (${giveUp(ctx, sql`r.id in (select id from expired) and ${hopeless}`)}
    ), refunded as (${giveBackAllowance(sql`select paid_kind, paid_owner, paid_period from given_up`)}
    ), ${afterEnd("given_up", now)}
    select jsonb_build_object('runs', (select count(*) from expired),
      'messages', ${owed("resent", "owed", ...AFTER_END)}) as result`,
  );
  if (reaped === null || reaped.runs === 0) return 0;
  ctx.log.info("reaped", { runs: reaped.runs, at: now.toISOString() });
  await flush(ctx, reaped.messages);
  return reaped.runs;
}

/** SQL: ends runs that are not final as our fault. */
function giveUp(ctx: Context, scope: SQL): SQL {
  return sql`update ${runs} r set status = 'failed', failure_code = 'service_error', callback_hash = null, lease_token = null,
      failure_detail = 'The run could not be carried out on our side. It is not held against the agent, and its allowance is given back.',
      lease_expires_at = null, awaiting_callback = false, finalized_at = ${ctx.now().toISOString()}::timestamptz
    where ${scope} and r.status in ('queued', 'running') returning r.*`;
}

/** Ends a run whose message failed for the last time as our fault, and gives its allowance back. */
export async function abandon(ctx: Context, runId: string): Promise<void> {
  const scope = sql`r.id = ${runId}::uuid`;
  const messages = await endJson<Message[]>(
    ctx,
    scope,
    sql`with given_up as (${giveUp(ctx, scope)}
    ), dropped as (
      delete from ${outbox} where id = ${runId}::uuid and consumer in ('dispatch', 'score', 'expire')
    ), refunded as (${giveBackAllowance(sql`select paid_kind, paid_owner, paid_period from given_up`)}
    ), ${afterEnd("given_up", ctx.now())}
    select ${owed(...AFTER_END)} as result`,
  );
  ctx.defer(() => flush(ctx, messages ?? []));
}
