import { sql } from "drizzle-orm";
import type { CloseDomain } from "../db/closing.ts";
import { task_submissions } from "../db/schema/index.ts";

/** Deletes the tasks that the account proposed; those that it reviewed stay without its name. */
export const closing: CloseDomain = () => ({
  parts: {
    proposed: sql`delete from ${task_submissions} p using u where p.submitter_id = u.id`,
    reviewed: sql`update ${task_submissions} p set reviewer_id = null
      from u where p.reviewer_id = u.id and p.submitter_id <> u.id`,
  },
});
