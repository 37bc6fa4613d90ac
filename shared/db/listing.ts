import { type SQL, sql } from "drizzle-orm";

/** How many items of a list are counted at most, so that counting takes no longer when there are more. */
export const COUNTED = {
  /** Where an index alone tells. */
  byIndex: 10_000,
  /** Where the rows themselves, or others beside them, must be looked at. */
  byRow: 1000,
  /** Where items are looked for by name. */
  byName: 100,
} as const;

/**
 * How many items of a long list have pages: a page is found by all that stand before it, for as many as there are. Lists that
 * are longer are read on from a place in them (`sliceParts`), or narrowed.
 */
export const PAGED_THROUGH = 100_000;

/** Which page of a list is asked for. */
export interface PageAsked {
  page: number;
  page_size: number;
}

/** What a statement reads of a page: all of it, or, where that is too large for one answer, what is left (`readPage`). */
export interface Stretch {
  /** How many items of the list come before it. */
  offset: number;
  /** How many it has at most. */
  size: number;
  /** Whether the page is beyond those that a long list has. */
  isTooFar: boolean;
}

/** The whole of a page. */
export function placeOf({ page, page_size: size }: PageAsked): Stretch {
  const offset = (page - 1) * size;
  return { offset, size, isTooFar: offset >= PAGED_THROUGH };
}

/**
 * SQL: a limit beyond all rows that an owner can have. The planner uses the index for an order with a limit, even one whose
 * value it does not know; no other index may have that order.
 */
export const UNLIMITED: SQL = sql`limit (select 1000000000)`;

/** How a list is found: by indexes alone, so that a page takes no longer when there is more to page through. */
export interface Listing {
  /** The columns of the scans that order the list, such as `id desc`; the last of them tells any two items apart. */
  order: SQL;
  /** How many items are counted at most. */
  most: (typeof COUNTED)[keyof typeof COUNTED];
  /**
   * Queries with the same columns that together find every item; one that two of them find is in the list once. Each
   * ends in `cut`, an order and a limit, behind a condition whose index has that order; where an index has the same order
   * by another name, that and `limit`, the same limit. The first one finds the most.
   */
  scans(cut: SQL, limit: SQL): readonly [SQL, ...SQL[]];
}

/**
 * SQL: the parts `counted` (for `pageJson`) and `paged`, the rows of one page, of a statement that reads a list. There are
 * none where the page is too far.
 */
export function pageParts({ order, most, scans }: Listing, { offset, size, isTooFar }: Stretch): SQL {
  const enough = sql`limit ${most + 1}`;
  const paged = sql`paged as (
    select * from (${firstOf({ order, scans }, sql`limit ${isTooFar ? 0 : offset + size}`)}) x
    order by ${order} limit ${size} offset ${offset}
  )`;
  const [first, ...others] = scans(sql`order by ${order} ${enough}`, enough).map(
    (scan) => sql`select * from (${scan}) x ${enough}`,
  );
  // What is counted is a part of its own: in the statement it would be once for the total and again for whether that is capped.
  const counted = (n: SQL) => sql`counted as materialized (select ${n} as n, ${most}::bigint as most)`;
  if (others.length === 0) return sql`${counted(sql`(select count(*) from (${first}) x)`)}, ${paged}`;
  // Where the first scan alone finds more than is counted, the others need not be made.
  const all = union([sql`select * from found_first`, ...others]);
  const found = sql`(select count(*) from found_first)`;
  const n = sql`case when ${found} > ${most} then ${found} else (select count(*) from (${all}) x) end`;
  return sql`found_first as materialized (${first}), ${counted(n)}, ${paged}`;
}

/**
 * SQL: what the scans of a list find, each up to a limit. A scan may find more, such as so many of each agent, and the
 * planner, which does not know how few there are, would make room for millions of rows.
 */
function firstOf({ order, scans }: Pick<Listing, "order" | "scans">, limit: SQL): SQL {
  const cut = sql`order by ${order} ${limit}`;
  const all = scans(cut, limit);
  return all.length === 1 ? all[0] : union(all.map((scan) => sql`select * from (${scan}) x ${cut}`));
}

/**
 * SQL: the parts `ahead` (for `sliceJson`) and `paged` of a statement that reads a list on from a place in it: the first
 * `size` items that its scans find, which begin behind that place.
 */
export function sliceParts({ order, scans }: Listing, size: number): SQL {
  const limit = sql`limit ${size + 1}`;
  return sql`ahead as materialized (
    select * from (${firstOf({ order, scans }, limit)}) x order by ${order} ${limit}
  ), paged as materialized (select * from ahead order by ${order} limit ${size})`;
}

/**
 * Makes SQL: JSON of a slice, as `RowSlice` reads it: its `items` (SQL: a JSON array, null for none), where it ends, and
 * `further` members.
 */
export function sliceJson({ order }: Listing): (items: SQL, further?: Readonly<Record<string, SQL>>) => SQL {
  return (
    items,
    further,
  ) => sql`(select json_build_object(${members(further)}'items', coalesce(${items}, '[]'), 'more', (select count(*) from ahead) > count(*),
    'last', jsonb_agg(to_jsonb(paged) order by ${order}) -> -1) from paged)`;
}

/**
 * SQL: the parts `counted` (for `pageJson`) and `paged` of a statement that reads a list which is always short: `hits`, a query
 * of all its rows, is read whole. `row` is their alias in `order`.
 */
export function shortParts(hits: SQL, row: string, order: SQL, { offset, size }: Stretch): SQL {
  return sql`hits as (${hits}), counted as (select count(*) as n, null::bigint as most from hits),
    paged as (select * from hits ${sql.raw(row)} order by ${order} limit ${size} offset ${offset})`;
}

/**
 * How many bytes of items one answer has. Neon gives none beyond ten megabytes, and JSON within its JSON may take twice as
 * many there.
 */
export const ANSWERED = 4_500_000;

/**
 * SQL: JSON of a page, as `readPage` reads it: its `items` (SQL: a JSON array, null for none), or as many of the first ones as
 * fit into an answer, what `counted` says, and `further` members.
 */
export function pageJson(items: SQL, further?: Readonly<Record<string, SQL>>): SQL {
  const isWhole = sql`pg_column_size(items) <= ${sql.raw(String(ANSWERED))}`;
  return sql`(select json_build_object(${members(further)}'items', case when ${isWhole} then items else (
      select json_agg(item order by place) from (
        select item, place, sum(pg_column_size(item)) over (order by place) as bytes
        from json_array_elements(items) with ordinality as one (item, place)) x
      where bytes <= ${ANSWERED} or place = 1) end,
    'is_cut', not ${isWhole}, 'total', least(n, most), 'total_is_capped', case when n > most then true end)
  from counted, (select coalesce(${items}, '[]')::json as items offset 0) x)`;
}

/** SQL: the arguments of `json_build_object` for these members, before others. */
function members(further: Readonly<Record<string, SQL>> = {}): SQL {
  return sql.join(Object.entries(further).map(([name, value]) => sql`${sql.raw(`'${name}'`)}, ${value}, `));
}

/** SQL: what these queries of the same columns find, each row once. */
export function union(scans: readonly SQL[]): SQL {
  return sql.join(
    scans.map((scan) => sql`(${scan})`),
    sql` union `,
  );
}
