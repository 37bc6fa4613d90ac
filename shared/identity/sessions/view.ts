import { type SQL, sql } from "drizzle-orm";
import { sessions } from "../../db/schema/index.ts";
import type { SessionPrincipal } from "../principal.ts";

/** SQL: the JSON of the session row `s`, as whoever is signed in by `current` sees it. */
export function sessionJson(current: SessionPrincipal["sessionId"]): SQL {
  return sql`json_build_object('id', s.id, 'created_at', s.created_at, 'last_used_at', s.last_used_at,
    'user_agent', s.user_agent, 'current', s.id = ${current}::uuid)`;
}

/** SQL: a FROM item and the condition that find the account's sessions `s` that are in force. */
export function signedIn(userId: string, now: Date): SQL {
  return sql`${sessions} s where s.user_id = ${userId}::uuid and s.revoked_at is null
    and s.expires_at > ${now.toISOString()}::timestamptz`;
}
