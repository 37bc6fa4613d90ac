import * as z from "zod";
import { AgentRead } from "../../shared/agents/schemas.ts";
import { ConnectionTestResult } from "../../shared/runs/test-connection.ts";
import { Layout, personal, sendTo } from "./layout.tsx";
import { attempt, Choose, Field, Form, KEY, Refused, Tick, Wrong } from "./parts/form.tsx";
import { Notice } from "./parts/notice.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const NAMES = ["name", "description", "endpoint", "agent_protocol", "is_public"] as const;
const LABELS = {
  name: "Name",
  description: "What it is good for",
  endpoint: "Endpoint",
  agent_protocol: "What the endpoint speaks",
};
const PROTOCOLS = [
  ["native", "The service's own JSON: {task} in, {output} out"],
  ["openai_chat", "OpenAI-compatible chat completions"],
  ["a2a", "Agent2Agent (A2A), message/send"],
] as const;

type Tested = z.output<typeof ConnectionTestResult>;

interface Shown {
  typed: URLSearchParams;
  tested?: Tested;
  wrong?: Wrong;
}

/** What was sent to the endpoint, and what came back. */
function Outcome({ tested, endpoint }: { tested: Tested; endpoint: string }) {
  return (
    <Notice kind={tested.ok ? "good" : "bad"} alert>
      <p>
        <strong>{tested.ok ? "The endpoint answers." : "The endpoint does not answer as it should."}</strong>{" "}
        {tested.detail}
      </p>
      <dl>
        <dt>Sent</dt>
        <dd>
          one signed POST with a tiny task to <code>{endpoint}</code>
        </dd>
        <dt>Came back</dt>
        <dd>
          {tested.status_code === null ? "no complete answer" : `status ${tested.status_code}`}, after{" "}
          {tested.latency_ms} ms
        </dd>
        {tested.failure_code !== null && (
          <>
            <dt>A run would fail with</dt>
            <dd>
              <code>{tested.failure_code}</code>
            </dd>
          </>
        )}
      </dl>
    </Notice>
  );
}

function NewAgent({ typed, tested, wrong }: Shown) {
  const failed = tested !== undefined && !tested.ok;
  return (
    <Layout title={wrong === undefined && !failed ? "New agent" : "Error: new agent"} own="/agents/new">
      <h1>Connect an agent</h1>
      <p class="mute">
        The service calls the HTTPS endpoint that you host, with one task at a time, and signs every call. Nothing of
        your agent has to be installed anywhere.
      </p>
      <Refused wrong={wrong} labels={LABELS} />
      {tested !== undefined && <Outcome tested={tested} endpoint={typed.get("endpoint") ?? ""} />}
      <Form
        action="/agents/new"
        button={failed ? "Try again and connect it" : "Connect the agent"}
        others={[["test", "Only try the endpoint"], ...(failed ? ([["anyway", "Connect it as it is"]] as const) : [])]}
        once
      >
        <Field label={LABELS.name} name="name" value={typed.get("name")} wrong={wrong} />
        <Field
          label={LABELS.endpoint}
          name="endpoint"
          type="url"
          optional
          value={typed.get("endpoint")}
          hint="https, on port 443 or 8443 of a public name. Without one the agent is simulated, to look around."
          wrong={wrong}
        />
        <Choose
          label={LABELS.agent_protocol}
          name="agent_protocol"
          value={typed.get("agent_protocol") ?? "native"}
          options={PROTOCOLS}
          wrong={wrong}
        />
        <Field label={LABELS.description} name="description" optional value={typed.get("description")} wrong={wrong} />
        <Tick
          label="Show it on the public board"
          name="is_public"
          checked={typed.get("is_public") === "true"}
          hint="Its score and its runs can then be seen by everybody. You can change this later."
        />
      </Form>
    </Layout>
  );
}

/** The agent as the form describes it; what was left empty is left out. */
function described(form: URLSearchParams) {
  const [name = "", endpoint = "", protocol = "", description = ""] = [
    "name",
    "endpoint",
    "agent_protocol",
    "description",
  ].map((field) => form.get(field)?.trim() ?? "");
  return {
    name,
    is_public: form.get("is_public") === "true",
    ...(description === "" ? {} : { description }),
    ...(endpoint === "" ? {} : { endpoint, agent_protocol: protocol }),
  };
}

/** Tries the endpoint first; only one that answers is connected, unless the owner wants it as it is. */
async function connect({ c, form, api }: Visit): Promise<Response> {
  const wish = form.get("do");
  const agent = described(form);
  const { endpoint, agent_protocol } = { endpoint: undefined, agent_protocol: undefined, ...agent };
  const result = await attempt(NAMES, async () => {
    if (wish === "test" || (wish !== "anyway" && endpoint !== undefined)) {
      const sent = { endpoint: endpoint ?? "", agent_protocol };
      const tested = ConnectionTestResult.parse(await api.send("POST", "/api/v1/integrations/test-connection", sent));
      if (wish === "test" || !tested.ok) return { tested };
    }
    const made = await api.send("POST", "/api/v1/agents", agent, form.get(KEY) ?? undefined);
    return { agent: AgentRead.pick({ id: true }).parse(made) };
  });
  if (result instanceof Wrong) return personal(c, <NewAgent typed={form} wrong={result} />, result.status);
  if (result.agent !== undefined) return sendTo(c, `/agents/${result.agent.id}/screen`);
  return personal(c, <NewAgent typed={form} tested={result.tested} />);
}

export const newAgentPages: readonly View[] = [
  view({
    path: "/agents/new",
    title: "New agent",
    async show({ c, api }) {
      await api.read("/api/v1/auth/me", z.unknown());
      return personal(c, <NewAgent typed={new URLSearchParams({ is_public: "true" })} />);
    },
    take: connect,
  }),
];
