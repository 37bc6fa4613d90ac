import { sql } from "drizzle-orm";
import type * as z from "zod";
import { run_phases, runs } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { type EventStream, follow, type Look, type Sleep } from "./events.ts";
import { RunPhases, RunRead } from "./schemas.ts";
import { mayRun, type RunRow, runJson, runsWithAgents, visibleRun } from "./view.ts";

/** How far a reader has come: the sequence of the last fact it was told, or `final` after the closing event. */
export type RunCursor = number | "final";

const PhaseRead = RunPhases.shape.items.element;

interface RunNews {
  phases: z.input<typeof PhaseRead>[];
  /** The run once it is final. */
  run: RunRow | null;
}

/**
 * The events of a run after `cursor`: `phase` for each fact, then `run` with the final run as the caller sees it, which is
 * the last. `seen` for a reader that has had that one; throws 404.
 */
export async function followRun(
  ctx: Context,
  principal: Principal,
  runId: string,
  cursor: RunCursor,
  sleep?: Sleep,
): Promise<EventStream | "seen"> {
  const viewer = viewerId(principal);
  const stream = await follow(ctx, (after) => lookAtRun(ctx, viewer, runId, after), cursor, sleep);
  if (stream === null) throw notFound("run");
  return stream;
}

async function lookAtRun(
  ctx: Context,
  viewer: string | null,
  runId: string,
  after: RunCursor,
): Promise<Look<RunCursor> | null> {
  const news = await readJson<RunNews>(
    ctx,
    sql`select jsonb_build_object(
        'run', case when r.status not in ('queued', 'running') then ${runJson(mayRun("see", viewer))} end,
        'phases', coalesce((select jsonb_agg(to_jsonb(p) - 'run_id' order by p.sequence) from ${run_phases} p
          where p.run_id = r.id and p.sequence > ${after === "final" ? 0 : after}), '[]')) as result
      from ${runsWithAgents(sql`${runs}`)} where r.id = ${runId}::uuid and ${visibleRun(viewer)}`,
  );
  if (news === null) return null;
  const { run, phases } = news;
  if (run !== null && after === "final") return { events: [], cursor: after, ended: true };
  const facts = phases.map((phase) => ({ event: "phase", id: String(phase.sequence), data: PhaseRead.parse(phase) }));
  const cursor = phases.at(-1)?.sequence ?? after;
  if (run === null) return { events: facts, cursor, ended: false };
  return { events: [...facts, { event: "run", id: "final", data: RunRead.parse(run) }], cursor: "final", ended: true };
}
