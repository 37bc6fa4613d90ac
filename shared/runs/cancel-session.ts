import { sql } from "drizzle-orm";
import * as z from "zod";
import { lockAgents } from "../agents/lock.ts";
import { change, verdict } from "../db/change.ts";
import { agents, screening_sessions } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { assertRight } from "../teams/right.ts";
import { callingOff } from "./cancelling.ts";
import { FOLLOW_UP } from "./follow-up.ts";
import type { ScreeningSessionRead } from "./sessions-shown.ts";
import { readSession, visibleSession } from "./sessions.ts";
import { mayCancel } from "./view.ts";

const CANCELLATION = verdict({ forbidden: sql`not allowed` });

/** SQL: the session with this id, if the viewer may see it, as `id`, and whether they may cancel it, as `allowed`. */
function seen(sessionId: string, viewer: string) {
  return sql`select s.id, ${mayCancel("s", viewer)} as allowed
    from ${screening_sessions} s join ${agents} a on a.id = s.agent_id
    where s.id = ${sessionId}::uuid and ${visibleSession(viewer)}`;
}

/** Throws 404 for a session that is not visible, `forbidden` where the caller may not cancel it. */
export async function assertSessionRight(ctx: Context, { userId }: UserPrincipal, sessionId: string): Promise<void> {
  await assertRight(ctx, "screening session", seen(sessionId, userId));
}

/**
 * Cancels what is queued of a session and gives its allowance back; what was taken up goes on and counts, so that nobody
 * takes back what goes wrong. If anything was queued, the session is `cancelled` once the rest is final. Does nothing where
 * nothing is queued. Throws 404 for a session that is not visible, `forbidden` without the right.
 */
export async function cancelSession(
  ctx: Context,
  principal: UserPrincipal,
  sessionId: string,
): Promise<z.output<typeof ScreeningSessionRead>> {
  await change(ctx, {
    lock: lockAgents(sql`select s.agent_id from ${screening_sessions} s where s.id = ${sessionId}::uuid`),
    parts: sql`with seen as (${seen(sessionId, principal.userId)}), target as (
      select id, ${CANCELLATION.sql} as outcome from seen
    ), ${callingOff(sql`r.screening_session_id = (select id from target where outcome = 'done')`, ctx.now())}`,
    owes: FOLLOW_UP,
    result: sql`select jsonb_build_object('outcome', t.outcome) as result from target t`,
    verdict: CANCELLATION,
    done: z.object({}),
    refusals: {
      not_found: () => notFound("screening session"),
      forbidden: () =>
        new Problem(
          "forbidden",
          "Only those who may run the agent may cancel its screenings, and that of a certification only those who may buy one.",
        ),
    },
  });
  return await readSession(ctx, principal, sessionId);
}
