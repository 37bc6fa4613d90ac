import { AgentRead } from "../../shared/agents/shown.ts";
import { toAgentRead } from "../../shared/agents/view.ts";
import { created, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { discover } from "../../shared/registry/discover.ts";
import { registerAgent } from "../../shared/registry/register.ts";
import { Discovery, RegistryUrl } from "../../shared/registry/schemas.ts";

const tag = "Registry";

export const registry = [
  route({
    id: "discoverAgent",
    method: "post",
    path: "/api/v1/registry/discover",
    tag,
    summary: "Find and check the manifest of a host",
    description:
      "Looks at `/.well-known/agent.json`, then at `/.well-known/agent-card.json`, for up to 5 seconds and 64 KiB, " +
      "over at most 3 redirects within one registrable domain. A manifest is `{name, description?, endpoint, " +
      "agent_protocol?, provider_url?, version?, declared_configuration?}`, other members are ignored; an A2A agent " +
      "card that names a JSON-RPC interface of A2A 0.2, 0.3 or 1.0 is accepted too. The endpoint must be on the " +
      "manifest's own registrable domain. `errors` says what is wrong. If our own DNS resolver fails, the answer is " +
      "503 `dependency_unavailable`.",
    auth: "session",
    body: RegistryUrl,
    returns: { 200: Discovery },
    problems: ["endpoint_not_allowed"],
    async handler({ ctx, body: { url } }) {
      return ok(await discover(ctx, url));
    },
  }),
  route({
    id: "registerAgent",
    method: "post",
    path: "/api/v1/registry/register",
    tag,
    summary: "Create an agent from the manifest of a host",
    description:
      "The manifest is found as by `discover` and checked again every day: `registry_status` is `stale` while the " +
      "host does not answer or the manifest names another endpoint. The agent is personal and public; its " +
      "`declared_configuration` holds the manifest's `version`.",
    auth: "session",
    body: RegistryUrl,
    returns: { 201: AgentRead },
    located: true,
    problems: ["manifest_invalid", "endpoint_not_allowed", "duplicate_name", "quota_exceeded"],
    idempotent: true,
    async handler({ ctx, principal, body: { url } }) {
      const agent = await registerAgent(ctx, principal, url);
      return created(toAgentRead(agent), `/api/v1/agents/${agent.id}`);
    },
  }),
];
