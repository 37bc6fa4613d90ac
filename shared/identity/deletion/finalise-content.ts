import { type SQL, sql } from "drizzle-orm";
import { isDeleted } from "../../db/deleted.ts";
import {
  agents,
  certifications,
  outbox,
  run_exchanges,
  runs,
  screening_sessions,
  spans,
  teams,
  users,
} from "../../db/schema/index.ts";
import { readJson } from "../../db/statement.ts";
import type { Context } from "../../platform/context.ts";
import { belongsTo } from "./finalise-view.ts";

/** Runs that one statement removes or strips. */
const CHUNK = 500;

/** How many more statements over a chunk of runs may be sent. */
export interface Budget {
  chunks: number;
}

/**
 * Removes what a closed account leaves, but for public agents' counted runs and their evidence, which it strips of all
 * that only the owner could see. Runs go in chunks; a budget that ends leaves the rest to the next time. Returns
 * whether all is done.
 */
export async function removeContent(ctx: Context, userId: string, budget: Budget): Promise<boolean> {
  const own = belongsTo(userId);
  const kept = sql`(r.counted and a.is_public)`;
  const chunks: SQL[] = [
    sql`with chunk as (
      select r.id from ${runs} r join ${agents} a on a.id = r.agent_id where ${own} and not ${kept} limit ${CHUNK}
    ), messages as (
      delete from ${outbox} o using chunk c where o.id = c.id
    ), done as (
      delete from ${runs} r using chunk c where r.id = c.id returning r.id
    )`,
    sql`with chunk as (
      select r.id from ${runs} r join ${agents} a on a.id = r.agent_id where ${own}
        and (r.explanation is not null or r.failure_detail is not null or r.paid_owner is not null
          or exists (select from ${run_exchanges} e where e.run_id = r.id)) limit ${CHUNK}
    ), exchanges as (
      delete from ${run_exchanges} e using chunk c where e.run_id = c.id
    ), done as (
      update ${runs} r set explanation = null, failure_detail = null, paid_kind = null, paid_owner = null,
        paid_period = null
      from chunk c where r.id = c.id returning r.id
    )`,
    sql`with done as (
      delete from ${spans} s where (s.run_id, s.span_id) in (
        select s.run_id, s.span_id from ${spans} s join ${agents} a on a.id = s.agent_id where ${own} limit ${CHUNK}
      ) returning s.run_id
    )`,
    sql`with done as (
      update ${runs} r set user_id = null
      where r.id in (select id from ${runs} where user_id = ${userId}::uuid limit ${CHUNK}) returning r.id
    )`,
  ];
  for (const chunk of chunks) {
    for (let done = CHUNK; done === CHUNK; budget.chunks -= 1) {
      if (budget.chunks === 0) return false;
      done = (await readJson<number>(ctx, sql`${chunk} select to_jsonb(count(*)) as result from done`)) ?? 0;
    }
  }
  await removeRest(ctx, userId, own);
  return true;
}

/** What is left without runs; at last the mark that there was something to do. */
async function removeRest(ctx: Context, userId: string, own: SQL): Promise<void> {
  // A revoked credential stays revoked: its bit in the status list comes from the row that goes with the agent.
  const idle = sql`${own} and not exists (select from ${runs} r where r.agent_id = a.id)
    and not exists (select from ${certifications} c where c.agent_id = a.id and c.revoked_at is not null)`;
  await ctx.db.batch([
    ctx.db.execute(sql`delete from ${screening_sessions} s using ${agents} a where a.id = s.agent_id and ${own}
      and not exists (select from ${runs} r where r.screening_session_id = s.id)`),
    ctx.db.execute(sql`update ${screening_sessions} set user_id = null where user_id = ${userId}::uuid`),
    ctx.db.execute(
      sql`update ${agents} v set variant_of = null from ${agents} a where a.id = v.variant_of and ${idle}`,
    ),
    ctx.db.execute(sql`delete from ${agents} a where ${idle}`),
    ctx.db.execute(sql`delete from ${teams} t where t.owner_id = ${userId}::uuid
      and not exists (select from ${agents} where team_id = t.id)
      and not exists (select from ${screening_sessions} where team_id = t.id)
      and not exists (select from ${runs} where team_id = t.id)`),
    ctx.db.execute(sql`update ${users} u set deletion_scheduled_for = null
      where u.id = ${userId}::uuid and ${isDeleted}`),
  ]);
}
