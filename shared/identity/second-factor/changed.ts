import { type SQL, sql } from "drizzle-orm";
import { oweNotice } from "../../mail/owe-notice.ts";

/** SQL: a part that owes the accounts of `changed` (user_id) the mail that their authenticator app was added or removed. */
export function totpChanged(notice: "totp_added" | "totp_removed", changed: SQL): SQL {
  return oweNotice(
    "password",
    sql`select x.user_id, ${notice}::text as notice, '' as title, null as reason, null::uuid as page_id
      from (${changed}) x`,
  );
}
