import { sql } from "drizzle-orm";
import type { CloseDomain } from "../db/closing.ts";
import { agents, screening_schedules } from "../db/schema/index.ts";

/** Deletes the schedules of the account's agents. */
export const closing: CloseDomain = ({ owns }) => ({
  parts: {
    schedules: sql`delete from ${screening_schedules} s using ${agents} a, u where s.agent_id = a.id and ${owns}`,
  },
});
