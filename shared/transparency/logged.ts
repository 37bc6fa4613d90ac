import { type SQL, sql } from "drizzle-orm";
import { log_entries } from "../db/schema/index.ts";

/** What the log has entries about. */
export type EntryKind = "run" | "credential" | "revoked" | "epoch" | "reveal" | "key" | "suite" | "board";

/**
 * SQL: the text of an entry, an object of `kind` and `members` in RFC 8785 form. Each member is SQL of a text, a uuid, a
 * boolean or a whole number below 2^53, of that type; none of them may be private, since anybody reads the log.
 * @example
 * logEntry("revoked", { credential: sql`c.id` }) // {"credential":"…","kind":"revoked"}
 */
export function logEntry(kind: EntryKind, members: Readonly<Record<string, SQL>>): SQL {
  const parts = Object.entries({ ...members, kind: sql`${kind}::text` })
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => sql`${`${JSON.stringify(name)}:`}::text || to_jsonb(${value})::text`);
  return sql`('{' || ${sql.join(parts, sql` || ',' || `)} || '}')`;
}

/** SQL: the SHA-256 of a text (its UTF-8) in lower-case hexadecimal, as entries hold it. */
export function sha256Hex(value: SQL): SQL {
  return sql`encode(sha256(convert_to(${value}, 'UTF8')), 'hex')`;
}

/**
 * SQL: a part of a statement that puts an entry into the log for each row of `source`, a query of one column of texts as
 * `logEntry` makes them. What the log says already is not said again. The entry gets its place within a minute of the
 * commit.
 * @example
 * sql`with revoked as (update … returning id), logged as (${logged(
 *   sql`select ${logEntry("revoked", { credential: sql`r.id` })} from revoked r`)})`
 */
export function logged(source: SQL): SQL {
  return sql`insert into ${log_entries} (entry) select convert_to(said.entry, 'UTF8') from (${source}) said (entry)
    on conflict (leaf_hash) do nothing`;
}

/** SQL: the hash of the leaf of an entry's text (RFC 6962, section 2.1), by which the table of entries finds it. */
export function leafHash(entry: SQL): SQL {
  return sql`sha256('\\x00'::bytea || convert_to(${entry}, 'UTF8'))`;
}

/** After how many minutes without a place an entry is late: it has one within one, if all is well. */
const LATE_MINUTES = 5;

/** SQL: whether what was said gets its place in the log in time. */
export function isLogCurrent(): SQL {
  return sql`(select coalesce(min(w.created_at) > now() - make_interval(mins => ${LATE_MINUTES}), true)
    from (select created_at from ${log_entries} where position is null order by id limit 1) w)`;
}
