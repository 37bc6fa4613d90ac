import { type SQL, sql } from "drizzle-orm";
import { agentOwner } from "../agents/conditions.ts";
import { verdict } from "../db/change.ts";
import { agents, webhooks } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { encrypt } from "../platform/encryption.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { may, ownerOf } from "../teams/rights.ts";

/** What encrypted secrets are bound to. */
export const SECRET_PURPOSE = "webhook";

/** The owner columns of the subscription row `w`, for `may`. */
export const webhookOwner = { user_id: sql`w.user_id`, team_id: sql`w.team_id` };

/**
 * SQL: the JSON of the subscription row `w`; its secret never leaves the database this way, nor does the name of an agent
 * that has another owner by now.
 */
export const webhookJson: SQL = sql`json_build_object('id', w.id, 'url', w.url, 'event_types', w.event_types,
  'description', w.description, 'agent_id', w.agent_id, 'agent_name', (
    select a.name from ${agents} a where a.id = w.agent_id and ${ownerOf(agentOwner)} = ${ownerOf(webhookOwner)}),
  'team_id', w.team_id, 'has_secret', w.secret is not null,
  'is_active', w.is_active, 'disabled_reason', w.disabled_reason, 'created_at', w.created_at)`;

/** SQL: the JSON of the attempt row `d` at the event row `e`. Without an answer, its excerpt says why there is none. */
export const deliveryJson: SQL = sql`json_build_object('id', d.id, 'event_id', d.event_id, 'event_type', e.type,
  'attempt', d.attempt, 'status', d.status, 'response_status', d.response_status, 'duration_ms', d.duration_ms,
  'response_excerpt', case when d.response_status is not null then d.response_excerpt end,
  'failure_detail', case when d.response_status is null then d.response_excerpt end,
  'attempted_at', d.attempted_at, 'next_attempt_at', d.next_attempt_at)`;

/** SQL: the subscription if the viewer sees it, and in `allowed` whether the viewer may change it. */
export function visibleWebhook(viewer: string, webhookId: string): SQL {
  return sql`select w.*, ${may("edit", viewer, webhookOwner)} as allowed from ${webhooks} w
    where w.id = ${webhookId}::uuid and ${may("see", viewer, webhookOwner)}`;
}

/** SQL: the lock under which one subscription changes: one that was deleted at this moment is then not found. */
export function lockWebhook(webhookId: string): SQL {
  return sql`select from ${webhooks} where id = ${webhookId}::uuid for no key update`;
}

/** The verdict on changing the subscription row `t` of `visibleWebhook`. */
export const EDITING = verdict({ forbidden: sql`not t.allowed` });

/** The verdict on sending something to the subscription row `t` of `visibleWebhook`. */
export const SENDING = verdict({ forbidden: sql`not t.allowed`, inactive: sql`not t.is_active` });

/** The 404 for a subscription that the caller does not see. */
export function noWebhook(): Problem {
  return notFound("webhook");
}

/** The 403 for a subscription that the caller may only see. */
export function notAllowed(): Problem {
  return new Problem("forbidden", "Only the owner, or an editor of its workspace, may do this with the webhook.");
}

/** The 409 for sending to a subscription that is turned off. */
export function webhookInactive(): Problem {
  return new Problem("webhook_inactive", "Nothing is sent while it is off; PATCH it with is_active true first.");
}

/** A secret as it is stored; null for none. */
export function sealSecret(ctx: Pick<Context, "env">, secret: string | null | undefined): string | null {
  return secret == null ? null : encrypt(secret, ctx.env.DATA_ENCRYPTION_KEYS, SECRET_PURPOSE);
}

/** SQL: event types as an array of text. */
export function typesArray(types: readonly string[]): SQL {
  return sql`array(select jsonb_array_elements_text(${JSON.stringify(types)}::jsonb))`;
}
