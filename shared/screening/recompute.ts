import { type SQL, sql } from "drizzle-orm";
import { DOMAINS } from "../catalogue/schemas.ts";
import { agents, board_entries, task_scores, tasks } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { storeCells, storeEntries } from "./aggregates.ts";

const CHUNK = 50;

/**
 * Sums all cells and board entries up anew, agent by agent: the entries of runs that have left a period go, and for all
 * others nothing changes. Returns and logs for how many agents the entries differed. Works in chunks, each one batch under the agents' locks.
 */
export async function recompute(ctx: Context): Promise<number> {
  let differed = 0;
  for (let last: string | null = null; ; ) {
    const { rows }: { rows: { agent_id: string }[] } = await ctx.db.execute<{ agent_id: string }>(
      sql`select distinct agent_id from ${task_scores} where agent_id > coalesce(${last}::uuid, '00000000-0000-0000-0000-000000000000')
        order by agent_id limit ${CHUNK}`,
    );
    for (const { agent_id } of rows) differed += await recomputeAgent(ctx, agent_id);
    last = rows.at(-1)?.agent_id ?? null;
    if (rows.length < CHUNK) break;
  }
  if (differed > 0) ctx.cache.invalidate("board");
  ctx.log.info("recomputed", { differed });
  return differed;
}

async function recomputeAgent(ctx: Context, agentId: string): Promise<number> {
  const now = ctx.now();
  const shown: SQL = sql`select jsonb_agg(jsonb_build_array(domain, period, tier, composite_score, runs, tasks)
    order by domain, period)::text as entries from ${board_entries} where agent_id = ${agentId}::uuid`;
  const results = await ctx.db.batch([
    ctx.db.execute(sql`select from ${agents} where id = ${agentId}::uuid for no key update`),
    ctx.db.execute<{ entries: string | null }>(shown),
    ctx.db.execute(sql`delete from ${task_scores} where agent_id = ${agentId}::uuid`),
    ctx.db.execute(storeCells(agentId, null, now)),
    ctx.db.execute(sql`delete from ${board_entries} b where agent_id = ${agentId}::uuid
      and not exists (select from ${task_scores} s join ${tasks} t on t.id = s.task_id
        where s.agent_id = b.agent_id and s.period = b.period and b.domain in ('all', t.domain))`),
    ctx.db.execute(storeEntries(agentId, ["all", ...DOMAINS])),
    ctx.db.execute<{ entries: string | null }>(shown),
  ]);
  return results[1].rows[0]?.entries === results[6].rows[0]?.entries ? 0 : 1;
}
