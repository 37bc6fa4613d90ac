import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { COUNTED, type Listing, pageJson, pageParts, type Stretch } from "../db/listing.ts";
import { type NamedList, namedParts } from "../db/names.ts";
import { pageResult, readPage, type RowPage } from "../db/page-result.ts";
import { agents, board_entries } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { BoardEntry, entryJson, onBoard, rankRange, readBoard, toBoardRow } from "./board.ts";
import type { BoardQuery, WholeBoardQuery } from "./shown.ts";

const ORDER = sql`tier, composite_score desc, runs desc, agent_id`;
const Found = BoardEntry.extend({ place: z.number().nullable() });

/**
 * A page of a board as `readBoard` gives it; of the agents alone that are called `q`, or are certified, each with the place
 * that it has on the whole board.
 */
export async function findOnBoard(
  ctx: Context,
  { q, ...query }: WholeBoardQuery & { q?: string | undefined; page: number; page_size: number },
): Promise<RowPage> {
  if (q === undefined && !query.certified_only) return readBoard(ctx, query);
  const parts = (stretch: Stretch) =>
    q === undefined ? pageParts(certified(query), stretch) : namedParts(search(query, q), stretch);
  const items = sql`(select json_agg(${entryJson("rank_low", "rank_high", "place")}
      order by b.tier, b.composite_score desc, b.runs desc, b.agent_id)
    from rows b join ${agents} a on a.id = b.agent_id)`;
  const result = await readPage(
    ctx,
    pageResult(Found),
    query,
    (stretch) => sql`with ${parts(stretch)}, moved as materialized (
      select board_shift(${query.domain ?? "all"}, ${query.period}, false) as shift
    ), rows as (
      select b.*, r.rank_low, r.rank_high, ${place(query)} as place
      from paged p join ${board_entries} b on b.agent_id = p.agent_id cross join moved m
        cross join lateral ${rankRange(query)} r
      where b.domain = ${query.domain ?? "all"} and b.period = ${query.period}
    )
    select ${pageJson(items)} as result`,
  );
  if (result === null) return { items: [], total: 0 };
  return { ...result, items: result.items.map((row) => toBoardRow(row, row.place ?? 0)) };
}

const COLUMNS = sql`b.agent_id, b.tier, b.composite_score, b.runs`;

/** SQL: whether a board narrowed so shows its entry `b`; an agent that is certified is verified, too. */
function narrowed({ certified_only: certifiedOnly, ...query }: WholeBoardQuery): SQL {
  return certifiedOnly ? sql`${onBoard({ ...query, verified_only: false })} and b.certified` : onBoard(query);
}

function certified(query: WholeBoardQuery): Listing {
  return {
    order: ORDER,
    most: COUNTED.byIndex,
    scans: (cut) => [sql`select ${COLUMNS} from ${board_entries} b where ${narrowed(query)} ${cut}`],
  };
}

function search(query: WholeBoardQuery, q: string): NamedList {
  return {
    q,
    order: ORDER,
    columns: sql`agent_id, tier, composite_score, runs`,
    inOrder: (cut, named) =>
      sql`select ${COLUMNS}, (select ${named(sql`a.name`)} from ${agents} a where a.id = b.agent_id) as is_named
        from ${board_entries} b where ${narrowed(query)} ${cut}`,
    // Each entry is looked up by itself, however many the planner takes them for.
    byName: (named) => sql`select ${COLUMNS} from ${agents} a
      cross join lateral (select b.* from ${board_entries} b where b.agent_id = a.id and ${narrowed(query)} limit 1) b
      where ${named(sql`a.name`)}`,
  };
}

/**
 * SQL: the place of the board entry `b`, null where it is not ranked. The sums that tell it count every agent; of those
 * ahead the few that are ranked and not verified are taken off where the board leaves them out.
 */
function place({ domain, period, verified_only: verifiedOnly }: BoardQuery): SQL {
  const rank = sql`board_rank(b.domain, b.period, case when b.tier = 0 then b.composite_score end, b.runs, b.agent_id, m.shift)`;
  if (!verifiedOnly) return rank;
  return sql`${rank} - (select count(*) from ${board_entries} o
    where o.domain = ${domain ?? "all"} and o.period = ${period} and o.listed and not o.verified and o.tier = 0
      and (o.composite_score > b.composite_score or (o.composite_score = b.composite_score
        and (o.runs > b.runs or (o.runs = b.runs and o.agent_id < b.agent_id)))))`;
}
