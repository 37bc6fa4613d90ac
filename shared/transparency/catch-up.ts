import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import type { Piece } from "../db/pieces.ts";
import { certifications, log_entries, run_evidence } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { leafHash, logEntry, logged, sha256Hex } from "./logged.ts";

/** How many runs with evidence, or certifications, one piece looks at. */
const SIZE = 5000;

/** Where a piece begins: with the certifications after one, or, where there is but an id, with the runs after that one. */
const CURSOR = /^(certifications )?(\S+)$/;

/** Before every run. */
const START = "00000000-0000-0000-0000-000000000000";

/**
 * Puts into the log what was signed or revoked without an entry, as all was before there was a log. A piece looks at the
 * next 5,000 certifications after the one that `cursor` names, and when there are no more, at as many runs with evidence.
 * One statement.
 */
export async function catchUp(ctx: Context, cursor: string | null): Promise<Piece> {
  const [, isCertification, id = null] = CURSOR.exec(cursor ?? "") ?? [];
  if (cursor !== null && isCertification === undefined) return { next: await logMissing(ctx, runsAfter(id)) };
  const last = await logMissing(ctx, certificationsAfter(id));
  return { next: last === null ? START : `certifications ${last}` };
}

/** SQL: the next runs with evidence after one, and the entry about each. */
function runsAfter(id: string | null): SQL {
  const entry = logEntry("run", { sha256: sha256Hex(sql`e.jws`) });
  return sql`select e.run_id as id, ${entry} as entry, null as other from ${run_evidence} e
    where e.run_id > ${id}::uuid order by e.run_id limit ${SIZE}`;
}

/** SQL: the next certifications after one, and the entries that there have to be about each. */
function certificationsAfter(id: string | null): SQL {
  const signed = sql`case when c.jws is not null then ${logEntry("credential", { sha256: sha256Hex(sql`c.jws`) })} end`;
  const revoked = sql`case when c.revoked_at is not null then ${logEntry("revoked", { credential: sql`c.id` })} end`;
  return sql`select c.id, ${signed} as entry, ${revoked} as other from ${certifications} c
    where ${id}::uuid is null or c.id > ${id}::uuid order by c.id limit ${SIZE}`;
}

/** Logs which entries of `next` are missing; returns the last id of these, null where no more can follow. */
function logMissing(ctx: Context, next: SQL): Promise<string | null> {
  return write(ctx, {
    parts: sql`with looked_at as materialized (${next}
    ), missing as (
      select s.entry from looked_at l cross join lateral (values (l.entry), (l.other)) s (entry)
      where s.entry is not null and not exists (select from ${log_entries} e where e.leaf_hash = ${leafHash(sql`s.entry`)})
    ), said as (${logged(sql`select entry from missing`)})`,
    select: sql`select to_jsonb(max(id::text)) from looked_at having count(*) = ${SIZE}`,
    result: z.uuid(),
  });
}
