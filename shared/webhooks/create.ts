import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { accountOfAgent, lockAccounts } from "../agents/account.ts";
import { assertCallable } from "../agents/endpoint.ts";
import { agentOwner, visibleAgent } from "../agents/conditions.ts";
import { change, telling, verdict } from "../db/change.ts";
import { agents, webhooks } from "../db/schema/index.ts";
import { unlessKept } from "../db/statement.ts";
import { stillHolds } from "../identity/passwords/disown.ts";
import { actorId, type UserPrincipal, workspaceOf } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { bodyProblem, endedMeanwhile, notFound, Problem } from "../platform/problem.ts";
import { beyondPlan, limitOf, planExceeded } from "../teams/limits.ts";
import { may } from "../teams/rights.ts";
import type { WebhookCreate } from "./schemas.ts";
import { WebhookRead } from "./shown.ts";
import { sealSecret, typesArray, webhookJson, webhookOwner } from "./view.ts";

const Used = z.object({ limit: z.int(), used: z.int() });

/**
 * Subscribes to the events of an agent that the caller may change, for the owner of the agent, or of all personal
 * agents of the caller. All webhooks of a workspace, active or not, count against the plan of its owner. Throws
 * `endpoint_not_allowed`, 404 and 403 for the agent, `quota_exceeded`.
 */
export async function createWebhook(
  ctx: Context,
  principal: UserPrincipal,
  input: z.output<typeof WebhookCreate>,
): Promise<z.output<typeof WebhookRead>> {
  const url = (await unlessKept(ctx, () => assertCallable(ctx, input.url, "/url"))) ?? input.url;
  const viewer = principal.userId;
  const agentId = input.agent_id ?? null;
  if (agentId === null && workspaceOf(principal) !== null)
    throw bodyProblem("validation_failed", "/agent_id", "A workspace's key subscribes to one agent; name it.");
  const creation = verdict({
    ended: sql`not ${stillHolds(principal)}`,
    forbidden: sql`not allowed`,
    quota: sql`used >= plan_limit`,
  });
  const { webhook } = await change(ctx, {
    // Creations for one account take turns, so that together they stay within the limit.
    lock: lockAccounts(agentId === null ? sql`select ${viewer}::uuid` : accountOfAgent(agentId)),
    parts: sql`with scope as (${scopeOf(viewer, actorId(principal), agentId)}), counted as (
      select w.*, ${limitOf(ctx.now(), webhookOwner, "webhooks")} as plan_limit, (select count(*) from ${webhooks} o
        where coalesce(o.team_id, o.user_id) = coalesce(w.team_id, w.user_id))::integer as used
      from scope w
    ), checked as (
      select *, ${creation.sql} as outcome from counted
    ), w as (
      insert into ${webhooks} (user_id, team_id, agent_id, url, event_types, secret, description, is_active)
      select user_id, team_id, agent_id, ${url}, ${typesArray(input.event_types)}, ${sealSecret(ctx, input.secret)},
        ${input.description ?? null}, ${input.is_active} from checked where outcome = 'done' returning *
    )`,
    result: sql`select jsonb_build_object('outcome', c.outcome, 'limit', c.plan_limit, 'used', c.used,
      'webhook', (select ${webhookJson} from w)) as result from checked c`,
    verdict: creation,
    done: z.object({ webhook: WebhookRead }),
    refusals: {
      not_found: () => notFound("agent"),
      ended: endedMeanwhile,
      forbidden: () =>
        new Problem("forbidden", "Only the owner, or an editor of its workspace, may subscribe to this agent."),
      quota: telling(Used, ({ limit, used }) =>
        limit === 0
          ? beyondPlan(used)
          : planExceeded("webhooks", { limit, used }, `The plan allows ${limit} webhooks.`, "Delete one"),
      ),
    },
  });
  return webhook;
}

/** SQL: whose events are subscribed to, and in `allowed` whether the viewer may; no row for an agent that is not visible. */
function scopeOf(viewer: string, actor: string, agentId: string | null): SQL {
  return agentId === null
    ? sql`select null::uuid as agent_id, null::uuid as team_id, ${viewer}::uuid as user_id, true as allowed`
    : sql`select a.id as agent_id, a.team_id, ${actor}::uuid as user_id, ${may("edit", viewer, agentOwner)} as allowed
        from ${agents} a where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}`;
}
