import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { idsOf } from "../db/ids.ts";
import { lockAgents } from "../agents/lock.ts";
import { DOMAINS } from "../catalogue/domains.ts";
import { read } from "../db/change.ts";
import { type FirstRow, narrowing } from "../db/narrowing.ts";
import type { Piece } from "../db/pieces.ts";
import { run_tallies, task_scores } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { type Aggregate, BOARD, CELLS, cells, entries, overwrite } from "./aggregates.ts";
import { GAPS, gaps } from "./gaps.ts";

/** How many agents one piece recomputes at most: few enough that none of their runs waits long for the lock. */
const SIZE = 200;

/** How many cells one piece recomputes, those of its last agent aside: about a second's work of a small database. */
const CELLS_AT_ONCE = 5000;

/** How many parts of all agents are recomputed side by side. */
export const PARTS = 4;

const Next = z.object({ ids: z.array(z.string()), goes_on: z.boolean() });
const Changed = z.tuple([z.object({ differed: z.number() })]);

/**
 * Recomputes the cells, board entries and memorisation gaps of the next agents of a part, one of `PARTS` counted from 0,
 * after the one whose id is `cursor`, 200 at most, fewer where they have many cells: entries whose runs have left a period
 * are deleted, and unchanged ones are not written. Logs for how many agents the entries differed. An agent that the database
 * refuses is stepped over. One read, and one batch under the agents' locks.
 */
export function recompute(ctx: Context, part: number, cursor: string | null): Promise<Piece> {
  return narrowing(ctx, cursor, {
    size: SIZE,
    work: (after, size) => recomputeNext(ctx, part, after, size),
    first: (after) => firstAgent(ctx, part, after),
  });
}

/**
 * SQL: whether the cell is of an agent of the part after this one. The last byte of an id is a random one, unlike its first,
 * which tell the time.
 */
function isAfter(agent: SQL, part: number): SQL {
  return sql`agent_id > ${agent} and get_byte(uuid_send(agent_id), 15) % ${PARTS} = ${part}`;
}

/** SQL: the id of this agent, or one before all. */
function idOf(agent: string | null): SQL {
  return sql`coalesce(${agent}::uuid, '00000000-0000-0000-0000-000000000000')`;
}

async function firstAgent(ctx: Context, part: number, after: string | null): Promise<FirstRow | null> {
  const id = await read(
    ctx,
    z.uuid(),
    sql`select to_jsonb(agent_id) as result from ${task_scores} where ${isAfter(idOf(after), part)}
      order by agent_id limit 1`,
  );
  return id === null ? null : { cursor: id, named: { agent_id: id } };
}

async function recomputeNext(ctx: Context, part: number, after: string | null, size: number): Promise<Piece> {
  const next = await read(
    ctx,
    Next,
    // The agents of so many cells, of which the last one may have more.
    sql`with taken as materialized (
      select distinct agent_id from (
        select agent_id from ${task_scores} where ${isAfter(idOf(after), part)} order by agent_id limit ${CELLS_AT_ONCE}
      ) c order by agent_id limit ${size}
    )
    select jsonb_build_object('ids', coalesce((select jsonb_agg(agent_id order by agent_id) from taken), '[]'),
      'goes_on', exists (select from ${task_scores}
        where ${isAfter(sql`(select agent_id from taken order by agent_id desc limit 1)`, part)})) as result`,
  );
  const ids = next?.ids ?? [];
  if (ids.length === 0) return { next: null };
  const differed = await refresh(ctx, ids);
  if (differed > 0) ctx.cache.invalidate("board");
  ctx.log.info("recomputed", { agents: ids.length, differed });
  return { next: next?.goes_on === true ? (ids.at(-1) ?? null) : null };
}

/** Recomputes the rows of these agents; returns for how many of them the entries differed. */
async function refresh(ctx: Context, ids: readonly string[]): Promise<number> {
  const list = sql`(${idsOf(ids)})`;
  const results = await ctx.db.batch([
    ctx.db.execute(lockAgents(list)),
    ctx.db.execute(replaceRows(CELLS, list, cells(pairsOf(list), ctx.now()))),
    ctx.db.execute(replaceRows(BOARD, list, entries(boardsOf(list)))),
    ctx.db.execute(replaceRows(GAPS, list, gaps(sql`select x.agent_id from ${list} x(agent_id)`))),
  ]);
  const [[entriesDiffered], [gapsDiffered]] = [Changed.parse(results[2].rows), Changed.parse(results[3].rows)];
  return Math.max(entriesDiffered.differed, gapsDiffered.differed);
}

/** SQL: the tasks that each of these agents has a cell of, or final public runs. */
function pairsOf(list: SQL): SQL {
  return sql`select x.* from ${list} l(agent_id) cross join lateral (
      select agent_id, task_id from ${task_scores} where agent_id = l.agent_id
      union select agent_id, task_id from ${run_tallies} where agent_id = l.agent_id and not is_private) x`;
}

/** SQL: every board for each of these agents, as `entries` wants them. */
function boardsOf(list: SQL): SQL {
  const boards = sql`jsonb_array_elements_text(${JSON.stringify(["all", ...DOMAINS])}::jsonb)`;
  return sql`select x.agent_id, b.domain from ${list} x(agent_id) cross join ${boards} b(domain)`;
}

/**
 * SQL: makes the rows of the agents in `list` equal to those that the query `fresh` selects, without touching those that are
 * already equal. Selects one row: for how many agents the shown columns `differed`.
 */
function replaceRows({ table, key, values, shown, order }: Aggregate, list: SQL, fresh: SQL): SQL {
  const [keys, all] = [sql.raw(key), sql.raw(`${key}, ${values}`)];
  const of = (row: string, columns: string) =>
    sql.raw(
      `(${columns
        .split(", ")
        .map((name) => `${row}.${name}`)
        .join(", ")})`,
    );
  // What is stored is read once for both: nearly all of it is as it should be. What is deleted goes in the order of writes.
  return sql`with fresh as materialized (select ${all} from (${fresh}) x), stored as materialized (
    select ${all} from ${table} where agent_id in ${list} order by ${sql.raw(order)}
  ), deleted as (
    delete from ${table} o using stored s
    where ${of("o", key)} = ${of("s", key)} and not exists (select from fresh f where ${of("f", key)} = ${of("s", key)})
    returning o.agent_id
  ), upserted as (
    insert into ${table} (${all})
    select ${all} from fresh f where not exists (select from stored s
      where ${of("s", key)} = ${of("f", key)} and ${of("s", values)} is not distinct from ${of("f", values)})
    order by ${sql.raw(order)}
    on conflict (${keys}) do update set ${overwrite(values)}
    returning agent_id, ${of("old", shown)} is distinct from ${of("new", shown)} as differs
  )
  select count(distinct agent_id)::integer as differed
  from (select agent_id from deleted union all select agent_id from upserted where differs) x`;
}
