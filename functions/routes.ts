import type { Route } from "../shared/http/route.ts";
import { accountMail } from "./account/mailed-links.ts";
import { account } from "./account/profile.ts";
import { agents } from "./agents/agents.ts";
import { agentsManage } from "./agents/manage.ts";
import { apiKeys } from "./account/api-keys.ts";
import { auth } from "./account/sign-in.ts";
import { blueprint } from "./agents/blueprint.ts";
import { badge } from "./payments/badge.ts";
import { billing } from "./payments/billing.ts";
import { board } from "./board/leaderboard.ts";
import { certify } from "./payments/certify.ts";
import { codehost } from "./account/code-host.ts";
import { compare } from "./board/compare.ts";
import { credential } from "./payments/credential.ts";
import { cspReports } from "./public/csp-reports.ts";
import { docs } from "./site/docs.tsx";
import { evidence } from "./runs/evidence.ts";
import { graphql } from "./graphql/graphql.ts";
import { health } from "./public/health.ts";
import { integrations } from "./agents/integrations.ts";
import { marketplace } from "./payments/marketplace.ts";
import { openapi } from "./public/openapi.ts";
import { runEvents } from "./runs/events.ts";
import { runExport } from "./runs/export.ts";
import { readiness } from "./agents/readiness.ts";
import { providerWebhook } from "./payments/provider-webhook.ts";
import { registry } from "./agents/registry.ts";
import { playbooks } from "./agents/playbooks.ts";
import { runs } from "./runs/runs.ts";
import { schedules } from "./runs/schedules.ts";
import { scorecards } from "./workspaces/scorecards.ts";
import { secretSuites } from "./catalogue/secret-suites.ts";
import { sessions } from "./runs/screening-sessions.ts";
import { agentPage } from "./site/agent.tsx";
import { boardPage } from "./site/board.tsx";
import { submissions } from "./catalogue/submissions.ts";
import { survey } from "./public/survey.ts";
import { tasks } from "./catalogue/tasks.ts";
import { teamMembers } from "./workspaces/members.ts";
import { teams } from "./workspaces/teams.ts";
import { telemetry } from "./agents/telemetry.ts";
import { waitlist } from "./payments/waitlist.ts";
import { webhooks } from "./webhooks/webhooks.ts";
import { wellKnown } from "./public/well-known.ts";

const described = [
  auth,
  account,
  accountMail,
  codehost,
  apiKeys,
  compare,
  agents,
  agentsManage,
  badge,
  credential,
  certify,
  playbooks,
  readiness,
  integrations,
  registry,
  tasks,
  secretSuites,
  submissions,
  runExport,
  runs,
  runEvents,
  sessions,
  schedules,
  board,
  scorecards,
  telemetry,
  blueprint,
  graphql,
  evidence,
  teams,
  teamMembers,
  webhooks,
  survey,
  billing,
  providerWebhook,
  marketplace,
  waitlist,
  wellKnown,
  health,
  cspReports,
  boardPage,
  agentPage,
  docs,
].flat();

/** Every endpoint there is. */
export const ROUTES: readonly Route[] = [...described, ...openapi(described)];
