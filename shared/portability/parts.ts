import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { AgentRow, agentJson, toAgentRead } from "../agents/view.ts";
import { AnalyticsEvent, eventJson } from "../analytics/event.ts";
import { TaskSubmissionRead } from "../catalogue/submissions/schemas.ts";
import { submissionJson } from "../catalogue/submissions/view.ts";
import { BoughtCertification, boughtBy, boughtJson } from "../certification/bought.ts";
import type { Rows } from "../db/rows.ts";
import {
  agents,
  analytics_events,
  api_keys,
  architecture_versions,
  identities,
  listings,
  passkeys,
  purchases,
  revenue,
  run_exchanges,
  runs,
  screening_schedules,
  screening_sessions,
  scorecards,
  spans,
  survey_responses,
  task_submissions,
  tasks,
  team_members,
  teams,
  users,
  webhook_deliveries,
  webhook_events,
  webhooks,
} from "../db/schema/index.ts";
import { ApiKeyRead } from "../identity/api-keys/schemas.ts";
import { keyJson } from "../identity/api-keys/view.ts";
import { identityId, identityJson, LinkedIdentity } from "../identity/code-host/view.ts";
import { PasskeyRead } from "../identity/passkeys/schemas.ts";
import { passkeyJson } from "../identity/passkeys/view.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import { SessionRead } from "../identity/shown.ts";
import { sessionJson, signedIn } from "../identity/sessions/view.ts";
import { listingJson } from "../marketplace/listings/view.ts";
import { Sale, saleJson } from "../marketplace/purchases/sales.ts";
import { purchaseJson } from "../marketplace/purchases/view.ts";
import { ListingRead, PurchaseRead } from "../marketplace/shown.ts";
import type { Context } from "../platform/context.ts";
import { Exchange, exchangeJson } from "../results/reads.ts";
import { SpanRead, spanJson } from "../results/spans.ts";
import { KeptVersion, versionJson } from "../results/timeline.ts";
import { ScreeningSessionRead } from "../runs/sessions-shown.ts";
import { RunRead } from "../runs/shown.ts";
import { sessionJson as screeningJson } from "../runs/sessions.ts";
import { askedFor, mayRun, runJson, runsWithAgents } from "../runs/view.ts";
import { ScheduleRead } from "../schedules/shown.ts";
import { scheduleJson } from "../schedules/view.ts";
import { ScorecardRead } from "../scorecards/shown.ts";
import { scorecardJson } from "../scorecards/view.ts";
import { SurveyTurn } from "../survey/schemas.ts";
import { responseJson } from "../survey/view.ts";
import { TeamRead } from "../teams/shown.ts";
import { teamJson } from "../teams/view.ts";
import { DeliveryRead, WebhookRead } from "../webhooks/shown.ts";
import { deliveryJson, webhookJson } from "../webhooks/view.ts";

/** SQL: a query of the greatest id for which `condition` holds of a run `k` that the agent row `a` sent spans of. */
function runBelow(condition: SQL): SQL {
  return sql`select k.run_id from ${spans} k where k.agent_id = a.id and ${condition} order by k.run_id desc limit 1`;
}

/** How many rows that may be large, or take many lookups each, are read at once. */
const FEW = 100;

/**
 * What an account holds beside its profile, by the names of the files that it fills. Each row is told as the endpoint for it
 * tells it, so that what that leaves out, secrets above all, is left out here. What belongs to a workspace is not the account's,
 * and neither is anything of the workspace's other members: of a workspace there is its name and the account's place in it.
 */
export function partsOf(
  ctx: Context,
  { userId, sessionId }: Pick<SessionPrincipal, "userId" | "sessionId">,
): Readonly<Record<string, Rows<z.ZodType>>> {
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
      json: screeningJson,
      from: sql`${screening_sessions} s where ${askedFor("s", userId)}`,
      id: sql`s.id`,
      atOnce: FEW,
    },
    spans: {
      item: SpanRead.extend({ run_id: z.uuid() }),
      json: sql`${spanJson} || jsonb_build_object('run_id', s.run_id)`,
      from: sql`${spans} s where true`,
      // Its sixteen digits, which are a span's alone within its run.
      id: sql`lpad(s.span_id, 32, '0')::uuid`,
      under: {
        parent: sql`s.run_id`,
        // From run to run, each by one step in the index on both, however many spans it has.
        ids: (last, most) => sql`select o.run_id as id from ${agents} a cross join lateral (
            with recursive told as (
              select (${runBelow(sql`k.run_id <= ${last}`)}) as run_id, 1 as n
              union all
              select (${runBelow(sql`k.run_id < t.run_id`)}), t.n + 1 from told t where t.run_id is not null and t.n < ${most}
            ) select run_id from told where run_id is not null
          ) o where a.user_id = ${me} and a.team_id is null`,
      },
    },
    versions: {
      item: KeptVersion,
      json: versionJson,
      from: sql`${architecture_versions} v where true`,
      // Its number, which is a version's alone within its agent.
      id: sql`lpad(to_hex(v.version), 32, '0')::uuid`,
      under: {
        parent: sql`v.agent_id`,
        ids: (last) =>
          sql`select a.id from ${agents} a where a.user_id = ${me} and a.team_id is null and a.id <= ${last}`,
      },
    },
    certifications: {
      item: BoughtCertification,
      json: boughtJson,
      from: boughtBy(userId),
      id: sql`c.id`,
    },
    schedules: {
      item: ScheduleRead,
      json: scheduleJson(userId),
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
        parent: sql`d.webhook_id`,
        ids: (last) =>
          sql`select w.id from ${webhooks} w where w.user_id = ${me} and w.team_id is null and w.id <= ${last}`,
      },
    },
    passkeys: { item: PasskeyRead, json: passkeyJson, from: sql`${passkeys} p where p.user_id = ${me}`, id: sql`p.id` },
    "api-keys": { item: ApiKeyRead, json: keyJson, from: sql`${api_keys} k where k.user_id = ${me}`, id: sql`k.id` },
    sessions: {
      item: SessionRead,
      json: sessionJson(sessionId),
      from: signedIn(userId, ctx.now()),
      id: sql`s.id`,
    },
    "linked-accounts": {
      item: LinkedIdentity,
      json: identityJson,
      from: sql`${identities} i where i.user_id = ${me}`,
      id: identityId,
    },
    scorecards: {
      item: ScorecardRead,
      json: scorecardJson,
      from: sql`${scorecards} s where s.user_id = ${me} and s.team_id is null`,
      id: sql`s.id`,
    },
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
    listings: {
      item: ListingRead,
      json: listingJson(userId),
      from: sql`${listings} l join ${agents} a on a.id = l.agent_id join ${users} u on u.id = l.seller_id
        where l.seller_id = ${me}`,
      id: sql`l.id`,
    },
    sales: {
      item: Sale,
      json: saleJson,
      from: sql`${revenue} v join ${purchases} p on p.id = v.purchase_id where v.seller_id = ${me}`,
      id: sql`v.purchase_id`,
    },
    "survey-answers": {
      item: SurveyTurn,
      json: responseJson,
      from: sql`${survey_responses} r where r.user_id = ${me}`,
      id: sql`r.id`,
    },
    events: {
      item: AnalyticsEvent,
      json: eventJson,
      from: sql`${analytics_events} e where e.user_id = ${me}`,
      id: sql`e.id`,
    },
    proposals: {
      item: TaskSubmissionRead,
      json: submissionJson,
      from: sql`${task_submissions} s where s.submitter_id = ${me}`,
      id: sql`s.id`,
    },
  };
}
