import { type SQL, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { CHUNK, ownersIn, type Place } from "./closing.ts";
import type { agents, webhooks } from "./schema/index.ts";

/** Agents or subscriptions that one statement goes through at most where few of them have a row that it looks for. */
const WALK = 5000;

/** Bytes that the rows of one statement weigh at most, where they are weighed: a cold database has to fetch what goes. */
const WEIGHT = 32 * 1024 * 1024;

/** What comes before every value of a type. */
const BEFORE = { uuid: "00000000-0000-0000-0000-000000000000", timestamptz: "-infinity", text: "" } as const;

/** Columns in whose order rows are gone through, as an index has them: each as the rows' query names it, with its type. */
export type Key = readonly (readonly [column: `${string}.${string}`, type: keyof typeof BEFORE])[];

/**
 * SQL: the parts `chunk` and `place` of a chunk over what hangs on the agents or subscriptions of an account. `rows` selects
 * what hangs on the row `a`, and ends with a condition. Where some of that stays as it is, `key` is among what it selects,
 * and tells one from another; else what is processed is not selected again. Where rows may be large, `weight` says how many
 * bytes go with the row `f` of what is found, which has a key: a chunk ends with the row by which it weighs WEIGHT.
 */
export function chunkOfEach(
  { id }: { id: string },
  table: typeof agents | typeof webhooks,
  place: Place | null,
  rows: SQL,
  key: Key = [],
  weight: SQL | null = null,
): SQL {
  const [owner = BEFORE.uuid, parent = BEFORE.uuid, ...last] = place ?? [];
  // Those of the last one again, if it was not gone through to its end.
  const follows = last.length === 0 ? sql`>` : sql`>=`;
  const own = sql`coalesce(a.team_id, a.user_id)`;
  const behind = last.length < key.length || key.length === 0 ? sql`` : sql`and ${isBehind(key, last, parent)}`;
  const [found, cut, end] =
    weight === null ? [sql`chunk`, sql``, sql`${CHUNK - 1}`] : [sql`found`, sql`, ${cutBy(weight, key)}`, LAST];
  // The owner is bounded by the pair, and not said to be one: so the database goes by the index that has both, and reads
  // nothing of other owners however much of the table is this one's.
  return sql`with walk as materialized (
    select o.id as owner, x.id as parent from (${ownersIn(id)}) o cross join lateral (
      select a.id from ${table} a
      where (${own}, a.id) ${follows} (o.id, case when o.id = ${owner}::uuid then ${parent}::uuid else ${BEFORE.uuid}::uuid end)
        and ${own} <= o.id order by ${own}, a.id limit ${WALK}
    ) x where o.id >= ${owner}::uuid order by 1, 2 limit ${WALK}
  ), ${found} as (
    select w.owner, w.parent, x.* from walk w cross join lateral (
      select y.* from ${table} a cross join lateral (${rows} ${behind} ${inOrder(key)} limit ${CHUNK}) y where a.id = w.parent
    ) x order by ${list(["w.owner", "w.parent", ...key.map(([column]) => `x.${nameOf(column)}`)])} limit ${CHUNK}
  )${cut}, place as (
    select coalesce(
      (select jsonb_build_array(c.owner, c.parent, ${placeOf(key)}) from chunk c
        order by ${list(["c.owner", "c.parent", ...columnsOf(key)])} offset ${end}),
      (select jsonb_build_array(w.owner, w.parent) from walk w order by w.owner, w.parent offset ${WALK - 1})) as place
  )`;
}

/** SQL: the part `chunk`: of the part `found` as many rows as come before it weighs WEIGHT, and one more. */
function cutBy(weight: SQL, key: Key): SQL {
  const order = list(["f.owner", "f.parent", ...key.map(([column]) => `f.${nameOf(column)}`)]);
  return sql`weighed as (
    select f.*, coalesce(sum(${weight}) over (order by ${order} rows between unbounded preceding and 1 preceding), 0) as before
    from found f
  ), chunk as (
    select * from weighed where before < ${WEIGHT}
  )`;
}

/** SQL: where in the part `chunk` its last row is, if there are more rows than those of the chunk; else behind its end. */
const LAST = sql`(select case when count(*) = ${CHUNK} or count(*) < (select count(*) from found) then count(*) - 1 else ${CHUNK} end
  from chunk)`;

/** SQL: the parts `chunk` and `place` of a chunk over what `rows` selects, with a `key` as for `chunkOfEach`. */
export function chunkOf(place: Place | null, rows: SQL, key: Key = []): SQL {
  const behind = place === null || key.length === 0 ? sql`` : sql`and ${isBehind(key, place)}`;
  return sql`with chunk as (
    ${rows} ${behind} ${inOrder(key)} limit ${CHUNK}
  ), place as (
    select (select jsonb_build_array(${placeOf(key)}) from chunk c ${inOrder(key, "c")} offset ${CHUNK - 1}) as place
  )`;
}

/** SQL: the same over the rows of a table whose `column` names the account, in the order of their `key`, a UUID. */
export function chunkNaming(
  { id }: { id: string },
  table: PgTable,
  place: Place | null,
  column: string,
  key = "id",
): SQL {
  const rows = sql`select o.${sql.raw(key)} from ${table} o where o.${sql.raw(column)} = ${id}::uuid`;
  return chunkOf(place, rows, [[`o.${key}`, "uuid"]]);
}

/**
 * SQL: `any` of the ids that a part of the statement has, for rows of a table that are found by that index whatever the
 * database takes their number to be: a join might read the whole table.
 */
export function anyOf(part: string, column = "id"): SQL {
  return sql.raw(`any (array(select ${column} from ${part}))`);
}

/** SQL: whether a row comes behind the one with the key `last`; with `parent`, only of what hangs on that. */
function isBehind(key: Key, last: Place, parent?: string): SQL {
  const values = key.map(([, type], index) => {
    const [value, before] = [last[index], BEFORE[type]].map((text) => sql`${text}::${sql.raw(type)}`);
    return parent === undefined ? value : sql`case when a.id = ${parent}::uuid then ${value} else ${before} end`;
  });
  return sql`(${list(key.map(([column]) => column))}) > (${sql.join(values, sql`, `)})`;
}

/** SQL: the order of the rows, or of those of the part `chunk` as `c`. */
function inOrder(key: Key, of?: "c"): SQL {
  const columns = of === undefined ? key.map(([column]) => column) : columnsOf(key);
  return columns.length === 0 ? sql`` : sql`order by ${list(columns)}`;
}

/** SQL: the place behind a row `c` of the part `chunk`, in a JSON array; without a key it is the first one again. */
function placeOf(key: Key): SQL {
  return key.length === 0 ? sql`'again'` : list(columnsOf(key));
}

/** The columns of a key as the part `chunk` has them, named `c`. */
function columnsOf(key: Key): string[] {
  return key.map(([column]) => `c.${nameOf(column)}`);
}

function nameOf(column: string): string {
  return column.slice(column.indexOf(".") + 1);
}

function list(columns: readonly string[]): SQL {
  return sql.raw(columns.join(", "));
}
