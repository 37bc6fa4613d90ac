import { sql } from "drizzle-orm";
import type { CloseDomain } from "../db/closing.ts";
import { anyOf, chunkOf } from "../db/closing-chunks.ts";
import { analytics_events } from "../db/schema/index.ts";

/** Keeps the account's events for the counts, without saying whose they were. */
export const closing: CloseDomain = ({ id }) => ({
  chunks: [
    (place) => sql`${chunkOf(place, sql`select e.id from ${analytics_events} e where e.user_id = ${id}::uuid`, [
      ["e.id", "uuid"],
    ])}, done as (
      update ${analytics_events} e set user_id = null where e.id = ${anyOf("chunk")} returning e.id
    )`,
  ],
});
