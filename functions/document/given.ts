import type * as z from "zod";
import type { AgentBulkCreate, AgentCreate, AgentUpdate } from "../../shared/agents/schemas.ts";
import type { CertifyCheckoutRequest } from "../../shared/certification/schemas.ts";
import type { SuiteCreate } from "../../shared/catalogue/create-task-schemas.ts";
import type { TaskCreate } from "../../shared/catalogue/task-create.ts";
import type { TaskSubmissionApprove } from "../../shared/catalogue/submissions/schemas.ts";
import type { ApiKeyCreate, ApiKeyUpdate } from "../../shared/identity/api-keys/schemas.ts";
import type { NotificationsUpdate } from "../../shared/identity/notifications/schemas.ts";
import type { UserUpdate } from "../../shared/identity/schemas.ts";
import { TOLD_LIMITS } from "../../shared/runs/limits.ts";
import type { ScreeningPreflightRead } from "../../shared/runs/preflight-shown.ts";
import type { BatchCreate, RunUpdate } from "../../shared/runs/schemas.ts";
import type { RunRead } from "../../shared/runs/shown.ts";
import type { ScheduleCreate, ScheduleUpdate } from "../../shared/schedules/schemas.ts";
import type { ScorecardCreate, ScorecardUpdate } from "../../shared/scorecards/schemas.ts";
import type { TeamUpdate } from "../../shared/teams/schemas.ts";
import type { WebhookCreate, WebhookUpdate } from "../../shared/webhooks/schemas.ts";
import { IDS, SAMPLES } from "./samples.ts";

const spans = {
  resourceSpans: [
    {
      scopeSpans: [
        {
          spans: [
            {
              traceId: IDS.run.replaceAll("-", ""),
              spanId: "5b8efff798038103",
              name: "chat gpt-5-mini",
              startTimeUnixNano: "1763715601200000000",
              endTimeUnixNano: "1763715603900000000",
              attributes: [{ key: "gen_ai.request.model", value: { stringValue: "gpt-5-mini" } }],
            },
          ],
        },
      ],
    },
  ],
};

const task = {
  title: "Days between two dates",
  domain: "math",
  prompt: "How many days lie between 2026-03-01 and 2026-11-21? Answer with the number alone.",
  grader: { type: "numeric", tolerance: 0 },
  expected_output: 265,
} satisfies z.input<typeof TaskCreate>;

const weights = { correctness: 4, latency: 1, cost: 3, tool_efficiency: 1, robustness: 1 };

/** What callers say in the query of operations that are of no use without it, though none of it is required by itself. */
export const QUERIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  compareAgents: { agent_ids: `${IDS.agent},${IDS.rival}` },
  compareScreeningSessions: { with: IDS.baseline },
  scrubPublicAgents: { name_pattern: "Trial of" },
};

/** Requests of operations whose schemas ask for less than people send. Each is checked by its schema's type. */
export const REQUESTS: Readonly<Record<string, unknown>> = {
  checkOutCertification: { agent_id: IDS.agent, eu_waiver_accepted: true } satisfies z.input<
    typeof CertifyCheckoutRequest
  >,
  createAgent: {
    name: "Atlas",
    description: "Answers questions about calendars",
    connection_mode: "http_endpoint",
    endpoint: "https://agents.example.com/atlas",
  } satisfies z.input<typeof AgentCreate>,
  createAgents: {
    rows: [{ name: "Atlas" }, { name: "Borealis", connection_mode: "mock" }],
  } satisfies z.input<typeof AgentBulkCreate>,
  updateAgent: { description: "Answers questions about calendars", is_public: true } satisfies z.input<
    typeof AgentUpdate
  >,
  createTeamApiKey: { name: "nightly", scopes: ["agents:read", "runs:write"] } satisfies z.input<typeof ApiKeyCreate>,
  createApiKey: { name: "ci", scope: "write", rate_limit_per_minute: 60 } satisfies z.input<typeof ApiKeyCreate>,
  updateNotifications: { allowance: true, regression: false } satisfies z.input<typeof NotificationsUpdate>,
  updateApiKey: { name: "nightly", quota_per_day: 5000 } satisfies z.input<typeof ApiKeyUpdate>,
  updateMe: { username: "ada" } satisfies z.input<typeof UserUpdate>,
  createBatch: { agent_id: IDS.agent, suite_id: IDS.suite, repeats: 3 } satisfies z.input<typeof BatchCreate>,
  updateRun: {
    status: "completed",
    output: "265",
    usage: { calls: [{ model: "gpt-5-mini", input_tokens: 812, output_tokens: 96 }] },
  } satisfies z.input<typeof RunUpdate>,
  createSchedule: {
    agent_id: IDS.agent,
    suite_id: IDS.suite,
    cron: "0 6 * * 1",
    timezone: "Europe/Berlin",
  } satisfies z.input<typeof ScheduleCreate>,
  updateSchedule: { cron: "30 6 * * 1-5", is_active: true } satisfies z.input<typeof ScheduleUpdate>,
  createScorecard: { name: "Right and cheap", weights } satisfies z.input<typeof ScorecardCreate>,
  updateScorecard: { weights } satisfies z.input<typeof ScorecardUpdate>,
  createSuite: {
    slug: "calendars",
    name: "Calendars",
    description: "Dates, weeks and holidays",
  } satisfies z.input<typeof SuiteCreate>,
  createTask: task,
  submitTask: { ...task, rationale: "Agents count days wrongly across the end of a month" },
  approveSubmission: { suite_id: IDS.suite } satisfies z.input<typeof TaskSubmissionApprove>,
  updateTeam: { name: "Research" } satisfies z.input<typeof TeamUpdate>,
  createTeam: { name: "Research" },
  discoverAgent: { url: "https://agents.example.com" },
  registerAgent: { url: "https://agents.example.com" },
  rejectSubmission: { reason: "A task of the suite asks the same" },
  createListing: { agent_id: IDS.agent, title: "Atlas, for questions about calendars", price_usd: 49 },
  createWebhook: {
    url: "https://hooks.example.com/screening",
    event_types: ["run.completed", "regression.detected"],
    secret: "a-secret-of-your-receiver",
  } satisfies z.input<typeof WebhookCreate>,
  updateWebhook: { event_types: ["run.failed"], is_active: true } satisfies z.input<typeof WebhookUpdate>,
  rotateWebhookSecret: { secret: "another-secret-of-your-receiver" },
  requestEmailChange: { email: "ada@example.org", password: SAMPLES["password"] },
  confirmEmail: { token: SAMPLES["token"] },
  verifyEmail: { token: SAMPLES["token"] },
  resetPassword: { token: SAMPLES["token"], new_password: SAMPLES["new_password"] },
  requestDeletion: { password: SAMPLES["password"] },
  rerunScreeningSession: { which: "failed" },
  regradeEvidence: {
    jws: SAMPLES["jws"],
    epoch_secret: SAMPLES["EpochRead.secret"],
    response_base64: "eyJvdXRwdXQiOiAyNjV9",
    response_salt: "c7".repeat(32),
  },
  callMcp: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "board", arguments: { limit: 3 } } },
  joinEnterpriseWaitlist: { email: "ada@example.com", company: "Example Ltd", seats: 20 },
  exportTraces: spans,
  receiveProviderEvent: {
    id: "evt_1",
    object: "event",
    created: 1763715600,
    livemode: false,
    type: "invoice.paid",
    data: { object: { id: "in_1", object: "invoice" } },
  },
  reportCsp: [
    { type: "csp-violation", body: { effectiveDirective: "img-src", blockedURL: "https://example.com/a.png" } },
  ],
};

const KEY = { kty: "OKP", crv: "Ed25519", kid: "key-1", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };
const DID = "did:web:screening.example.com";

/** A run that waits for its turn, as it is where it was just submitted. */
const QUEUED = {
  id: IDS.run,
  agent_id: IDS.agent,
  task_id: IDS.task,
  status: "queued",
  trigger: "manual",
  simulated: false,
  screening_session_id: IDS.session,
  repeat_index: 1,
  repeat_total: 3,
  scope: "personal",
  team_id: null,
  suite_id: IDS.suite,
  suite_version: null,
  passed: null,
  correctness: null,
  axes: null,
  latency_ms: null,
  tool_calls_made: null,
  failure_code: null,
  failure_detail: null,
  evidence_cost_usd: null,
  evidence_cost_source: "unavailable",
  evidence_cost_partial: false,
  evidence_priced_call_count: 0,
  evidence_unpriced_call_count: 0,
  evidence_total_call_count: 0,
  evidence_cost_floor_applied: false,
  total_cost_usd: null,
  serving_model: null,
  input_tokens: null,
  output_tokens: null,
  architecture_version: null,
  evidence_signed: false,
  canary: null,
  is_private: false,
  created_at: "2026-11-21T09:00:00.000Z",
  started_at: null,
  finalized_at: null,
} satisfies z.input<typeof RunRead>;

/** Answers whose form a standard tells, so that the document has no schema of theirs. */
export const ANSWERS: Readonly<Record<string, unknown>> = {
  readJwks: { keys: [{ ...KEY, alg: "EdDSA", use: "sig" }] },
  readSignaturesDirectory: { keys: [KEY] },
  readDid: {
    "@context": ["https://www.w3.org/ns/did/v1"],
    id: DID,
    verificationMethod: [{ id: `${DID}#key-1`, type: "JsonWebKey2020", controller: DID, publicKeyJwk: KEY }],
  },
  readOpenApi: { openapi: "3.1.0", info: { title: "Agent Screening and Credential Service", version: "0.1.153" } },
  readLeaderboardOfDay: {
    day: "2026-11-21",
    items: [{ rank: 1, agent_id: IDS.agent, name: "Atlas", composite_score: 81.4 }],
  },
  callMcp: {
    jsonrpc: "2.0",
    id: 1,
    result: { content: [{ type: "text", text: '{"total":1}' }], structuredContent: { total: 1 } },
  },
  createBatch: [QUEUED],
  rerunScreeningSession: [QUEUED],
  cancelRun: {
    ...QUEUED,
    status: "cancelled",
    canary: false,
    finalized_at: "2026-11-21T09:00:04.310Z",
  } satisfies z.input<typeof RunRead>,
  readPreflight: {
    ...TOLD_LIMITS,
    active_tasks: 127,
    estimated_max_duration_ms: 1_500_000,
    repeats_estimate: {
      width: 0.2,
      basis: "agent",
      tasks: 40,
      repeats: 4,
      variance_within: 0.15,
      variance_between: 0.05,
      narrowest_width: 0.143,
    },
  } satisfies z.input<typeof ScreeningPreflightRead>,
  queryGraphql: { data: { agents: { items: [{ id: IDS.agent, name: "Atlas" }] } } },
};

/** Bodies of media types that no schema tells the form of. */
export const TEXTS: Readonly<Record<string, unknown>> = {
  "text/html": '<!doctype html><html lang="en"><title>Board</title></html>',
  "text/csv": `run_id,agent_id,status,passed\n${IDS.run},${IDS.agent},completed,true\n`,
  "text/event-stream": `id: 3\nevent: phase\ndata: {"run_id":"${IDS.run}","phase":"scored","outcome":"succeeded"}\n\n`,
  "text/plain": "screening.example.com/log\n1204\nqJqVmNoBpHbPiP3vYYGqPn5AzU4wPyRzk3x4VKlSPyM=\n",
  "image/svg+xml": '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="20"><text y="14">81.4</text></svg>',
  "application/csp-report": {
    "csp-report": { "violated-directive": "img-src", "blocked-uri": "https://example.com/a.png" },
  },
  "application/vc+jwt": String(SAMPLES["jws"]),
  "application/zip": "a ZIP file, its entries stored or deflated",
  "application/octet-stream": "32 bytes for each hash of the tile",
  "application/x-protobuf": "an ExportTraceServiceResponse",
  "application/vnd.c2sp.tlog-proof": "c2sp.org/tlog-proof@v1\nindex 1203\n",
};
