import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { isOpenRun, run_phases, runs } from "../db/schema/index.ts";
import type { Principal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import type { Sighting } from "../platform/streams.ts";
import { RunPhases } from "../runs/records-shown.ts";
import { mayRun, runParts, runsWithAgents, visibleRun } from "../runs/view.ts";
import { type EventStream, follow, type News, sighting, type Sleep } from "./follow.ts";
import { Rights, rightsOf } from "./follow-rights.ts";
import { RunParts, runFor } from "./run-parts.ts";

/** How much a reader has received: the sequence of the last fact that was sent to it, or `final` after the last event. */
export type RunCursor = number | "final";

const RunNews = z.object({
  rights: Rights,
  phases: RunPhases.shape.items,
  /** The run once it is final. */
  run: RunParts.nullable(),
});

/**
 * The events of a run after `cursor`: `phase` for each fact, and at the end `run` with the final run as the caller sees
 * it. `seen` for a reader that has had that last event; throws 404 and what `follow` throws.
 */
export async function followRun(
  ctx: Context,
  principal: Principal,
  runId: string,
  cursor: RunCursor,
  sleep?: Sleep,
): Promise<EventStream | "seen"> {
  const topic = {
    subject: `run:${runId.toLowerCase()}`,
    principal,
    look: (viewers: readonly (string | null)[], after: string) => lookAtRun(ctx, viewers, runId, after),
  };
  const stream = await follow(ctx, topic, String(cursor), sleep);
  if (stream === null) throw notFound("run");
  return stream;
}

/** The sequence of the last fact that a reader with this cursor knows. */
const sequenceOf = (cursor: string): number => (cursor === "final" ? 0 : Number(cursor));

async function lookAtRun(
  ctx: Context,
  viewers: readonly (string | null)[],
  runId: string,
  after: string,
): Promise<Sighting> {
  const found = await read(
    ctx,
    RunNews,
    sql`select json_build_object(
        'rights', v.rights,
        'run', case when not (${isOpenRun(sql`r.status`)}) then ${runParts} end,
        'phases', coalesce((select jsonb_agg(to_jsonb(p) - 'run_id' order by p.sequence) from ${run_phases} p
          where p.run_id = r.id and p.sequence > ${sequenceOf(after)}), '[]')) as result
      from ${runsWithAgents(sql`${runs}`)}
        cross join ${rightsOf(ctx.now(), viewers, visibleRun, (viewer) => mayRun("see", viewer))}
      where r.id = ${runId}::uuid`,
  );
  if (found === null) return sighting(viewers, {}, () => null);
  return sighting(viewers, found.rights, (own, cursor) =>
    sequenceOf(cursor) < sequenceOf(after) ? null : newsOf(found, own, cursor),
  );
}

function newsOf({ run, phases }: z.output<typeof RunNews>, own: boolean, cursor: string): News {
  if (run !== null && cursor === "final") return { events: [], cursor, ended: true };
  const facts = phases
    .filter(({ sequence }) => sequence > sequenceOf(cursor))
    .map((phase) => ({ event: "phase", id: String(phase.sequence), data: phase }));
  const last = facts.at(-1)?.id ?? cursor;
  if (run === null) return { events: facts, cursor: last, ended: false };
  const end = { event: "run", id: "final", data: runFor(run, own) };
  return { events: [...facts, end], cursor: "final", ended: true };
}
