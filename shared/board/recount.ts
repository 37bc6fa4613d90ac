import { sql } from "drizzle-orm";
import * as z from "zod";
import { DOMAINS } from "../catalogue/domains.ts";
import { write } from "../db/change.ts";
import { isAmong, type Piece } from "../db/pieces.ts";
import {
  agents,
  board_counts,
  board_entries,
  board_moves,
  board_recounts,
  board_spread,
  PERIODS,
} from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { addTo, COUNTS, SPREAD_LOCK, spreadOf } from "./spread.ts";

/** How many agents one piece counts, with their entries on all boards, and how many counts of a former recount one deletes. */
const AGENTS = 1000;
const OLD_COUNTS = 20_000;

/** Every board, in the order in which they are held against what was counted. */
const BOARDS = ["all", ...DOMAINS].flatMap((domain) => PERIODS.map((period) => ({ domain, period })));

/** Before every agent, and after every one: all are counted. */
const START = "00000000-0000-0000-0000-000000000000";
const END = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Where a piece begins: to count the agents after one, or to compare a board. */
const CURSOR = /^(?:after (\S+)|board (\d+))$/;

/**
 * Recounts the spread of all boards, and puts right what differs, which nothing but a fault makes: it says so in the log.
 * A piece counts the entries of the next 1,000 agents, on every board, as far as the spread has them: without the moves of
 * theirs that are not folded yet. What is folded later of agents that are counted `foldMoves` adds, so that the counts are
 * those of the spread at any time, whatever moves between pieces. In the end each board is a piece. Where two recount at
 * once, both go on from where the counting is.
 */
export async function recount(ctx: Context, cursor: string | null): Promise<Piece> {
  const [, agent, board] = CURSOR.exec(cursor ?? "") ?? [];
  if (agent !== undefined) return { next: cursorAt(await countAfter(ctx, agent)) };
  if (board !== undefined) return compare(ctx, Number(board));
  return { next: await begin(ctx) };
}

/** The cursor where all up to an agent are counted; null where nothing is being counted. */
function cursorAt(counted: string | null): string {
  if (counted === null) return "begin";
  return counted === END ? "board 0" : `after ${counted}`;
}

/** Deletes what a former recount left, and begins to count once nothing is left. */
async function begin(ctx: Context): Promise<string> {
  const deleted = await write(ctx, {
    lock: SPREAD_LOCK,
    parts: sql`with stopped as (delete from ${board_recounts}), deleted as (
      delete from ${board_counts} where ${isAmong(sql`select ctid from ${board_counts} limit ${OLD_COUNTS}`)} returning 1
    )`,
    select: sql`select to_jsonb(count(*)) from deleted`,
    result: z.int(),
  });
  if (deleted === OLD_COUNTS) return cursorAt(null);
  await write(ctx, {
    lock: SPREAD_LOCK,
    parts: sql`with begun as (
      insert into ${board_recounts} (counted_to) select ${START}::uuid where not exists (select from ${board_counts})
      on conflict do nothing
    )`,
    select: sql`select null::jsonb`,
    result: z.null(),
  });
  return cursorAt(START);
}

/** Counts the next agents after one; returns up to which all are counted, null where nothing is being counted. */
async function countAfter(ctx: Context, agent: string): Promise<string | null> {
  // The agent stands in each condition by itself, so that indexes find what comes after it.
  const isNext = sql`exists (select from ${board_recounts} where counted_to = ${agent}::uuid)`;
  return write(ctx, {
    lock: SPREAD_LOCK,
    parts: sql`with next as (
      select id from ${agents} where id > ${agent}::uuid and ${isNext} order by id limit ${AGENTS}
    ), reached as (
      select case when count(*) = ${AGENTS} then max(id::text) else ${END} end::uuid as id from next
    ), rows as (
      select domain, period, (composite_score * 100)::integer as score, (score_low * 100)::integer as low,
        (score_high * 100)::integer as high, 1 as listed, verified::integer as verified
      from ${board_entries} where agent_id = any (array(select id from next)) and listed and tier = 0
      union all select m.domain, m.period, m.score, m.low, m.high, -m.listed, -m.verified
      from ${board_moves} m join reached r on m.agent_id <= r.id where m.agent_id > ${agent}::uuid and ${isNext}
    ), counted as (${addTo(board_counts, spreadOf(sql`select * from rows`))}
    ), moved as (
      update ${board_recounts} c set counted_to = r.id from reached r where c.counted_to = ${agent}::uuid
      returning c.counted_to
    )`,
    select: sql`select to_jsonb(coalesce((select counted_to from moved), (select counted_to from ${board_recounts})))`,
    result: z.uuid(),
  });
}

const Compared = z.object({ counted: z.string().nullable(), differed: z.int() });

/** Holds the spread of a board against what was counted of it, and ends the recount after the last one. */
async function compare(ctx: Context, at: number): Promise<Piece> {
  const board = BOARDS[at];
  if (board === undefined) return { next: null };
  const isLast = at + 1 === BOARDS.length;
  const own = sql`domain = ${board.domain} and period = ${board.period}`;
  const key = sql`domain, period, grain, place`;
  const compared = await write(ctx, {
    lock: SPREAD_LOCK,
    parts: sql`with wrong as (
      select * from (
        select ${key}, ${sum} from (
          select * from ${board_counts} where ${own} union all select ${key}, ${minus} from ${board_spread} where ${own}
        ) x group by ${key}
      ) x where (${sql.join(COUNTS, sql`, `)}) <> (0, 0, 0, 0, 0)
        and exists (select from ${board_recounts} where counted_to = ${END}::uuid)
    ), mended as (${addTo(board_spread, sql`select * from wrong`)}
    ), ended as (delete from ${board_recounts} where ${isLast} and counted_to = ${END}::uuid)`,
    select: sql`select jsonb_build_object('counted', (select counted_to from ${board_recounts}),
      'differed', (select count(*) from wrong))`,
    result: Compared,
  });
  if (compared?.counted !== END) return { next: cursorAt(compared?.counted ?? null) };
  if (compared.differed > 0) {
    ctx.log.error("the spread of a board was wrong", { ...board, places: compared.differed });
    ctx.cache.invalidate("board");
  }
  return { next: isLast ? null : `board ${at + 1}` };
}

const sum = sql.join(
  COUNTS.map((name) => sql`sum(${name}) as ${name}`),
  sql`, `,
);
const minus = sql.join(
  COUNTS.map((name) => sql`-${name}`),
  sql`, `,
);
