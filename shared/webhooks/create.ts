import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { accountOf, accountOfAgent, lockAccounts } from "../agents/account.ts";
import { assertCallable } from "../agents/endpoint.ts";
import { agentOwner, visibleAgent } from "../agents/view.ts";
import { planLimit } from "../billing/plans.ts";
import { agents, users, webhooks } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import { endedMeanwhile, stillHolds } from "../identity/passwords/disown.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import type { WebhookCreate } from "./schemas.ts";
import { sealSecret, typesArray, webhookJson, webhookOwner, type WebhookRow } from "./view.ts";

interface Outcome {
  outcome: "created" | "ended" | "no_agent" | "forbidden" | "quota";
  limit: number;
  used: number;
  webhook: WebhookRow | null;
}

/**
 * Subscribes to the events of an agent that the caller may change, for the owner of the agent, or of all personal
 * agents of the caller. What a workspace has, active or not, counts against the plan of its owner. Throws
 * `endpoint_not_allowed`, 404 and 403 for the agent, `quota_exceeded`.
 */
export async function createWebhook(
  ctx: Context,
  principal: SessionPrincipal,
  input: z.output<typeof WebhookCreate>,
): Promise<WebhookRow> {
  const url = await assertCallable(ctx, input.url, "/url");
  const viewer = principal.userId;
  const agentId = input.agent_id ?? null;
  const scope: SQL =
    agentId === null
      ? sql`select null::uuid as agent_id, null::uuid as team_id, ${viewer}::uuid as user_id, true as allowed`
      : sql`select a.id as agent_id, a.team_id, ${viewer}::uuid as user_id, ${may("edit", viewer, agentOwner)} as allowed
          from ${agents} a where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}`;
  const ctes = sql`with scope as (${scope}), counted as (
    select w.*, ${planLimit(sql`u.plan`, "webhooks")} as plan_limit, (select count(*) from ${webhooks} o
      where (o.team_id is null and w.team_id is null and o.user_id = w.user_id) or o.team_id = w.team_id)::integer as used
    from scope w join ${users} u on u.id = ${accountOf(webhookOwner)}
  ), checked as (
    select *, case when not ${stillHolds(principal)} then 'ended' when not allowed then 'forbidden' when used >= plan_limit then 'quota' else 'created' end as outcome
    from counted
  ), w as (
    insert into ${webhooks} (user_id, team_id, agent_id, url, event_types, secret, description, is_active)
    select user_id, team_id, agent_id, ${url}, ${typesArray(input.event_types)}, ${sealSecret(ctx, input.secret)},
      ${input.description ?? null}, ${input.is_active} from checked where outcome = 'created' returning *
  )`;
  const result = sql`select jsonb_build_object('outcome', coalesce((select outcome from checked), 'no_agent'),
    'limit', (select plan_limit from checked), 'used', (select used from checked),
    'webhook', (select ${webhookJson} from w)) as result`;
  // Creations for one account take turns, so that the limit is not passed.
  const lock = lockAccounts(agentId === null ? sql`select ${viewer}::uuid` : accountOfAgent(agentId));
  return judge(await writeJson<Outcome>(ctx, ctes, result, lock));
}

function judge({ outcome, limit, used, webhook }: Outcome): WebhookRow {
  switch (outcome) {
    case "ended":
      throw endedMeanwhile();
    case "no_agent":
      throw notFound("agent");
    case "forbidden":
      throw new Problem("forbidden", "Only the owner, or an editor of its workspace, may subscribe to this agent.");
    case "quota":
      throw new Problem("quota_exceeded", `The plan allows ${limit} webhooks. Delete one or upgrade.`, {
        members: { limit, used, resets_at: null },
      });
    default:
      return webhook as WebhookRow;
  }
}
