import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { visibleAgent } from "../agents/conditions.ts";
import { AgentRow, agentJson, toAgentRead } from "../agents/view.ts";
import { AnalyticsEvent, eventJson } from "../analytics/event.ts";
import { TaskSubmissionRead } from "../catalogue/submissions/schemas.ts";
import { submissionJson } from "../catalogue/submissions/view.ts";
import { BoughtCertification, boughtBy, boughtJson } from "../certification/bought.ts";
import { LAST_ID, type Rows } from "../db/rows.ts";
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
import { askedFor, eachOf, mayRun, runJson, runsWithAgents } from "../runs/view.ts";
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

/**
 * SQL: a query of the runs that the account's agents sent spans of, agent by agent from `last` (`agent/run`) downwards, until
 * those behind the first have `most` spans. From run to run it takes one step in the index on both, and one for each agent.
 */
function toldRuns(me: SQL, last: string | null, most: number): SQL {
  const [lastAgent = LAST_ID, lastRun = LAST_ID] = last?.split("/") ?? [];
  const of = (agent: SQL, those: SQL) => sql`from ${spans} k where k.agent_id = ${agent} and k.run_id ${those}`;
  const runBelow = (agent: SQL, bound: SQL) =>
    sql`(select k.run_id ${of(agent, sql`<= ${bound}`)} order by k.run_id desc limit 1)`;
  return sql`with recursive own as (
      select array_agg(a.id order by a.id desc) as ids from ${agents} a
      where a.user_id = ${me} and a.team_id is null and a.id <= ${lastAgent}::uuid
    ), told as (
      select 1 as at, ${runBelow(
        sql`own.ids[1]`,
        sql`case when own.ids[1] = ${lastAgent}::uuid then ${lastRun}::uuid else ${LAST_ID}::uuid end`,
      )} as run_id, 0::bigint as n from own
      union all
      select x.at, x.run_id, t.n + (select count(*) from (select ${of(sql`own.ids[x.at]`, sql`= x.run_id`)} limit ${most}) c)
      from told t cross join own cross join lateral (
        select t.at + (t.run_id is null)::integer as at, case when t.run_id is null
          then ${runBelow(sql`own.ids[t.at + 1]`, sql`${LAST_ID}::uuid`)}
          else (select k.run_id ${of(sql`own.ids[t.at]`, sql`< t.run_id`)} order by k.run_id desc limit 1)
          end as run_id offset 0
      ) x where t.n < ${most} and x.at <= cardinality(own.ids)
    ) select run_id as id, own.ids[at] || '/' || run_id as path from told cross join own where run_id is not null`;
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
      from: sql`${runsWithAgents(sql`${runs}`)} where ${askedFor("r", userId, eachOf)}`,
      id: sql`r.id`,
      by: sql`r.user_id`,
    },
    answers: {
      item: Exchange,
      json: exchangeJson,
      from: sql`${runsWithAgents(sql`${runs}`)} join ${tasks} t on t.id = r.task_id
        join ${run_exchanges} e on e.run_id = r.id where ${askedFor("r", userId, eachOf)} and ${mayRun("see_outputs", userId)}`,
      id: sql`r.id`,
      by: sql`r.user_id`,
      atOnce: FEW,
    },
    "screening-sessions": {
      item: ScreeningSessionRead,
      json: screeningJson,
      from: sql`${screening_sessions} s where ${askedFor("s", userId, eachOf)}`,
      id: sql`s.id`,
      by: sql`s.user_id`,
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
        ids: (last, most) => toldRuns(me, last, most),
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
        ids: (last) => sql`select a.id, a.id::text as path from ${agents} a
          where a.user_id = ${me} and a.team_id is null and a.id <= ${last ?? LAST_ID}::uuid`,
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
      json: scheduleJson(ctx.now(), userId),
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
        ids: (last) => sql`select w.id, w.id::text as path from ${webhooks} w
          where w.user_id = ${me} and w.team_id is null and w.id <= ${last ?? LAST_ID}::uuid`,
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
      // Its endpoint shows none of an agent that has become another's, but what was written of it stays its writer's.
      item: ListingRead.extend({ agent_name: z.string().nullable() }),
      json: sql`${listingJson(userId)}::jsonb
        || case when ${visibleAgent(userId)} then '{}' else '{"agent_name": null}' end::jsonb`,
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
