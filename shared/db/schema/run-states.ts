import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { ExtraConfigColumn } from "drizzle-orm/pg-core";

/** The states of a run; the last three are final. */
export const RUN_STATES = ["queued", "running", "completed", "failed", "cancelled"] as const;

/** What made a run begin. */
export const TRIGGERS = ["manual", "api", "scheduled", "certification", "trial"] as const;

/** SQL: whether a run with this status is not over. */
export const isOpenRun = (status: SQLWrapper): SQL => sql`${status} in ('queued', 'running')`;

/** SQL: whether a run with this status has ended with a result: it was neither taken back nor is it still open. */
export const isFinishedRun = (status: SQLWrapper): SQL => sql`${status} in ('completed', 'failed')`;

/** SQL: whether a run with this scope was made outside of any workspace. */
export const isPersonal = (scope: SQLWrapper): SQL => sql`${scope} = 'personal'`;

/**
 * SQL: one word for how a run stands: it passed or did not, or why it failed, or its status. With trigger and domain it
 * makes up the facets that lists are narrowed by, so one index for each kind of list serves every combination of them.
 */
export const runOutcome = (run: { status: SQLWrapper; passed: SQLWrapper; failure_code: SQLWrapper }): SQL =>
  sql`(case ${run.status} when 'completed' then case when ${run.passed} then 'passed' else 'not_passed' end
    when 'failed' then coalesce(${run.failure_code}, 'failed') else ${run.status} end)`;

/** The columns of an index that serves every combination of facets, each newest first, for what stands before them. */
export function facetsOf(
  table: Record<"status" | "passed" | "failure_code" | "trigger" | "domain" | "id", ExtraConfigColumn>,
): [SQL, ExtraConfigColumn, ExtraConfigColumn, Partial<ExtraConfigColumn>] {
  return [runOutcome(table), table.trigger, table.domain, table.id.desc().nullsFirst()];
}
