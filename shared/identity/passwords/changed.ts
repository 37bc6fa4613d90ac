import { type SQL, sql } from "drizzle-orm";
import { oweNotice } from "../../mail/owe-notice.ts";

/** SQL: a part that owes each of `accounts` (a query of their ids) the mail that its password was changed. */
export function passwordChanged(accounts: SQL): SQL {
  return oweNotice(
    "password",
    sql`select x.id as user_id, 'password_changed' as notice, '' as title, null as reason, null::uuid as page_id
      from (${accounts}) x`,
  );
}
