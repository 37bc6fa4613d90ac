import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { unlessKept } from "../db/statement.ts";
import { agents, runs, screening_sessions, tasks } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { sessionState, visibleSession } from "./sessions.ts";
import { submit } from "./submit.ts";
import { mayRun } from "./view.ts";

/** Which tasks of a session are run again. */
export const RerunCreate = z
  .strictObject({
    which: z.enum(["not_passed", "failed"]).default("not_passed").meta({
      description:
        "`not_passed`: the tasks with a run that did not pass or failed; `failed`: those with a run that brought no gradable answer",
    }),
  })
  .meta({ id: "RerunCreate" });

const Plan = z.object({
  agent_id: z.uuid(),
  allowed: z.boolean(),
  status: z.string(),
  repeats: z.int(),
  is_private: z.boolean(),
  task_ids: z.array(z.uuid()),
});

/**
 * Runs those tasks of a session again that did not go well, each as often as the session did: a new session, as `submit`
 * makes it, from the usual allowance, with the runs of the old one as they are. Canaries, cancelled runs, and tasks that
 * were retired since or are secret are left out. Throws 404 for a session that is not visible, `run_in_progress` while it is
 * not over, `task_unavailable` where there is nothing to run again, and what `submit` throws.
 */
export async function rerun(
  ctx: Context,
  principal: UserPrincipal,
  sessionId: string,
  { which }: z.output<typeof RerunCreate>,
) {
  const plan = await unlessKept(ctx, () => planOf(ctx, principal, sessionId, which));
  // Where the answer is kept, nothing is planned and nothing submitted.
  const { agent_id, task_ids, repeats, is_private } = plan ?? NOTHING;
  return submit(ctx, principal, {
    agentId: agent_id,
    tasks: { kind: "exact", taskIds: task_ids },
    repeats,
    isPrivate: is_private,
  });
}

const NOTHING = { agent_id: "00000000-0000-0000-0000-000000000000", task_ids: [], repeats: 1, is_private: false };

/** What of a session is run again. */
async function planOf(
  ctx: Context,
  principal: UserPrincipal,
  sessionId: string,
  which: z.output<typeof RerunCreate>["which"],
): Promise<z.output<typeof Plan>> {
  const again = which === "failed" ? sql`r.status = 'failed'` : sql`(r.status = 'failed' or r.passed is false)`;
  const plan = await read(
    ctx,
    Plan,
    sql`select jsonb_build_object('agent_id', s.agent_id, 'allowed', ${mayRun("run", principal.userId)}, 'status', ${sessionState}, 'repeats', s.repeats,
        'is_private', s.is_private, 'task_ids', coalesce((
          select jsonb_agg(x.task_id order by x.position) from (
            select r.task_id, min(r.position) as position from ${runs} r join ${tasks} t on t.id = r.task_id
            where r.screening_session_id = s.id and ${again} and r.canary is not true and t.is_active and not t.is_secret
            group by r.task_id) x), '[]')) as result
      from ${screening_sessions} s join ${agents} a on a.id = s.agent_id
      where s.id = ${sessionId}::uuid and ${visibleSession(principal.userId)}`,
  );
  if (plan === null) throw notFound("screening session");
  if (!plan.allowed) throw new Problem("forbidden", "Only those who may run the agent may run its failures again.");
  if (plan.status !== "completed" && plan.status !== "cancelled")
    throw new Problem(
      "run_in_progress",
      "Not all runs of the session are final; run its failures again once they are.",
    );
  if (plan.task_ids.length === 0)
    throw new Problem(
      "task_unavailable",
      "The session has no such run of a task that can still be run; nothing was reserved.",
    );
  return plan;
}
