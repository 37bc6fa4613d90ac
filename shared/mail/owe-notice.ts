import { type SQL, sql } from "drizzle-orm";
import { isDeleted } from "../db/deleted.ts";
import { owe } from "../db/owed.ts";
import { notices, users } from "../db/schema/index.ts";
import type { Kind } from "./notices.ts";

/** SQL: whether the account row `u` wants to hear of this kind. */
export function wants(kind: Kind): SQL<boolean> {
  // The kinds are names of this project, and a literal suits statements that the database keeps.
  return sql`(not ${sql.raw(`'${kind}'`)} = any(u.muted_notices))`;
}

/**
 * SQL: a part of a statement that owes the mail of each row of `source` to its account, unless the account switched the
 * kind off: a query of the columns `user_id`, `notice` (its name), `title`, `reason` (null where there is none to give) and
 * `page_id` (the id in the path of the page that the mail leads to, or null). Each row is one mail: what makes it
 * necessary must happen once.
 * @example
 * sql`with …, mailed as (${oweNotice("turned_off", sql`select … from updated`)})` // then `owes: ["mailed"]`
 */
export function oweNotice(kind: Kind, source: SQL): SQL {
  const body = sql`jsonb_build_object('id', n.id::text, 'template', n.notice, 'to', u.email, 'params',
    jsonb_build_object('username', u.username, 'title', n.title, 'reason', n.reason, 'page_id', n.page_id))`;
  return owe(
    "mail",
    sql`n.id`,
    body,
    sql`from (select uuidv7() as id, s.* from (${source}) s) n join ${users} u on u.id = n.user_id
      where ${wants(kind)} and not ${isDeleted}`,
    // A line of their own: whoever waits for a link does not wait behind a night's notices.
    sql`'notices'`,
  );
}

/**
 * SQL: the parts `{name}`, whose rows are messages, and `{name}_told`: as `oweNotice`, but an account hears of the same
 * notice about the same thing once, however often and side by side it is told. `source` has the column `about` (text),
 * too, which names the thing; `{name}_told` has the rows of `source` that are told for the first time.
 */
export function tellOnce(name: string, kind: Kind, source: SQL): SQL {
  const [news, kept, told] = ["news", "kept", "told"].map((part) => sql.identifier(`${name}_${part}`));
  return sql`${news} as materialized (${source}
    ), ${kept} as (
      insert into ${notices} (user_id, notice, about) select user_id, notice, about from ${news}
      where user_id is not null order by user_id, notice, about
      on conflict do nothing returning user_id, notice, about
    ), ${told} as (select * from ${news} join ${kept} using (user_id, notice, about)
    ), ${sql.identifier(name)} as (
      ${oweNotice(kind, sql`select user_id, notice, title, reason, page_id from ${told}`)}
    )`;
}
