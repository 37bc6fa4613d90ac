import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { hasEndpoint } from "../agents/view.ts";
import { monthOf } from "../billing/plans.ts";
import { describeError } from "../db/client.ts";
import type { Piece } from "../db/pieces.ts";
import { agents, allowances, certifications, runs, screening_sessions } from "../db/schema/index.ts";
import { readJson, writeJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { flush } from "../db/outbox.ts";
import { dispatchMessage } from "../runs/messages.ts";
import { issueCredential } from "./credential.ts";
import { lockCertification } from "./lock.ts";
import { keptPlan, ownLeft, payer, reservedJson, reserving } from "./reserve.ts";
import { conclude } from "./verdict.ts";

/** The body of the message that has a certification go on. */
export const CertifyMessage = z.strictObject({ certification_id: z.uuid() });

/**
 * Takes a certification as far as it goes now: reserves what of its plan has no run yet, and again what failed by our
 * fault; gives the verdict once every run is final; signs the credential of one that is certified. Does nothing more
 * however often it is called.
 */
export async function advance(ctx: Context, certificationId: string): Promise<void> {
  const state = await goOn(ctx, certificationId);
  if (state?.status === "screening" && !state.is_running) await conclude(ctx, certificationId);
  await issueCredential(ctx, certificationId);
}

interface State {
  status: "screening" | "paused_quota";
  is_running: boolean;
  runs: { id: string; agent_id: string }[];
}

/** Reserves what can be reserved; null for a certification that is not being screened. */
async function goOn(ctx: Context, certificationId: string): Promise<State | null> {
  const ctes = sql`with target as (
    select c.id as certification_id, c.screening_session_id as session_id, c.agent_id, c.user_id as buyer_id,
      c.runs_included
    from ${certifications} c where c.id = ${certificationId}::uuid and c.status in ('screening', 'paused_quota')
  ), ${keptPlan}, ${reserving(ctx)}, reopened as (
    update ${screening_sessions} s set finished_at = null from target x where s.id = x.session_id
      and exists (select from reserved)
  ), moved as (
    update ${certifications} c set status = o.status, paused_reason = o.paused_reason,
      updated_at = ${ctx.now().toISOString()}::timestamptz
    from outcome o where c.id = o.certification_id
  )`;
  const result = sql`select (select jsonb_build_object('status', o.status, 'runs', ${reservedJson},
    'is_running', exists (select from reserved) or exists (select from ${runs} r
      where r.screening_session_id = o.session_id and r.status in ('queued', 'running'))) from outcome o) as result`;
  const state = await writeJson<State | null>(ctx, ctes, result, lockCertification(certificationId));
  if (state !== null) ctx.defer(() => flush(ctx, state.runs.map(dispatchMessage)));
  return state;
}

/** Most certifications that the minute's trigger takes up, and those that one piece of the day's work does. */
const RESUMED = 50;
const RESCUED = 5;

/**
 * Goes on with paused certifications whose agent is live and that have some allowance left again, their own or their
 * account's, those first that have waited longest. At most 50 a call; one that fails holds no other up.
 */
export async function resumeCertifications(ctx: Context): Promise<void> {
  const ids = await idsOf(
    ctx,
    sql`c.status = 'paused_quota' and ${hasEndpoint}
      and (${ownLeft(sql`c.runs_included`, sql`c.screening_session_id`)} > 0 or coalesce((select w.used from ${allowances} w
        where w.kind = ${payer.kind} and w.owner = ${payer.owner} and w.period = ${monthOf(ctx.now())}), 0) < ${payer.limit})
      order by c.updated_at limit ${RESUMED}`,
  );
  await advanceEach(ctx, ids);
}

/**
 * Goes on with the first 5 certifications after the one that `cursor` names whose message was lost for good: finished
 * without a verdict, or without a credential. One that fails holds no other up.
 */
export async function rescueCertifications(ctx: Context, cursor: string | null): Promise<Piece> {
  const ids = await idsOf(
    ctx,
    sql`((c.status = 'certified' and c.jws is null) or (c.status = 'screening' and not exists (select from ${runs} r
      where r.screening_session_id = c.screening_session_id and r.status in ('queued', 'running'))))
      and (${cursor}::uuid is null or c.id > ${cursor}::uuid) order by c.id limit ${RESCUED}`,
  );
  const failure = await advanceEach(ctx, ids);
  return { next: ids.length < RESCUED ? null : (ids.at(-1) ?? null), failure };
}

/** The ids of the certifications `c` of agents `a` that `rest`, a condition with an order and a limit, names. */
async function idsOf(ctx: Context, rest: SQL): Promise<string[]> {
  const ids = await readJson<string[]>(
    ctx,
    sql`select jsonb_agg(id) as result from (
      select c.id from ${certifications} c join ${agents} a on a.id = c.agent_id where ${rest}) x`,
  );
  return ids ?? [];
}

/** Takes each as far as it goes; returns what the last one that failed threw. */
async function advanceEach(ctx: Context, ids: readonly string[]): Promise<unknown> {
  let failure: unknown;
  for (const id of ids) {
    try {
      await advance(ctx, id);
    } catch (error) {
      failure = error;
      ctx.log.error("certification does not go on", { certification_id: id, detail: describeError(error) });
    }
  }
  return failure;
}
