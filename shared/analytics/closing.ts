import { sql } from "drizzle-orm";
import type { CloseDomain } from "../db/closing.ts";
import { analytics_events } from "../db/schema/index.ts";

/** Keeps the account's events for the counts, without saying whose they were. */
export const closing: CloseDomain = () => ({
  parts: { analytics: sql`update ${analytics_events} e set user_id = null from u where e.user_id = u.id` },
});
