import { sql } from "drizzle-orm";
import * as z from "zod";
import { visibleAgent } from "../agents/conditions.ts";
import { read } from "../db/change.ts";
import { agents, board_days, board_entries, board_pages, board_scores, PERIODS } from "../db/schema/index.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { EVERY_DAY } from "./forget-scores.ts";
import { AROUND } from "./keep-day.ts";

/** How many days, today among them, a history goes back. */
const DAYS: Record<(typeof PERIODS)[number], number | null> = { all: null, "30d": 30, "7d": 7 };

export const historyQuery = z.object({
  period: z
    .enum(PERIODS)
    .default("all")
    .meta({
      description:
        `How far back: the last 30 or 7 days, today among them, or all that is kept: every day of the last ${EVERY_DAY}, ` +
        "and the Mondays before",
    }),
});

const Found = z.object({
  items: z.array(
    z.looseObject({
      day: z.string(),
      tier: z.literal([0, 1, 2]),
    }),
  ),
});

/** An agent's scores day by day on the board of everything: today as it is now, the others as they were kept. Throws 404. */
export async function readHistory(
  ctx: Context,
  principal: Principal,
  agentId: string,
  { period }: z.output<typeof historyQuery>,
): Promise<unknown> {
  const today = sql`${ctx.now().toISOString().slice(0, 10)}::date`;
  const columns = sql.raw("composite_score, score_low, score_high, runs, tier");
  const found = await read(
    ctx,
    Found,
    sql`select jsonb_build_object('items', (
      select coalesce(jsonb_agg(to_jsonb(x) order by x.day desc), '[]') from (
        select ${today} as day, ${columns},
          board_rank('all', 'all', case when b.tier = 0 and b.listed then b.composite_score end, b.runs, b.agent_id,
            board_shift('all', 'all', false)) as rank
        from ${board_entries} b where b.agent_id = a.id and b.domain = 'all' and b.period = 'all'
        union all
        select day, ${columns}, rank from ${board_scores} s join ${board_days} d using (day)
        where s.agent_id = a.id and day < ${today} and day > coalesce(${today} - ${DAYS[period]}::integer, '-infinity')
          and d.sha256 is not null
      ) x)) as result
    from ${agents} a where a.id = ${agentId}::uuid and ${visibleAgent(viewerId(principal))}`,
  );
  if (found === null) throw notFound("agent");
  return {
    items: found.items.map(({ tier, ...item }) => ({
      ...item,
      score_basis: tier === 0 ? "core" : "provisional",
      simulated: tier === 2,
    })),
  };
}

/** The ranked board of a day: its digest, and its JSON piece by piece. */
export interface DayBoard {
  sha256: string;
  pieces(): AsyncGenerator<string>;
}

/**
 * The ranked board of a day as it was published, `{day, items: [{agent_id, composite_score, rank, runs, score_high,
 * score_low, tasks}]}` in RFC 8785 form: the bytes that its digest in the log is over. They are read from the database as
 * they are asked for, one statement each. Throws 404 for a day without one.
 */
export async function readDayBoard(ctx: Context, day: string): Promise<DayBoard> {
  // The database has no year 0, which ISO 8601 has.
  if (day.startsWith("0000")) throw notFound("board of that day");
  const found = await read(
    ctx,
    z.object({ sha256: z.string(), pages: z.int(), first: z.string().nullable() }),
    sql`select jsonb_build_object('sha256', d.sha256,
        'pages', (select count(*) from ${board_pages} p where p.day = d.day),
        'first', (select body from ${board_pages} p where p.day = d.day and p.page = 0)) as result
      from ${board_days} d where d.day = ${day}::date and d.sha256 is not null`,
  );
  if (found === null) throw notFound("board of that day");
  const { sha256, pages, first } = found;
  return {
    sha256,
    async *pieces() {
      yield AROUND.before(day) + (first ?? "");
      for (let page = 1; page < pages; page += 1) yield `,${await readPage(ctx, day, page)}`;
      yield AROUND.after;
    },
  };
}

async function readPage(ctx: Context, day: string, page: number): Promise<string> {
  const body = await read(
    ctx,
    z.string(),
    sql`select to_jsonb(body) as result from ${board_pages} where day = ${day}::date and page = ${page}`,
  );
  if (body === null) throw new Error("a page of a published board is missing");
  return body;
}
