import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { hasEndpoint } from "../agents/conditions.ts";
import { read } from "../db/change.ts";
import { describeError } from "../db/client.ts";
import type { Piece } from "../db/pieces.ts";
import { agents, allowances, certifications, isOpenRun, runs } from "../db/schema/index.ts";
import { monthOf } from "../plans/plans.ts";
import type { Context } from "../platform/context.ts";
import { advance } from "./advance.ts";
import { includedLeft, payerAt } from "./reserve.ts";

/** How many certifications one call resumes, and how many one rescues. */
const RESUME_SIZE = 50;
const RESCUE_SIZE = 5;

/**
 * Advances paused certifications whose agent can be called and that have some allowance left again, their own or their
 * account's: at most 50 a call, those that have waited longest first. One that fails does not hold up the others.
 */
export async function resumeCertifications(ctx: Context): Promise<void> {
  const payer = payerAt(ctx.now());
  const ids = await findIds(
    ctx,
    sql`c.status = 'paused_quota' and ${hasEndpoint}
      and (${includedLeft(sql`c.runs_included`, sql`c.screening_session_id`)} > 0
        or coalesce((select w.used from ${allowances} w where w.kind = ${payer.kind} and w.owner = ${payer.owner}
          and w.period = ${monthOf(ctx.now())}), 0) < ${payer.limit})
      order by c.updated_at limit ${RESUME_SIZE}`,
  );
  await advanceEach(ctx, ids);
}

/**
 * Advances certifications whose runs are all final but that have no verdict, since runs that failed by our fault are to be
 * repeated, or their message was lost for good; and those that are certified but have no credential. Takes the first 5 after the one that `cursor` names. One that fails does not hold
 * up the others.
 */
export async function rescueCertifications(ctx: Context, cursor: string | null): Promise<Piece> {
  const ids = await findIds(
    ctx,
    sql`((c.status = 'certified' and c.jws is null) or (c.status = 'screening' and not exists (select from ${runs} r
      where r.screening_session_id = c.screening_session_id and ${isOpenRun(sql`r.status`)})))
      and (${cursor}::uuid is null or c.id > ${cursor}::uuid) order by c.id limit ${RESCUE_SIZE}`,
  );
  const failure = await advanceEach(ctx, ids);
  return { next: ids.length < RESCUE_SIZE ? null : (ids.at(-1) ?? null), failure };
}

/** The ids of the certifications `c` of agents `a` that `rest` selects: a condition, an order and a limit. */
async function findIds(ctx: Context, rest: SQL): Promise<string[]> {
  const ids = await read(
    ctx,
    z.array(z.uuid()),
    sql`select jsonb_agg(id) as result from (
      select c.id from ${certifications} c join ${agents} a on a.id = c.agent_id where ${rest}) x`,
  );
  return ids ?? [];
}

/** Advances one after the other; returns what the last one that failed threw. */
async function advanceEach(ctx: Context, ids: readonly string[]): Promise<unknown> {
  let failure: unknown;
  for (const id of ids) {
    try {
      await advance(ctx, id);
    } catch (error) {
      failure = error;
      ctx.log.error("certification does not advance", { certification_id: id, detail: describeError(error) });
    }
  }
  return failure;
}
