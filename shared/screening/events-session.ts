import { sql } from "drizzle-orm";
import type * as z from "zod";
import { agents, runs, screening_sessions } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { type EventStream, follow, type Look, type Sleep } from "./events.ts";
import { RunRead, ScreeningSessionRead } from "./schemas.ts";
import { runOrder, sessionJson, underWay, visibleSession } from "./sessions.ts";
import { mayRun, type RunRow, runJson } from "./view.ts";

/** A session without the plan and the members. */
const SessionProgress = ScreeningSessionRead.omit({ task_plan: true, run_ids: true });

interface SessionNews {
  session: z.input<typeof SessionProgress>;
  state: string;
  runs: RunRow[];
}

/**
 * The events of a session after `cursor`: `run` for each member run whose status is another one than the reader knows, then
 * `session` with the counts; one that is completed or cancelled is the last. A session to which runs may still be added
 * stays open. `seen` for a reader that has had the last one; throws 404.
 *
 * The cursor is what the reader knows, a letter a run in the order of `run_ids`: q queued, r running, c completed, f
 * failed, x cancelled; `+` behind them while a certification may add runs, `-` for a session that ended without any; empty
 * to begin with. So nothing is missed, whichever clock or order the runs ended by.
 */
export async function followSession(
  ctx: Context,
  principal: Principal,
  sessionId: string,
  cursor: string,
  sleep?: Sleep,
): Promise<EventStream | "seen"> {
  const viewer = viewerId(principal);
  const stream = await follow(ctx, (known) => lookAtSession(ctx, viewer, sessionId, known), cursor, sleep);
  if (stream === null) throw notFound("screening session");
  return stream;
}

async function lookAtSession(
  ctx: Context,
  viewer: string | null,
  sessionId: string,
  known: string,
): Promise<Look<string> | null> {
  const letters = known.replace(/[+-]$/, "");
  const news = await readJson<SessionNews>(
    ctx,
    sql`select jsonb_build_object('session', ${sessionJson}, 'state', coalesce(x.letters, '') || case
          when ${underWay} is not null then '+' when x.letters is null then '-' else '' end,
        'runs', coalesce(x.runs, '[]')) as result
      from ${screening_sessions} s join ${agents} a on a.id = s.agent_id cross join lateral (
        select string_agg(r.letter, '' order by r.place) as letters,
          jsonb_agg(${runJson(mayRun("see", viewer))} order by r.place)
            filter (where r.letter <> coalesce(nullif(substr(${letters}, r.place::integer, 1), ''), 'q')) as runs
        from (
          select *, case status when 'cancelled' then 'x' else left(status, 1) end as letter,
            row_number() over (order by ${runOrder}) as place
          from ${runs} r where r.screening_session_id = s.id
        ) r
      ) x
      where s.id = ${sessionId}::uuid and ${visibleSession(viewer)}`,
  );
  if (news === null) return null;
  const { session, state } = news;
  const events = news.runs.map((run) => ({ event: "run", data: RunRead.parse(run) }));
  const ended = session.status === "completed" || session.status === "cancelled";
  if (known !== "" && known === state) return { events, cursor: state, ended };
  return {
    events: [...events, { event: "session", id: state, data: SessionProgress.parse(session) }],
    cursor: state,
    ended,
  };
}
