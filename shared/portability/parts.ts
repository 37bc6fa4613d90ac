import { sql } from "drizzle-orm";
import * as z from "zod";
import { AgentRow, agentJson, toAgentRead } from "../agents/view.ts";
import { TaskSubmissionRead } from "../catalogue/submissions/schemas.ts";
import { submissionJson } from "../catalogue/submissions/view.ts";
import type { Rows } from "../db/rows.ts";
import {
  agents,
  api_keys,
  passkeys,
  purchases,
  run_exchanges,
  runs,
  screening_schedules,
  screening_sessions,
  task_submissions,
  tasks,
  team_members,
  teams,
  webhook_deliveries,
  webhook_events,
  webhooks,
} from "../db/schema/index.ts";
import { ApiKeyRead } from "../identity/api-keys/schemas.ts";
import { keyJson } from "../identity/api-keys/view.ts";
import { PasskeyRead } from "../identity/passkeys/schemas.ts";
import { passkeyJson } from "../identity/passkeys/view.ts";
import { PurchaseRead } from "../marketplace/shown.ts";
import { purchaseJson } from "../marketplace/purchases/view.ts";
import type { Context } from "../platform/context.ts";
import { Exchange, exchangeJson } from "../results/reads.ts";
import { ScreeningSessionRead } from "../runs/sessions-shown.ts";
import { RunRead } from "../runs/shown.ts";
import { sessionJson } from "../runs/sessions.ts";
import { askedFor, mayRun, runJson, runsWithAgents } from "../runs/view.ts";
import { ScheduleRead } from "../schedules/shown.ts";
import { scheduleJson } from "../schedules/view.ts";
import { TeamRead } from "../teams/shown.ts";
import { teamJson } from "../teams/view.ts";
import { DeliveryRead, WebhookRead } from "../webhooks/shown.ts";
import { deliveryJson, webhookJson } from "../webhooks/view.ts";

/** How many rows that may be large, or take many lookups each, are read at once. */
const FEW = 100;

/**
 * What an account holds beside its profile, by the names of the files that it fills. Each row is told as the endpoint for it
 * tells it, so that what that leaves out, secrets above all, is left out here. What belongs to a workspace is not the account's,
 * and neither is anything of the workspace's other members: of a workspace there is its name and the account's place in it.
 */
export function partsOf(ctx: Context, userId: string): Readonly<Record<string, Rows<z.ZodType>>> {
  const me = sql`${userId}::uuid`;
  return {
    agents: {
      item: AgentRow.transform(toAgentRead),
      json: agentJson(userId),
      from: sql`${agents} a where a.user_id = ${me} and a.team_id is null`,
      id: sql`a.id`,
      atOnce: FEW,
    },
    runs: {
      item: RunRead,
      json: runJson(mayRun("see", userId)),
      from: sql`${runsWithAgents(sql`${runs}`)} where ${askedFor("r", userId)}`,
      id: sql`r.id`,
    },
    answers: {
      item: Exchange,
      json: exchangeJson,
      from: sql`${runsWithAgents(sql`${runs}`)} join ${tasks} t on t.id = r.task_id
        join ${run_exchanges} e on e.run_id = r.id where ${askedFor("r", userId)} and ${mayRun("see_outputs", userId)}`,
      id: sql`r.id`,
      atOnce: FEW,
    },
    "screening-sessions": {
      item: ScreeningSessionRead,
      json: sessionJson,
      from: sql`${screening_sessions} s where ${askedFor("s", userId)}`,
      id: sql`s.id`,
      atOnce: FEW,
    },
    schedules: {
      item: ScheduleRead,
      json: scheduleJson,
      from: sql`${screening_schedules} s join ${agents} a on a.id = s.agent_id
        where a.user_id = ${me} and a.team_id is null`,
      id: sql`s.id`,
    },
    webhooks: {
      item: WebhookRead,
      json: webhookJson,
      from: sql`${webhooks} w where w.user_id = ${me} and w.team_id is null`,
      id: sql`w.id`,
    },
    "webhook-deliveries": {
      item: DeliveryRead.extend({ webhook_id: z.uuid() }),
      json: sql`${deliveryJson}::jsonb || jsonb_build_object('webhook_id', d.webhook_id)`,
      from: sql`${webhook_deliveries} d join ${webhook_events} e on e.id = d.event_id where true`,
      id: sql`d.id`,
      under: {
        from: sql`${webhooks} w where w.user_id = ${me} and w.team_id is null`,
        id: sql`w.id`,
        parent: sql`d.webhook_id`,
      },
    },
    passkeys: { item: PasskeyRead, json: passkeyJson, from: sql`${passkeys} p where p.user_id = ${me}`, id: sql`p.id` },
    "api-keys": { item: ApiKeyRead, json: keyJson, from: sql`${api_keys} k where k.user_id = ${me}`, id: sql`k.id` },
    workspaces: {
      item: TeamRead.omit({ owner_id: true }),
      json: teamJson(ctx, sql`m.role`),
      from: sql`${teams} t join ${team_members} m on m.team_id = t.id where m.user_id = ${me}`,
      id: sql`t.id`,
    },
    purchases: {
      item: PurchaseRead,
      json: purchaseJson,
      from: sql`${purchases} p where p.buyer_id = ${me}`,
      id: sql`p.id`,
    },
    proposals: {
      item: TaskSubmissionRead,
      json: submissionJson,
      from: sql`${task_submissions} s where s.submitter_id = ${me}`,
      id: sql`s.id`,
    },
  };
}
