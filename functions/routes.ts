import type { Route } from "../shared/http/route.ts";
import { accountMail } from "./account-mail.ts";
import { account } from "./account.ts";
import { agents } from "./agents.ts";
import { agentsManage } from "./agents-manage.ts";
import { apiKeys } from "./api-keys.ts";
import { auth } from "./auth.ts";
import { blueprint } from "./blueprint.ts";
import { badge } from "./badge.ts";
import { billing } from "./billing.ts";
import { board } from "./board.ts";
import { certify } from "./certify.ts";
import { codehost } from "./codehost.ts";
import { compare } from "./compare.ts";
import { credential } from "./credential.ts";
import { cspReports } from "./csp-reports.ts";
import { docs } from "./docs.tsx";
import { evidence } from "./evidence.ts";
import { graphql } from "./graphql.ts";
import { health } from "./health.ts";
import { integrations } from "./integrations.ts";
import { marketplace } from "./marketplace.ts";
import { openapi } from "./openapi.ts";
import { runEvents } from "./run-events.ts";
import { runExport } from "./run-export.ts";
import { readiness } from "./readiness.ts";
import { providerWebhook } from "./provider-webhook.ts";
import { registry } from "./registry.ts";
import { playbooks } from "./playbooks.ts";
import { runs } from "./runs.ts";
import { schedules } from "./schedules.ts";
import { scorecards } from "./scorecards.ts";
import { secretSuites } from "./secret-suites.ts";
import { sessions } from "./sessions.ts";
import { agentPage } from "./site/agent.tsx";
import { boardPage } from "./site/board.tsx";
import { submissions } from "./submissions.ts";
import { survey } from "./survey.ts";
import { tasks } from "./tasks.ts";
import { teamMembers } from "./team-members.ts";
import { teams } from "./teams.ts";
import { telemetry } from "./telemetry.ts";
import { waitlist } from "./waitlist.ts";
import { webhooks } from "./webhooks.ts";
import { wellKnown } from "./well-known.ts";

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
