import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { hasEndpoint } from "../agents/conditions.ts";
import { read, write } from "../db/change.ts";
import { describeError } from "../db/client.ts";
import { cursorOf, FIRST, goOnBehind } from "../db/cursors.ts";
import type { Piece } from "../db/pieces.ts";
import { agents, allowances, certifications, isOpenRun, isUnfinished, runs } from "../db/schema/index.ts";
import { monthOf } from "../plans/plans.ts";
import type { Context } from "../platform/context.ts";
import { advance } from "./advance.ts";
import { includedLeft, payerAt } from "./reserve.ts";

/** How many certifications one call looks at, how many of them one resumes, and how many one rescues. */
const LOOKED_AT = 500;
const RESUME_SIZE = 50;
const RESCUE_SIZE = 5;

/** The name under which it is kept where the next call goes on. */
const RESUMING = "resume certifications";

/**
 * Advances paused certifications whose agent can be called and that have some allowance left again, their own or their
 * account's: at most 50 a call, of the next 500 behind those that the call before looked at. One that fails does not hold up
 * the others.
 */
export async function resumeCertifications(ctx: Context): Promise<void> {
  const payer = payerAt(ctx.now());
  const canGoOn = sql`${hasEndpoint} and (${includedLeft(sql`c.runs_included`, sql`c.screening_session_id`)} > 0
    or coalesce((select w.used from ${allowances} w where w.kind = ${payer.kind} and w.owner = ${payer.owner}
      and w.period = ${monthOf(ctx.now())}), 0) < ${payer.limit})`;
  const ids = await write(ctx, {
    parts: sql`with ${looking(sql`c.status = 'paused_quota'`, cursorOf(RESUMING), canGoOn, RESUME_SIZE)}, place as (
      ${goOnBehind(RESUMING, sql`select id from next`)}
    )`,
    select: sql`select jsonb_agg(id) from taken`,
    result: z.array(z.uuid()),
  });
  await advanceEach(ctx, ids ?? []);
}

const Taken = z.object({ ids: z.array(z.uuid()), next: z.uuid().nullable() });

/**
 * Advances certifications whose runs are all final but that have no verdict, since runs that failed by our fault are to be
 * repeated, or their message was lost for good; and those that are certified but have no credential. Takes the first 5 of the
 * next 500 after the one that `cursor` names. One that fails does not hold up the others.
 */
export async function rescueCertifications(ctx: Context, cursor: string | null): Promise<Piece> {
  const isStuck = sql`(c.status = 'certified' or not exists (select from ${runs} r
    where r.screening_session_id = c.screening_session_id and ${isOpenRun(sql`r.status`)}))`;
  const unfinished = isUnfinished({ status: sql`c.status`, jws: sql`c.jws` });
  const after = sql`coalesce(${cursor}::uuid, ${FIRST})`;
  const taken = await read(
    ctx,
    Taken,
    sql`with ${looking(unfinished, after, isStuck, RESCUE_SIZE)}
      select jsonb_build_object('ids', (select coalesce(jsonb_agg(id), '[]') from taken), 'next', (select id from next)) as result`,
  );
  const failure = await advanceEach(ctx, taken?.ids ?? []);
  return { next: taken?.next ?? null, failure };
}

/**
 * SQL: the parts `taken`, the first `size` certifications `c` of agents `a` behind the id `after` for which `condition` holds, and
 * `next`, behind which it is to be gone on. At most LOOKED_AT of the `candidates` are judged, found by the index on their ids.
 */
function looking(candidates: SQL, after: SQL, condition: SQL, size: number): SQL {
  return sql`looked as materialized (
    select c.id, ${condition} as holds from (
      select c.* from ${certifications} c where ${candidates} and c.id > ${after} order by c.id limit ${LOOKED_AT}
    ) c cross join lateral (select * from ${agents} where id = c.agent_id limit 1) a
  ), taken as materialized (
    select id from looked where holds order by id limit ${size}
  ), next as (
    select coalesce((select id from taken order by id offset ${size - 1}), (select id from looked order by id offset ${LOOKED_AT - 1})) as id
  )`;
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
