import { sql } from "drizzle-orm";
import type { CloseDomain } from "../db/closing.ts";
import { scorecards } from "../db/schema/index.ts";

/** Deletes the account's scorecards and those of its workspaces. */
export const closing: CloseDomain = ({ owns }) => ({
  parts: { weightings: sql`delete from ${scorecards} a using u where ${owns}` },
});
