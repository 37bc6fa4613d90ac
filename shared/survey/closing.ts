import { sql } from "drizzle-orm";
import type { CloseDomain } from "../db/closing.ts";
import { survey_responses } from "../db/schema/index.ts";

/** Deletes the account's answers. */
export const closing: CloseDomain = () => ({
  parts: { surveyed: sql`delete from ${survey_responses} r using u where r.user_id = u.id` },
});
