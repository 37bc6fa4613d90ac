import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { DOMAINS } from "../catalogue/schemas.ts";
import { write } from "../db/change.ts";
import type { Piece } from "../db/pieces.ts";
import { board_entries, board_moves, board_spread, PERIODS } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";

/** The most moves that one call folds: what some thousand runs that end in a minute make. */
const MOVES = 20_000;

/** Held by who recounts a board, so that no two put the same thing right. */
const RECOUNT = sql`select pg_advisory_xact_lock(hashtextextended('board spread', 0))`;

const COUNTS = ["scores", "lows", "highs", "verified_lows", "verified_highs"].map((name) => sql.identifier(name));

/** SQL: what moves (a query of rows as in `board_moves`) add up to, as rows of `board_spread` that are not all 0. */
function spreadOf(moves: SQL): SQL {
  return sql`select * from (
    select m.domain, m.period, g.grain, x.at / g.grain as place, sum(x.score * m.listed) as scores,
      sum(x.low * m.listed) as lows, sum(x.high * m.listed) as highs, sum(x.low * m.verified) as verified_lows,
      sum(x.high * m.verified) as verified_highs
    from (${moves}) m cross join (values (1), (20), (400)) g (grain)
      cross join lateral (values (m.score, 1, 0, 0), (m.low, 0, 1, 0), (m.high, 0, 0, 1)) x (at, score, low, high)
    group by m.domain, m.period, g.grain, x.at / g.grain
  ) x where (${sql.join(COUNTS, sql`, `)}) <> (0, 0, 0, 0, 0)`;
}

/** SQL: adds rows to the spread, in the order of its key, so that two statements lock its rows in the same order. */
function addToSpread(rows: SQL): SQL {
  const added = COUNTS.map((name) => sql`${name} = s.${name} + excluded.${name}`);
  return sql`insert into ${board_spread} as s select * from (${rows}) x order by domain, period, grain, place
    on conflict (domain, period, grain, place) do update set ${sql.join(added, sql`, `)}`;
}

/**
 * Folds what has moved on the boards into their spread, at most 20,000 moves a call. Readers add both up, so that folding
 * changes no number; it only keeps what they add up short. One statement.
 */
export async function foldMoves(ctx: Context): Promise<void> {
  await write(ctx, {
    parts: sql`with taken as (
      delete from ${board_moves} m where m.id in (
        select id from ${board_moves} order by id limit ${MOVES} for update skip locked) returning m.*
    ), folded as (${addToSpread(spreadOf(sql`select * from taken`))})`,
    select: sql`select to_jsonb(count(*)) from taken`,
    result: z.int(),
  });
}

/** Every board, in the order in which they are recounted. */
const BOARDS = ["all", ...DOMAINS].flatMap((domain) => PERIODS.map((period) => ({ domain, period })));

/**
 * Recounts the spread of the board whose number is `cursor`, and puts right what differs, which nothing but a fault makes:
 * it says so in the log. Counts and what they are held against are of one moment, so that what changes meanwhile is
 * counted once. One batch.
 */
export async function recount(ctx: Context, cursor: string | null): Promise<Piece> {
  const at = Number(cursor ?? 0);
  const board = BOARDS[at];
  if (board === undefined) return { next: null };
  const own = sql`domain = ${board.domain} and period = ${board.period}`;
  const differed = await write(ctx, {
    lock: RECOUNT,
    parts: sql`with actual as (${spreadOf(sql`select domain, period, (composite_score * 100)::integer as score,
        (score_low * 100)::integer as low, (score_high * 100)::integer as high, 1 as listed,
        verified::integer as verified
      from ${board_entries} where ${own} and listed and tier = 0`)}
    ), kept as (
      select domain, period, grain, place, ${sum} from (
        select * from ${board_spread} where ${own}
        union all ${spreadOf(sql`select * from ${board_moves} where ${own}`)}
      ) x group by domain, period, grain, place
    ), wrong as (
      select * from (
        select domain, period, grain, place, ${sum} from (
          select * from actual union all select domain, period, grain, place, ${minus} from kept
        ) x group by domain, period, grain, place
      ) x where (${sql.join(COUNTS, sql`, `)}) <> (0, 0, 0, 0, 0)
    ), mended as (${addToSpread(sql`select * from wrong`)})`,
    select: sql`select to_jsonb(count(*)) from wrong`,
    result: z.int(),
  });
  if (differed !== null && differed > 0) {
    ctx.log.error("the spread of a board was wrong", { ...board, places: differed });
    ctx.cache.invalidate("board");
  }
  return { next: at + 1 < BOARDS.length ? String(at + 1) : null };
}

const sum = sql.join(
  COUNTS.map((name) => sql`sum(${name}) as ${name}`),
  sql`, `,
);
const minus = sql.join(
  COUNTS.map((name) => sql`-${name}`),
  sql`, `,
);
