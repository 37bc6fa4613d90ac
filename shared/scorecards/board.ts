import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { pageJson, placeOf } from "../db/listing.ts";
import { pageResult, readPage, type RowPage } from "../db/page-result.ts";
import { agents, board_entries, scorecards } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { BoardEntry, boardRows, boardTotal, entryJson, onBoard, toBoardRow } from "../board/board.ts";
import type { boardQuery } from "../board/shown.ts";
import { may } from "../teams/rights.ts";
import { AXES } from "./shown.ts";
import { findTemplate } from "./templates.ts";
import { scorecardOwner } from "./view.ts";

/**
 * How many rows of a board are ranked anew, from its first on. No index serves weights of anybody's choice, so each
 * reading scores and sorts them all: this bounds it to milliseconds, however large the board.
 */
export const RANKED_ROWS = 5000;

/**
 * A page of the public board as a scorecard ranks it: the same rows, ranked ones before provisional before simulated ones,
 * each kind by weighted score, runs and id. Reads alone: nothing that is stored or public changes. Throws 404 for a
 * scorecard that is not the caller's to see.
 */
export async function readScorecardBoard(
  ctx: Context,
  principal: UserPrincipal,
  id: string,
  query: z.output<typeof boardQuery> & { page: number; page_size: number },
): Promise<RowPage> {
  const order = sql`b.tier, b.scorecard_score desc, b.runs desc, b.agent_id`;
  const ranked = ["agent_id", "tier", "runs", ...AXES].map((column) => sql`b.${sql.identifier(column)}`);
  const rows = sql`(select json_agg(${entryJson("scorecard_score")} order by ${order})
    from rows b join ${agents} a on a.id = b.agent_id)`;
  const result = await readPage(
    ctx,
    pageResult(BoardEntry),
    query,
    ({ offset, size }) => sql`with s as (${weightsOf(principal.userId, id)}),
    board as (${boardRows(query, sql.join(ranked, sql`, `))} limit ${RANKED_ROWS}),
    scored as (select b.agent_id, b.tier, b.runs, ${SCORE} as scorecard_score from board b cross join s),
    page as (select * from scored b order by ${order} limit ${size} offset ${offset}),
    rows as (select b.*, p.scorecard_score from page p join ${board_entries} b on b.agent_id = p.agent_id
      where ${onBoard(query)}),
    counted as (select ${boardTotal(query)} as n, ${RANKED_ROWS}::bigint as most)
    select ${pageJson(rows)} as result from s`,
  );
  if (result === null) throw notFound("scorecard");
  const items = result.items.map((entry, index) => ({
    ...toBoardRow(entry, placeOf(query).offset + index + 1),
    missing_axes: AXES.filter((axis) => entry[axis] === null),
  }));
  return { ...result, items };
}

/** SQL: the score of the board row `b` by the weights `s`; rounded as a decimal, so that no float's last bit decides. */
const SCORE: SQL = sql`round((100 * (${sql.join(
  AXES.map((axis) => sql`s.${sql.identifier(axis)} * coalesce(b.${sql.identifier(axis)}, 0)`),
  sql` + `,
)}))::numeric, 2)`;

/** SQL: the weights of a scorecard that the viewer may see, as one row of the axes; none for any other. */
function weightsOf(viewer: string, id: string): SQL {
  const template = findTemplate(id);
  if (template === null) {
    return sql`select s.* from ${scorecards} s where s.id = ${id}::uuid and ${may("see", viewer, scorecardOwner)}`;
  }
  const columns = AXES.map((axis) => sql`${template.weights[axis]}::float8 as ${sql.identifier(axis)}`);
  return sql`select ${sql.join(columns, sql`, `)}`;
}
