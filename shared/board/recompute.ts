import { type SQL, sql } from "drizzle-orm";
import { DOMAINS } from "../catalogue/schemas.ts";
import type { Piece } from "../db/pieces.ts";
import { task_scores } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { BOARD, CELLS, cells, entries, overwrite, type Sums } from "./aggregates.ts";
import { lockAgents } from "../agents/lock.ts";

/** Agents of one piece: few enough that none of their runs waits long for the lock. */
const SIZE = 200;

/**
 * Sums the cells and board entries of the next 200 agents up anew, after the one that `cursor` names: the entries of runs
 * that have left a period go, and for all others nothing changes, nor is written. Logs for how many agents the entries
 * differed. One read, and one batch under the agents' locks.
 */
export async function recompute(ctx: Context, cursor: string | null): Promise<Piece> {
  const ids = await readJson<string[]>(
    ctx,
    sql`select jsonb_agg(agent_id) as result from (select distinct agent_id from ${task_scores}
      where ${cursor}::uuid is null or agent_id > ${cursor}::uuid order by agent_id limit ${SIZE}) x`,
  );
  const differed = ids === null ? 0 : await sumUp(ctx, ids);
  if (differed > 0) ctx.cache.invalidate("board");
  ctx.log.info("recomputed", { agents: ids?.length ?? 0, differed });
  return { next: ids?.length === SIZE ? (ids.at(-1) ?? null) : null };
}

/** Sums these agents up; returns for how many the entries differed. */
async function sumUp(ctx: Context, ids: readonly string[]): Promise<number> {
  const list = sql`(select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb)::uuid)`;
  const results = await ctx.db.batch([
    ctx.db.execute(lockAgents(list)),
    ctx.db.execute(renew(CELLS, list, cells(sql`r.agent_id in ${list}`, ctx.now()))),
    ctx.db.execute<{ differed: number }>(renew(BOARD, list, entries(sql`s.agent_id in ${list}`, ["all", ...DOMAINS]))),
  ]);
  return results[2].rows[0]?.differed ?? 0;
}

/**
 * SQL: makes the rows of the agents in `list` what `fresh` yields, and touches none that is so already. One row: for how
 * many agents what is shown of them `differed`.
 */
function renew({ table, key, values, shown }: Sums, list: SQL, fresh: SQL): SQL {
  const [keys, all] = [sql.raw(key), sql.raw(`${key}, ${values}`)];
  const of = (row: string, columns: string) =>
    sql.raw(
      `(${columns
        .split(", ")
        .map((name) => `${row}.${name}`)
        .join(", ")})`,
    );
  return sql`with fresh as materialized (select ${all} from (${fresh}) x), gone as (
    delete from ${table} o where o.agent_id in ${list}
      and not exists (select from fresh f where ${of("f", key)} = ${of("o", key)})
    returning o.agent_id
  ), stored as (
    insert into ${table} (${all})
    select ${all} from fresh f where not exists (select from ${table} o
      where ${of("o", key)} = ${of("f", key)} and ${of("o", values)} is not distinct from ${of("f", values)})
    on conflict (${keys}) do update set ${overwrite(values)}
    returning agent_id, ${of("old", shown)} is distinct from ${of("new", shown)} as differs
  )
  select count(distinct agent_id)::integer as differed
  from (select agent_id from gone union all select agent_id from stored where differs) x`;
}
