import { sql } from "drizzle-orm";
import type { CloseDomain } from "../db/closing.ts";
import { notices } from "../db/schema/index.ts";

/** Forgets what the account was told. */
export const closing: CloseDomain = () => ({
  parts: { notices: sql`delete from ${notices} n using u where n.user_id = u.id` },
});
