import * as z from "zod";
import { type BulkRow, createAgents } from "../../shared/agents/create-bulk.ts";
import { issueOtlpToken, revokeOtlpToken } from "../../shared/agents/otlp-token.ts";
import { assertAgentRight } from "../../shared/agents/right.ts";
import {
  AgentBulkCreate,
  AgentBulkResult,
  AgentCreate,
  AgentOtlpTokenResponse,
  AgentScrubResult,
  AgentTransferToWorkspace,
} from "../../shared/agents/schemas.ts";
import { AgentRead } from "../../shared/agents/shown.ts";
import { scrubPublic } from "../../shared/agents/scrub.ts";
import { transferAgent } from "../../shared/agents/transfer.ts";
import { toAgentRead } from "../../shared/agents/view.ts";
import { noContent, ok, privately } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { RefusedItem, validationProblem } from "../../shared/http/validation.ts";

const tag = "Agents";
const params = z.object({ agent_id: z.uuid() });

/** A row as AgentCreate takes it, or the findings that a 422 would have. */
function parseRow(row: unknown): BulkRow {
  if (row instanceof RefusedItem) return { errors: row.findings };
  const { success, data, error } = AgentCreate.safeParse(row);
  return success ? data : { errors: validationProblem("body", error).extras.errors ?? [] };
}

export const agentsManage = [
  route({
    id: "createAgents",
    method: "post",
    path: "/api/v1/agents/bulk",
    tag,
    summary: "Create up to 100 agents",
    description:
      "Each row is an AgentCreate and is taken on its own, in order, as if it were sent alone: `created`; " +
      "`skipped_duplicate` if an active agent of the owner or an earlier row has the same name, ignoring case; " +
      "`invalid` with the findings of a 422, their pointers into the row (a retired mode, a URL that is not allowed " +
      "and a workspace that is not visible are findings too); `quota_exceeded` if the plan allows no more. No row " +
      "stops another. Only a body that is not a list of 1 to 100 rows is refused as a whole.",
    auth: "write",
    subject: "agents",
    body: AgentBulkCreate,
    itemsIn: "rows",
    returns: { 200: AgentBulkResult },
    idempotent: true,
    async handler({ ctx, principal, body }) {
      return ok(await createAgents(ctx, principal, body.rows.map(parseRow)));
    },
  }),
  route({
    id: "transferAgent",
    method: "post",
    path: "/api/v1/agents/{agent_id}/transfer-to-workspace",
    tag,
    summary: "Move an agent to a workspace",
    description:
      "Needs the right to change the agent where it is and agents in the workspace. From then on it counts against " +
      "the plan of the workspace's owner. Its runs, finished or open, keep their owner. A variant can't leave its " +
      "group, and neither can the root of variants: clear `variant_of` first. An agent that is already in the " +
      "workspace is left unchanged.",
    auth: "session",
    params,
    body: AgentTransferToWorkspace,
    right: ({ ctx, principal, params: { agent_id } }) => assertAgentRight(ctx, "edit", principal, agent_id),
    returns: { 200: AgentRead },
    problems: ["not_found", "forbidden", "duplicate_name", "quota_exceeded", "invalid_variant"],
    async handler({ ctx, principal, params: { agent_id }, body }) {
      return privately(ok(toAgentRead(await transferAgent(ctx, principal, agent_id, body.team_id))));
    },
  }),
  route({
    id: "issueOtlpToken",
    method: "post",
    path: "/api/v1/agents/{agent_id}/otlp-token",
    tag,
    summary: "Make or replace an agent's telemetry token",
    description:
      "The agent sends its spans to the OTLP receiver with this token. It is shown in this answer alone; a replay of " +
      "the answer has null. The previous token stops working at once. For active agents of mode `http_endpoint`: a " +
      "mock agent is 409 `agent_not_live`, one of a retired mode 410. Deleting the agent revokes the token for good.",
    auth: "write",
    subject: "agents",
    params,
    right: ({ ctx, principal, params: { agent_id } }) => assertAgentRight(ctx, "edit", principal, agent_id),
    returns: { 200: AgentOtlpTokenResponse },
    problems: ["not_found", "forbidden", "provider_custody_retired", "agent_inactive", "agent_not_live"],
    idempotent: true,
    async handler({ ctx, principal, params: { agent_id } }) {
      return ok(await issueOtlpToken(ctx, principal, agent_id));
    },
  }),
  route({
    id: "revokeOtlpToken",
    method: "delete",
    path: "/api/v1/agents/{agent_id}/otlp-token",
    tag,
    summary: "Revoke an agent's telemetry token",
    description: "The token stops working at once. Revoking it again changes nothing.",
    auth: "write",
    subject: "agents",
    params,
    right: ({ ctx, principal, params: { agent_id } }) => assertAgentRight(ctx, "edit", principal, agent_id),
    returns: { 204: null },
    problems: ["not_found", "forbidden"],
    async handler({ ctx, principal, params: { agent_id } }) {
      await revokeOtlpToken(ctx, principal, agent_id);
      return noContent();
    },
  }),
  route({
    id: "scrubPublicAgents",
    method: "post",
    path: "/api/v1/agents/admin/scrub-public",
    tag,
    summary: "Make public agents private by name",
    description:
      "Every public agent whose name contains `name_pattern`, taken literally and ignoring case, leaves the board " +
      "and the public lists. Answers with the names of all of them, oldest agent first.",
    auth: "admin",
    query: z.object({ name_pattern: z.string().min(1).max(200) }),
    returns: { 200: AgentScrubResult },
    async handler({ ctx, query: { name_pattern } }) {
      return ok(await scrubPublic(ctx, name_pattern));
    },
  }),
];
