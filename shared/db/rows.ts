import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import type { Context } from "../platform/context.ts";
import { read } from "./change.ts";

/** The most that is read at once: Neon gives no answer beyond ten megabytes, and JSON within its JSON is escaped twice. */
export const PAGE = { rows: 5000, bytes: 4_000_000 };

/** Rows that are read to their end, however many there are. */
export interface Rows<Item extends z.ZodType> {
  /** What one of them is. */
  item: Item;
  /** SQL: the JSON of one of them, which `item` parses. */
  json: SQL;
  /** SQL: a FROM item and the condition that finds them, which may be continued by `and`. */
  from: SQL;
  /** SQL: the id of one of them, a UUID that no two share. */
  id: SQL;
  /**
   * Where they are found by what they hang on, and not by one index for all of them: SQL of what has a parent's id in one of
   * the rows, and of a query of their parents (`id`, and `path`, the ids of what a parent hangs on, if anything, and its own,
   * as a text by slashes), from the path `last` downwards. Those that have `most` rows together beside the first's are enough.
   */
  under?: { parent: SQL; ids(last: string | null, most: number): SQL };
  /**
   * SQL: the column by which an index finds them, in the order of their ids, where there may be many among many of others. The
   * condition compares it with `eachOf`.
   */
  by?: SQL;
  /** How many are read at once at most, where one of them may be large or takes work; 5,000 unless told. */
  atOnce?: number;
}

/**
 * All of these rows, in the descending order of their ids, parent by parent where they have one, a page at a time: an array for each statement, and none is read
 * ahead. Rows made in the meantime may be missing; of those that stay, none comes twice or is left out.
 */
export async function* pagesOf<Item extends z.ZodType>(
  ctx: Context,
  rows: Rows<Item>,
): AsyncGenerator<z.output<Item>[]> {
  const Page = z.object({ more: z.boolean(), last: z.string().nullable(), items: z.array(rows.item) });
  const { atOnce = PAGE.rows } = rows;
  let last: string | null = null;
  let size = atOnce;
  for (;;) {
    const page: z.output<typeof Page> | null = await read(ctx, Page, statement(rows, last, size));
    if (page === null) return;
    if (page.items.length > 0) yield page.items;
    if (!page.more) return;
    last = page.last;
    // The database puts together all that it is asked for, to tell a part of it: not many times what fitted last.
    size = Math.min(atOnce, 2 * page.items.length);
  }
}

function statement(rows: Rows<z.ZodType>, after: string | null, size: number): SQL {
  return sql`select json_build_object(${ends(size)},
      'items', coalesce(json_agg(x.item order by x.id desc) filter (where x.fits), '[]')) as result
    from (${fitted(pageOf(rows, size, after))}) x`;
}

/** What comes behind every id. */
export const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/**
 * SQL: the order and limit of a page that is found by an index on the column `by` and the ids, and by nothing else. Of a limit
 * that it is not told the planner takes that a part of the rows is enough: it never has all of them put in order.
 */
export function firstBy(by: SQL, id: SQL, limit: number): SQL {
  return sql`order by ${by}, ${id} desc limit (select ${limit}::bigint)`;
}

/** SQL: `id` and `item` of the rows of a page; the id of one that has a parent is told behind the parent's path. */
function pageOf({ json, from, id, by, under }: Rows<z.ZodType>, limit: number, after: string | null): SQL {
  const page = (behind: SQL) =>
    sql`select ${id} as id, ${json} as item from ${from} ${behind}
      ${by === undefined ? sql`order by ${id} desc limit ${limit}` : firstBy(by, id, limit)}`;
  if (under === undefined) return page(after === null ? sql`` : sql`and ${id} < ${after}::uuid`);
  const [path = null, last = LAST_ID] = after === null ? [] : splitAt(after, after.lastIndexOf("/"));
  // As many of each as a page has, and those of the next parent only where the page is not full.
  return sql`select (p.path || '/' || r.id) collate "C" as id, r.item from (
      select path collate "C" as path, id from (${under.ids(path, limit)}) i order by path collate "C" desc
    ) p cross join lateral (${page(
      sql`and ${under.parent} = p.id and ${id} < case when p.path = ${path} then ${last}::uuid else ${LAST_ID}::uuid end`,
    )}) r order by p.path desc, r.id desc limit ${limit}`;
}

const splitAt = (text: string, at: number): [string, string] => [text.slice(0, at), text.slice(at + 1)];

/** SQL: a query of the rows of `page` (`id`, and `item`, JSON or text) and of whether each `fits` into an answer. */
export function fitted(page: SQL): SQL {
  return sql`select id, item, sum(bytes) over (order by id desc) - bytes < ${PAGE.bytes} as fits
    from (select id, item, octet_length(to_json(item::text)::text) as bytes from (${page}) page offset 0) sized`;
}

/**
 * SQL: where a page ends, as names and values of a JSON object over the rows `x` of `fitted`: in `more` whether there may be
 * rows after these, in `last` the id of the last one that fits. `limit` is how many there could have been.
 */
export function ends(limit: number): SQL {
  return sql`'more', count(*) = ${limit} or not coalesce(bool_and(x.fits), true),
    'last', min(x.id::text collate "C") filter (where x.fits)`;
}
