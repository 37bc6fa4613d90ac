import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { isAmong } from "../db/pieces.ts";
import { board_counts, board_moves, board_recounts, board_spread } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";

/**
 * The most moves that one statement folds, what some thousand runs that end in a minute make, and how many such statements one
 * call sends at most.
 */
const MOVES = 20_000;
const MAX_PIECES = 10;

/** Held by who folds and who recounts, so that a recount knows of each move whether the spread has it. */
export const SPREAD_LOCK = sql`select pg_advisory_xact_lock(hashtextextended('board spread', 0))`;

export const COUNTS = ["scores", "lows", "highs", "verified_lows", "verified_highs"].map((name) =>
  sql.identifier(name),
);

/** SQL: what moves (a query of rows as in `board_moves`) add up to, as rows of `board_spread` that are not all 0. */
export function spreadOf(moves: SQL): SQL {
  return sql`select * from (
    select m.domain, m.period, g.grain, x.at / g.grain as place, sum(x.score * m.listed) as scores,
      sum(x.low * m.listed) as lows, sum(x.high * m.listed) as highs, sum(x.low * m.verified) as verified_lows,
      sum(x.high * m.verified) as verified_highs
    from (${moves}) m cross join (values (1), (20), (400)) g (grain)
      cross join lateral (values (m.score, 1, 0, 0), (m.low, 0, 1, 0), (m.high, 0, 0, 1)) x (at, score, low, high)
    group by m.domain, m.period, g.grain, x.at / g.grain
  ) x where (${sql.join(COUNTS, sql`, `)}) <> (0, 0, 0, 0, 0)`;
}

/**
 * SQL: adds rows to the spread, or to what a recount has of it, in the order of the key, so that two statements lock rows in
 * the same order.
 */
export function addTo(table: typeof board_spread | typeof board_counts, rows: SQL): SQL {
  const added = COUNTS.map((name) => sql`${name} = s.${name} + excluded.${name}`);
  return sql`insert into ${table} as s select * from (${rows}) x order by domain, period, grain, place
    on conflict (domain, period, grain, place) do update set ${sql.join(added, sql`, `)}`;
}

/**
 * Folds what has moved on the boards into their spread, at most 200,000 moves a call, piece by piece. Readers add both up, so
 * that folding changes no number; it only keeps what they add up short, also where the nightly work, or the end of an account,
 * has moved more than a statement folds.
 */
export async function foldMoves(ctx: Context): Promise<void> {
  for (let piece = 0; piece < MAX_PIECES; piece += 1) if ((await foldPiece(ctx)) < MOVES) return;
}

/** Folds the oldest moves; those of agents that a recount has counted already are its, too. Returns how many there were. */
async function foldPiece(ctx: Context): Promise<number> {
  const folded = await write(ctx, {
    lock: SPREAD_LOCK,
    parts: sql`with taken as (
      delete from ${board_moves} where ${isAmong(
        sql`select ctid from ${board_moves} order by id limit ${MOVES} for update skip locked`,
      )} returning *
    ), folded as (${addTo(board_spread, spreadOf(sql`select * from taken`))}
    ), counted as (${addTo(
      board_counts,
      spreadOf(sql`select t.* from taken t join ${board_recounts} r on t.agent_id <= r.counted_to`),
    )})`,
    select: sql`select to_jsonb(count(*)) from taken`,
    result: z.int(),
  });
  return folded ?? 0;
}
