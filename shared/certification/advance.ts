import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { hasEndpoint } from "../agents/view.ts";
import { monthOf } from "../billing/plans.ts";
import { agents, allowances, certifications, runs, screening_sessions } from "../db/schema/index.ts";
import { readJson, writeJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { flush } from "../queue/outbox.ts";
import { dispatchMessage } from "../screening/messages.ts";
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

/** Most certifications that one trigger takes up. */
const PIECE = 50;

/**
 * Goes on with paused certifications whose agent is live and that have some allowance left again, their own or their
 * account's, those first that have waited longest. At most 50 a call; returns how many were tried.
 */
export function resumeCertifications(ctx: Context): Promise<number> {
  return advanceThose(
    ctx,
    sql`c.status = 'paused_quota' and ${hasEndpoint}
      and (${ownLeft(sql`c.runs_included`, sql`c.screening_session_id`)} > 0 or coalesce((select w.used from ${allowances} w
        where w.kind = ${payer.kind} and w.owner = ${payer.owner} and w.period = ${monthOf(ctx.now())}), 0) < ${payer.limit})`,
  );
}

/** Goes on with certifications whose message was lost for good: finished without a verdict, or without a credential. */
export function rescueCertifications(ctx: Context): Promise<number> {
  return advanceThose(
    ctx,
    sql`(c.status = 'certified' and c.jws is null) or (c.status = 'screening' and not exists (select from ${runs} r
      where r.screening_session_id = c.screening_session_id and r.status in ('queued', 'running')))`,
  );
}

async function advanceThose(ctx: Context, condition: SQL): Promise<number> {
  const ids = await readJson<string[]>(
    ctx,
    sql`select jsonb_agg(id) as result from (
      select c.id from ${certifications} c join ${agents} a on a.id = c.agent_id
      where ${condition} order by c.updated_at limit ${PIECE}) x`,
  );
  for (const id of ids ?? []) await advance(ctx, id);
  return ids?.length ?? 0;
}
