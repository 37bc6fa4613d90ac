import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import type { Piece } from "../db/pieces.ts";
import { certifications, log_entries, run_evidence } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { logEntry, logged, sha256Hex } from "./logged.ts";

/** The most statements that one piece looks at, of runs and of certifications each. */
const SIZE = 5000;

/**
 * Puts into the log what was signed or revoked without an entry, as all was before there was a log. A piece looks at the
 * next 5,000 runs with evidence after `cursor`, a run's id; the first one at certifications too. One statement.
 */
export async function catchUp(ctx: Context, cursor: string | null): Promise<Piece> {
  const run = logEntry("run", { sha256: sha256Hex(sql`e.jws`) });
  const credential = logEntry("credential", { sha256: sha256Hex(sql`c.jws`) });
  const revoked = logEntry("revoked", { credential: sql`c.id` });
  const next = await write(ctx, {
    parts: sql`with looked_at as (
      select e.run_id, ${run} as entry from ${run_evidence} e
      where ${cursor}::uuid is null or e.run_id > ${cursor}::uuid order by e.run_id limit ${SIZE}
    ), certified as (
      select ${credential} as entry from ${certifications} c where ${cursor === null} and c.jws is not null
      union all select ${revoked} from ${certifications} c where ${cursor === null} and c.revoked_at is not null
    ), missing as (
      select entry from (select entry from looked_at union all select entry from certified) s
      where not exists (select from ${log_entries} l
        where l.leaf_hash = sha256('\\x00'::bytea || convert_to(s.entry, 'UTF8'))) limit ${2 * SIZE}
    ), said as (${logged(sql`select entry from missing`)})`,
    select: sql`select to_jsonb(max(run_id::text)) from looked_at having count(*) = ${SIZE}`,
    result: z.uuid(),
  });
  return { next };
}
