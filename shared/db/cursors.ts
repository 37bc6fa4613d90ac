import { type SQL, sql } from "drizzle-orm";
import { cursors } from "./schema/index.ts";

/** Before every id. */
export const FIRST_ID = "00000000-0000-0000-0000-000000000000";

/** SQL: the same. */
export const FIRST: SQL = sql.raw(`'${FIRST_ID}'::uuid`);

/** SQL: the id behind which the work of this name goes on; `FIRST` where it begins anew. */
export function cursorOf(name: string): SQL {
  return sql`coalesce((select c.cursor from ${cursors} c where c.name = ${name}), ${FIRST})`;
}

/** SQL: a part that has it go on behind the id that the query `next` gives, or begin anew where that gives null. */
export function goOnBehind(name: string, next: SQL): SQL {
  return sql`insert into ${cursors} as c (name, cursor) values (${name}, (${next}))
    on conflict (name) do update set cursor = excluded.cursor where c.cursor is distinct from excluded.cursor`;
}
