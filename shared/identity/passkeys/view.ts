import { type SQL, sql } from "drizzle-orm";

/** SQL: the JSON of the passkey that is the row `p`. */
export const passkeyJson: SQL = sql`json_build_object('id', p.id, 'name', p.name, 'created_at', p.created_at,
  'last_used_at', p.last_used_at)`;
