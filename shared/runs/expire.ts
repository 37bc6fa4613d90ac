import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { idsOf } from "../db/ids.ts";
import { takeBack } from "../db/owed.ts";
import { runs } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { lastPublished, mayHaveForgotten } from "../transparency/published.ts";
import { oweScore } from "./messages.ts";
import { appendPhases } from "./phases.ts";
import { forgetRefusedReports, refusedReports } from "./refused-reports.ts";

const NO_REPORT = "No report that could be taken came before the deadline.";

/**
 * SQL: what the owner of the run `r` is told, by the jsonb of what is noted of reports that were not taken: most agents never
 * look at the answer to one. Of some nothing is noted, such as one with another token.
 */
const toldOf = (faulty: SQL): SQL => sql`${`${NO_REPORT} `}::text || coalesce((
  select case when f.at > r.deadline_at
      then 'One came ' || round(extract(epoch from f.at - r.deadline_at), 1) || ' seconds after it.'
      else 'The last one was refused with ' || f.why end
  from jsonb_to_record(${faulty} -> r.id::text) as f(at timestamptz, why text) where f.at is not null
), 'If the agent sent one, the answer to it says what was wrong.')`;

/**
 * Ends the wait for callbacks (of one run at least) that did not come before their deadlines, and has these runs scored as
 * the agent's failure. Where one came in time and we could not keep it, the run is left to the reaper instead, which has
 * it taken up again or gives it up as our fault. So are those that had begun by a backup to which the database was set back:
 * it has forgotten the reports that it had taken since.
 */
export async function expire(ctx: Context, runIds: readonly string[]): Promise<void> {
  const [{ unkept, faulty }, published] = await Promise.all([refusedReports(ctx, runIds), lastPublished(ctx)]);
  const now = ctx.now();
  const at = sql`${now.toISOString()}::timestamptz`;
  const isOver = sql`r.id in (${idsOf(runIds)}) and r.status = 'running' and r.awaiting_callback and r.answered_at is null
    and r.deadline_at <= ${at}`;
  const mayHaveCome = sql`(coalesce((${JSON.stringify(unkept)}::jsonb ->> r.id::text)::timestamptz < r.deadline_at, false)
    or ${mayHaveForgotten(published, sql`r.started_at`)})`;
  const freed = await write(ctx, {
    parts: sql`with taken_back as (${takeBack(["expire"], idsOf(runIds))}
    ), freed as (
      update ${runs} r set awaiting_callback = false, callback_hash = null, lease_expires_at = now()
      where ${isOver} and ${mayHaveCome} returning r.id
    ), expired as (
      update ${runs} r set answered_at = ${at}, awaiting_callback = false, callback_hash = null,
        lease_expires_at = null, failure_code = 'agent_timeout', failure_detail = ${toldOf(sql`${JSON.stringify(faulty)}::jsonb`)}
      where ${isOver} and not ${mayHaveCome}
      returning r.id, r.attempt
    ), facts as (${appendPhases(
      sql`select id from expired`,
      [{ phase: "response_received", outcome: "failed", metadata: { failure_code: "agent_timeout" } }],
      now,
    )}
    ), scores as (${oweScore(sql`select id, attempt, null::timestamptz as not_before from expired`)})`,
    hands: ["scores"],
    select: sql`select coalesce(jsonb_agg(id), '[]') from freed`,
    result: z.array(z.uuid()),
  });
  await forgetRefusedReports(ctx, freed ?? []);
}
