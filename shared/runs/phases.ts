import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { type Moment, momentSql } from "../db/instant.ts";
import { run_phases } from "../db/schema/index.ts";
import type { PHASES, PhaseOutcome } from "./records-shown.ts";

/** One fact about a run. Metadata is small and holds no prompt, output, URL, credential or raw error. */
export interface PhaseEvent {
  phase: (typeof PHASES)[number];
  outcome: z.output<typeof PhaseOutcome>;
  duration_ms?: number | null;
  metadata?: Record<string, string | number | boolean | null>;
}

/**
 * SQL: a part that appends facts to the runs that the query `runIds` (column `id`) yields; `at` may name a column of it
 * (as `x`).
 * @example
 * appendPhases(sql`select id from ended`, [{ phase: "scored", outcome: "succeeded" }], ctx.now())
 */
export function appendPhases(runIds: SQL, events: readonly PhaseEvent[], at: Moment): SQL {
  return appendFacts(sql`select i.*, ${JSON.stringify(toFacts(events))}::jsonb as facts from (${runIds}) i`, at);
}

/** Facts of one run, as `appendFacts` reads them. */
export function toFacts(events: readonly PhaseEvent[]): Required<PhaseEvent>[] {
  return events.map(({ phase, outcome, duration_ms, metadata }) => ({
    phase,
    outcome,
    duration_ms: duration_ms ?? null,
    metadata: metadata ?? {},
  }));
}

/**
 * SQL: a part that appends to runs what each row of the query `source` has of its run: the columns `id` and `facts`, jsonb as `toFacts`
 * makes it. `at` may name a column of it (as `x`). `found` is jsonb over the columns of `source` (as `x`): by phase, metadata that only the statement knows.
 */
export function appendFacts(source: SQL, at: Moment, found = sql`'{}'::jsonb`): SQL {
  // `offset 0` has the last sequence of a run looked up once, and not for each of its facts.
  return sql`insert into ${run_phases} (run_id, sequence, phase, outcome, occurred_at, duration_ms, metadata)
    select x.id, x.last + e.ordinality, e.fact ->> 'phase', e.fact ->> 'outcome', ${momentSql(at)},
      (e.fact ->> 'duration_ms')::integer,
      (e.fact -> 'metadata') || coalesce(${found} -> (e.fact ->> 'phase'), '{}')
    from (select i.*, coalesce((select max(p.sequence) from ${run_phases} p where p.run_id = i.id), 0) as last
      from (${source}) i offset 0) x
      cross join jsonb_array_elements(x.facts) with ordinality as e(fact, ordinality)`;
}
