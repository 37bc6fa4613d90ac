import { sql } from "drizzle-orm";
import type { CloseDomain } from "../../db/closing.ts";
import { anyOf, chunkOf } from "../../db/closing-chunks.ts";
import { isDeleted } from "../../db/deleted.ts";
import { forgetResultsOf } from "../../db/results.ts";
import {
  api_keys,
  device_authorizations,
  email_tokens,
  identities,
  passkeys,
  refresh_tokens,
  sessions,
  sign_in_marks,
  totp_factors,
  users,
} from "../../db/schema/index.ts";
import { keysAround } from "../api-keys/of-account.ts";

/** Ends every way into the account. The parts `keys` and `ended` say which API keys and sessions died with it. */
export const closing: CloseDomain = ({ id, now }) => ({
  parts: {
    keys: sql`delete from ${api_keys} k using u cross join lateral (${keysAround(sql`u.id`)}) x where k.id = x.id
      returning k.key_hash`,
    ended: sql`update ${sessions} s
      set revoked_at = coalesce(s.revoked_at, ${now.toISOString()}::timestamptz), user_agent = null
      from u where s.user_id = u.id returning s.id, s.expires_at`,
    marks: sql`delete from ${sign_in_marks} m using u where m.user_id = u.id`,
    tokens: sql`delete from ${email_tokens} t using u where t.user_id = u.id`,
    // One whose key is being made at this moment waits for this, and finds its session ended.
    devices: sql`delete from ${device_authorizations} where device_hash in (
      select d.device_hash from ${device_authorizations} d join u on u.id = d.user_id for update of d skip locked)`,
    passkeys: sql`delete from ${passkeys} p using u where p.user_id = u.id`,
    factors: sql`delete from ${totp_factors} f using u where f.user_id = u.id`,
    accounts: sql`delete from ${identities} i using u where i.user_id = u.id`,
    results: forgetResultsOf(sql`u.id::text`, sql`u`),
  },
  // Those of a session that has ended let nobody in.
  chunks: [
    (place) => sql`${chunkOf(
      place,
      sql`select t.token_hash from ${sessions} s join ${refresh_tokens} t on t.session_id = s.id
        where s.user_id = ${id}::uuid`,
    )}, done as (
      delete from ${refresh_tokens} t where t.token_hash = ${anyOf("chunk", "token_hash")} returning t.token_hash
    )`,
  ],
  // The mark that there is something to delete: it goes once all of it is gone.
  rest: [sql`update ${users} u set deletion_scheduled_for = null where u.id = ${id}::uuid and ${isDeleted}`],
});
