import { sql } from "drizzle-orm";
import { CHUNK, type CloseDomain } from "../db/closing.ts";
import { analytics_events } from "../db/schema/index.ts";

/** Keeps the account's events for the counts, without saying whose they were. */
export const closing: CloseDomain = ({ id }) => ({
  chunks: [
    sql`with done as (
      update ${analytics_events} set user_id = null
      where id in (select id from ${analytics_events} where user_id = ${id}::uuid limit ${CHUNK}) returning id
    )`,
  ],
});
