import { sql } from "drizzle-orm";
import type { CloseDomain } from "../db/closing.ts";
import { anyOf, chunkNaming } from "../db/closing-chunks.ts";
import { analytics_events } from "../db/schema/index.ts";

/** Keeps the account's events for the counts, without saying whose they were. */
export const closing: CloseDomain = (account) => ({
  chunks: [
    (place) => sql`${chunkNaming(account, analytics_events, place, "user_id")}, done as (
      update ${analytics_events} e set user_id = null where e.id = ${anyOf("chunk")} returning e.id
    )`,
  ],
});
