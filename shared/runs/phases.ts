import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { run_phases } from "../db/schema/index.ts";
import type { PHASES, PhaseOutcome } from "./schemas.ts";

/** One fact about a run. Metadata is small and holds no prompt, output, URL, credential or raw error. */
export interface PhaseEvent {
  phase: (typeof PHASES)[number];
  outcome: z.output<typeof PhaseOutcome>;
  duration_ms?: number | null;
  metadata?: Record<string, string | number | boolean | null>;
}

/**
 * SQL: a part that appends facts to the runs that the query `runIds` (column `id`) yields. `found` is SQL of type jsonb over
 * the columns of `runIds` (as `x`): metadata that only the statement knows, by phase.
 * @example
 * appendPhases(sql`select id from ended`, [{ phase: "scored", outcome: "succeeded" }], ctx.now())
 */
export function appendPhases(runIds: SQL, events: readonly PhaseEvent[], at: Date, found = sql`'{}'::jsonb`): SQL {
  const rows = JSON.stringify(
    events.map(({ phase, outcome, duration_ms, metadata }) => ({
      phase,
      outcome,
      duration_ms: duration_ms ?? null,
      metadata: metadata ?? {},
    })),
  );
  return sql`insert into ${run_phases} (run_id, sequence, phase, outcome, occurred_at, duration_ms, metadata)
    select x.id, coalesce((select max(p.sequence) from ${run_phases} p where p.run_id = x.id), 0) + e.ordinality,
      e.event ->> 'phase', e.event ->> 'outcome', ${at.toISOString()}::timestamptz, (e.event ->> 'duration_ms')::integer,
      (e.event -> 'metadata') || coalesce(${found} -> (e.event ->> 'phase'), '{}')
    from (${runIds}) x cross join jsonb_array_elements(${rows}::jsonb) with ordinality as e(event, ordinality)`;
}
