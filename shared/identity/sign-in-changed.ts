import { type SQL, sql } from "drizzle-orm";
import { oweNotice } from "../mail/owe-notice.ts";

/** What an account is told of a change of how it is signed in to. */
type SignInNotice = "password_changed" | "passkey_added" | "passkey_removed" | "totp_added" | "totp_removed";

/**
 * SQL: a part that owes each account of `changed`, a query of its `user_id` and of `title`, the name of what was changed
 * (empty where it has none), the mail that how it is signed in to was changed.
 */
export function signInChanged(notice: SignInNotice, changed: SQL): SQL {
  return oweNotice(
    "password",
    sql`select x.user_id, ${notice}::text as notice, x.title, null as reason, null::uuid as page_id
      from (${changed}) x`,
  );
}
