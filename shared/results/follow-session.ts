import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { ANSWERED } from "../db/listing.ts";
import { agents, runs, screening_sessions } from "../db/schema/index.ts";
import type { Principal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import type { Sighting } from "../platform/streams.ts";
import { ScreeningSessionRead } from "../runs/sessions-shown.ts";
import { runOrder, sessionJson, underWay, visibleSession } from "../runs/sessions.ts";
import { mayRun, runParts } from "../runs/view.ts";
import { type EventStream, follow, type News, sighting, type Sleep } from "./follow.ts";
import { Rights, rightsOf } from "./follow-rights.ts";
import { RunParts, runFor } from "./run-parts.ts";

/** A session without its plan and the ids of its runs. */
const SessionProgress = ScreeningSessionRead.omit({ task_plan: true, run_ids: true });

const SessionNews = z.object({
  rights: Rights,
  session: SessionProgress,
  state: z.string(),
  /** Whether more runs have changed than fit into an answer: the state has the others as they were known. */
  is_cut: z.boolean(),
  /** The runs whose status differs from the one in the known state, with their places, from 1. */
  runs: z.array(z.object({ place: z.number(), run: RunParts })),
});

/**
 * The events of a session after `cursor`: `run` for each of its runs whose status differs from the one that the reader
 * knows, then `session` with the counts; where that is more than fits into an answer, the rest follows with the next look. The event of a session that is completed or cancelled is the last one; a session
 * to which runs may still be added stays open. `seen` for a reader that has had the last event; throws 404 and what `follow`
 * throws.
 *
 * The cursor says what the reader knows, with one letter for each run in the order of `run_ids`: q queued, r running, c
 * completed, f failed, x cancelled; followed by `+` while a certification may add runs or results are held back, or by `-` for a session that ended
 * without any; empty at the beginning. So no change is missed, in whatever order and by whichever clock the runs end.
 */
export async function followSession(
  ctx: Context,
  principal: Principal,
  sessionId: string,
  cursor: string,
  sleep?: Sleep,
): Promise<EventStream | "seen"> {
  const topic = {
    subject: `session:${sessionId.toLowerCase()}`,
    principal,
    look: (viewers: readonly (string | null)[], known: string) => lookAtSession(ctx, viewers, sessionId, known),
  };
  const stream = await follow(ctx, topic, cursor, sleep);
  if (stream === null) throw notFound("screening session");
  return stream;
}

const lettersOf = (cursor: string): string => cursor.replace(/[+-]$/, "");

async function lookAtSession(
  ctx: Context,
  viewers: readonly (string | null)[],
  sessionId: string,
  known: string,
): Promise<Sighting> {
  const found = await read(
    ctx,
    SessionNews,
    sql`select json_build_object('rights', v.rights, 'session', ${sessionJson}, 'state', coalesce(x.letters, '') || case
          when ${underWay} is not null or x.is_held then '+' when x.letters is null then '-' else '' end,
        'is_cut', coalesce(x.is_cut, false), 'runs', coalesce(x.runs, '[]')) as result
      from ${screening_sessions} s join ${agents} a on a.id = s.agent_id
        cross join ${rightsOf(ctx.now(), viewers, visibleSession, (viewer) => mayRun("see", viewer))} cross join lateral (
        select string_agg(case when r.fits then r.letter else r.known end, '' order by r.place) as letters,
          bool_or(r.canary is null) as is_held, bool_or(not r.fits) as is_cut,
          json_agg(json_build_object('place', r.place, 'run', r.run) order by r.place) filter (where r.fits and r.run is not null) as runs
        from (
          select *, r.run is null or sum(octet_length(r.run::text)) over (order by r.place) <= ${ANSWERED} as fits
          from (
            select r.place, r.letter, r.known, r.canary, case when r.letter <> r.known then ${runParts} end as run
            from (
              select *, coalesce(nullif(substr(${lettersOf(known)}, r.place::integer, 1), ''), 'q') as known
              from (
                select *, case status when 'cancelled' then 'x' else left(status, 1) end as letter,
                  row_number() over (order by ${runOrder}) as place
                from ${runs} r where r.screening_session_id = s.id
              ) r
            ) r
          ) r
        ) r
      ) x
      where s.id = ${sessionId}::uuid`,
  );
  if (found === null) return sighting(viewers, {}, () => null);
  return sighting(viewers, found.rights, (own, cursor) => newsOf(found, own, cursor));
}

/** What is new to a reader who knows `cursor`; null where that includes a run that was already known to whoever looked. */
function newsOf(
  { session, state, is_cut, runs: changed }: z.output<typeof SessionNews>,
  own: boolean,
  cursor: string,
): News | null {
  const [now, before] = [lettersOf(state), lettersOf(cursor)];
  const isNew = (index: number): boolean => now[index] !== (before[index] ?? "q");
  const unseen = changed.filter(({ place }) => isNew(place - 1));
  if (Array.from(now).filter((_letter, index) => isNew(index)).length > unseen.length) return null;
  const ended = session.status === "completed" || session.status === "cancelled";
  if (cursor !== "" && cursor === state) return { events: [], cursor: state, ended };
  const events = unseen.map(({ run }) => ({ event: "run", data: runFor(run, own) }));
  // The counts would be ahead of what was told, and those of a session that is over are the last event.
  if (is_cut) {
    const last = events.pop();
    return { events: last === undefined ? [] : [...events, { ...last, id: state }], cursor: state, ended: false };
  }
  const end = { event: "session", id: state, data: session };
  return { events: [...events, end], cursor: state, ended };
}
