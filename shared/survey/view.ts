import { type SQL, sql } from "drizzle-orm";

/** SQL: the JSON of the row `r` of what an account answered. */
export const responseJson: SQL = sql`jsonb_build_object('id', r.id, 'score', r.score,
  'disappointment', r.disappointment, 'comment', r.comment, 'created_at', r.created_at)`;
