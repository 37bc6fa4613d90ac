import * as z from "zod";
import { AgentOtlpTokenResponse } from "../../shared/agents/schemas.ts";
import { AgentRead } from "../../shared/agents/shown.ts";
import { notFound } from "../../shared/platform/problem.ts";
import { AgentReadiness } from "../../shared/runs/readiness-shown.ts";
import { ConnectionTestResult } from "../../shared/runs/connection-shown.ts";
import { Layout, personal, sendTo } from "./layout.tsx";
import { changesOf, EDIT_LABELS, EDIT_NAMES, EditFields } from "./parts/agent-edit-fields.tsx";
import { headerOf, type Tested, TestOutcome, testButtons } from "./parts/agent-fields.tsx";
import { Life, Publishing, ReadinessShown, Telemetry } from "./parts/agent-state.tsx";
import { heldBefore } from "./parts/before.tsx";
import { attempt, Form, KEY, Result, type Sent, Wrong } from "./parts/form.tsx";
import { mayIn } from "./parts/may.ts";
import { looksForAgent, myAgents } from "./parts/my-agents.ts";
import { Notice } from "./parts/notice.tsx";
import { seenBy } from "./parts/seen-by.ts";
import { copying } from "./parts/shown-once.tsx";
import { unless } from "./parts/unless.ts";
import { type View, type Visit, view } from "./parts/view.ts";

interface Outcome extends Sent {
  token?: z.output<typeof AgentOtlpTokenResponse>;
  tested?: Tested;
  /** The kept header that the endpoint was tried without. */
  unsent?: string | undefined;
}

/** The agent with all that its owner may see of it. Throws 404 to everybody else. */
async function ownAgent({ api }: Visit, at: string): Promise<z.output<typeof AgentRead>> {
  await api.read("/api/v1/auth/me", z.unknown());
  const agent = await api.read(at, AgentRead);
  if (agent.connection_mode === undefined) throw notFound("agent");
  return agent;
}

async function show(visit: Visit, { said, token, tested, unsent, typed, wrong }: Outcome = {}): Promise<Response> {
  const { c, api, params } = visit;
  const at = `/api/v1/agents/${params["agent_id"]}`;
  const agent = await ownAgent(visit, at);
  const owner = agent.team_id == null ? "scope=personal" : (`team_id=${agent.team_id}` as const);
  const [mayEdit, readiness, choices] = await Promise.all([
    mayIn(api, agent.team_id, "edit"),
    // Members who may see the agent and not run it are not told.
    unless("forbidden", api.read(`${at}/readiness`, AgentReadiness)),
    myAgents(api, typed, owner),
  ]);
  const path = `/agents/${agent.id}/edit`;
  return personal(
    c,
    <Layout
      title={wrong === undefined ? `Change ${agent.name}` : `Error: change ${agent.name}`}
      own="/home"
      {...copying(token?.token)}
    >
      <h1>
        Change <bdi>{agent.name}</bdi>
      </h1>
      <p>
        <a href={`/agents/${agent.id}`}>Its record</a> · <a href={`/agents/${agent.id}/screen`}>Screen it</a>
      </p>
      <Result said={said} wrong={wrong} labels={EDIT_LABELS} />
      {tested !== undefined && <TestOutcome tested={tested} endpoint={typed?.get("endpoint") ?? ""} unsent={unsent} />}
      {!mayEdit && (
        <Notice>
          <p>Your role in its workspace lets you see this agent, not change it. Ask an admin of the workspace.</p>
        </Notice>
      )}
      {mayEdit && agent.is_active && !agent.connection_retired && (
        <Form action={path} button="Save" others={testButtons(tested, "Save it as it is")}>
          <EditFields
            agent={agent}
            sent={typed?.has("name") === true ? typed : undefined}
            roots={choices}
            wrong={wrong}
          />
        </Form>
      )}
      {readiness !== null && <ReadinessShown readiness={readiness} path={path} active={agent.is_active} />}
      {mayEdit && agent.is_active && <Publishing agent={agent} ready={readiness?.endpoint.state ?? null} path={path} />}
      {mayEdit && agent.is_active && agent.has_endpoint && <Telemetry agent={agent} token={token} path={path} />}
      {mayEdit && <Life agent={agent} path={path} />}
    </Layout>,
    wrong?.status ?? 200,
  );
}

/** The header to try an endpoint with: the one that is kept can't be read, so that it is typed again or left out. */
function typedHeader(form: URLSearchParams): ReturnType<typeof headerOf> {
  return form.get("auth_header/value")?.trim() === "" ? {} : headerOf(form);
}

/** Keeps what the form changes. Another endpoint is tried first, and kept where it answers or where it is wanted anyhow. */
async function save({ form, api }: Visit, at: string, wish: string | null): Promise<Outcome> {
  const changes = changesOf(form);
  const endpoint = form.get("endpoint")?.trim() ?? "";
  if (wish === "test" || (wish !== "anyway" && typeof changes["endpoint"] === "string")) {
    const header = typedHeader(form);
    const sent = { endpoint, agent_protocol: form.get("agent_protocol") ?? "", ...header };
    const kept = heldBefore(form).get("auth_header/name") ?? "";
    const tested = ConnectionTestResult.parse(await api.send("POST", "/api/v1/integrations/test-connection", sent));
    if (wish === "test" || !tested.ok) {
      return { tested, typed: form, unsent: kept === "" || header.auth_header !== undefined ? undefined : kept };
    }
  }
  if (Object.keys(changes).length > 0) await api.send("PATCH", at, changes);
  return { said: "Saved." };
}

/** What each of the other buttons does, and says then. */
async function act({ form, api }: Visit, at: string, wish: string): Promise<Outcome> {
  const patch = async (change: object, said: string) => {
    await api.send("PATCH", at, change);
    return { said };
  };
  if (wish === "publish")
    return patch({ is_public: true }, "Everybody can see it now: its record has a badge to paste.");
  if (wish === "unpublish") {
    const agent = AgentRead.parse(await api.send("PATCH", at, { is_public: false }));
    return { said: `Nobody but ${seenBy(agent)} can see it now. Statements of runs that were public stay so.` };
  }
  if (wish === "revive") return patch({ is_active: true }, "It can be screened again.");
  if (wish === "clear") return patch({ clear_customer_llm_key: true }, "It is simulated now: give it an endpoint.");
  if (wish === "check") {
    await api.send("POST", `${at}/readiness/check`);
    return { said: "Checked: see below." };
  }
  if (wish === "untoken") {
    await api.send("DELETE", `${at}/otlp-token`);
    return { said: "The token works no longer." };
  }
  const token = await api.send("POST", `${at}/otlp-token`, {}, form.get(KEY) ?? undefined);
  return { token: AgentOtlpTokenResponse.parse(token) };
}

async function take(visit: Visit): Promise<Response> {
  const { c, form, params, api } = visit;
  const at = `/api/v1/agents/${params["agent_id"]}`;
  if (looksForAgent(form)) return show(visit, { typed: form });
  const wish = form.get("do");
  const result = await attempt(EDIT_NAMES, async () => {
    if (wish === "retire") {
      await api.send("DELETE", at);
      return null;
    }
    if (wish !== null && wish !== "test" && wish !== "anyway") return act(visit, at, wish);
    return save(visit, at, wish);
  });
  if (result instanceof Wrong) return show(visit, { typed: form, wrong: result });
  return result === null ? sendTo(c, "/home") : show(visit, result);
}

export const editAgentPages: readonly View[] = [
  view({ path: "/agents/{agent_id}/edit", title: "Change an agent", show: (visit) => show(visit), take }),
];
