import { type SQL, sql } from "drizzle-orm";
import { oweNotice } from "../../mail/owe-notice.ts";

/** SQL: a part that owes the accounts of `changed` (user_id, name) the mail that this passkey of theirs was added or removed. */
export function passkeyChanged(notice: "passkey_added" | "passkey_removed", changed: SQL): SQL {
  return oweNotice(
    "password",
    sql`select x.user_id, ${notice}::text as notice, x.name as title, null as reason, null::uuid as page_id
      from (${changed}) x`,
  );
}
