import { type SQL, sql } from "drizzle-orm";

/** SQL: whether the run row `r` shows that its agent answers: a real one, signed and completed, be it private. */
export const VERIFIES: SQL = sql`(r.evidence_signed and r.status = 'completed')`;
