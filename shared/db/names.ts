import { type SQL, sql } from "drizzle-orm";
import { COUNTED, type Stretch } from "./listing.ts";

/**
 * How far a list is looked through, in its order, for a name that many have. One that is rarer there than a page is long
 * is looked up by its trigrams: of a million rows that finds a few thousand at most, as long as the list's order has
 * nothing to do with names.
 */
export const LOOKED_THROUGH = 2500;
/**
 * How far it is looked through for any name. One that fewer than FEW have there is looked up at once: LOOKED_THROUGH would
 * have less than is counted of a name, so that the rest of it would be read in vain.
 */
export const SCOUTED = 250;
export const FEW = 6;
/** How many of a name's rows are sorted at most, so that no name costs more than this. */
const SORTED = 20_000;

/** The index of trigrams finds what has three of these in a row, whatever the database's locale takes for letters. */
const WITH_TRIGRAM = /[a-z0-9]{3}/i;

/** SQL: whether a name is one that `q` asks for. There are indexes on `lower(name)`, by trigrams and in its order. */
export function isNamed(name: SQL, q: string): SQL {
  const literal = q.replaceAll(/[\\%_]/g, String.raw`\$&`);
  return WITH_TRIGRAM.test(q)
    ? sql`lower(${name}) like lower(${`%${literal}%`})`
    : sql`lower(${name}) collate "C" like lower(${`${literal}%`})`;
}

/** A list in which items are looked for by name. */
export interface NamedList {
  q: string;
  /** The columns that order the list, such as `id desc`; the last of them tells any two items apart. */
  order: SQL;
  /** What the statement goes on with of each item: the columns of `order` among them. */
  columns: SQL;
  /** The list with these columns and `is_named`, whether a name of the item is meant; it ends in `cut`, an order and a limit. */
  inOrder(cut: SQL, named: (name: SQL) => SQL): SQL;
  /** The same columns of all items of the list of which a name is meant, in any order. */
  byName(named: (name: SQL) => SQL): SQL;
}

/**
 * SQL: the parts `counted` and `paged`, as of `pageParts`, of a list narrowed to a name. Counts to COUNTED.byName. The list is
 * looked through no further than until there are enough of the name: `scouted` and, if it goes on, `looked` end with them, or
 * with the last row that is looked at, which tells that there may be more.
 */
export function namedParts({ q, order, columns, inOrder, byName }: NamedList, { offset, size }: Stretch): SQL {
  const enough = Math.max(offset + size, COUNTED.byName + 1);
  const named = (name: SQL) => isNamed(name, q);
  const look = (from: number, to: number, reason: SQL) =>
    sql`select * from (
      select x.*, row_number() over (order by ${order}) as nth from (${inOrder(sql`order by ${order} limit ${to}`, named)}) x
    ) x where ${reason} and nth > ${from} and (is_named or nth = ${to}) order by ${order} limit ${enough}`;
  const isCommon = sql`(select count(*) from scouted where is_named) between ${FEW} and ${enough - 1}
    and exists (select from scouted where nth = ${SCOUTED})`;
  return sql`scouted as materialized (${look(0, SCOUTED, sql`true`)}
  ), looked as materialized (${look(SCOUTED, LOOKED_THROUGH, isCommon)}
  ), near as materialized (select ${columns} from scouted where is_named union select ${columns} from looked where is_named
  ), found as materialized (
    select * from near union
    select * from (select ${columns} from (${byName(named)}) x limit ${SORTED}) far
    where (select count(*) from near) < ${enough} and case when ${isCommon}
      then exists (select from looked where nth = ${LOOKED_THROUGH}) else exists (select from scouted where nth = ${SCOUTED}) end
  ), counted as materialized (select count(*) as n, ${COUNTED.byName}::bigint as most from found),
  paged as (select * from found order by ${order} limit ${size} offset ${offset})`;
}
