import * as z from "zod";
import { AgentRead } from "../../shared/agents/shown.ts";
import { ConnectionTestResult } from "../../shared/runs/connection-shown.ts";
import { Layout, personal, sendTo } from "./layout.tsx";
import {
  AGENT_LABELS,
  AgentFields,
  HEADER_NAMES,
  headerOf,
  type Tested,
  TestOutcome,
  testButtons,
} from "./parts/agent-fields.tsx";
import { attempt, Form, KEY, Refused, Tick, Wrong } from "./parts/form.tsx";
import { AGENT_GUIDE } from "./parts/guide-addresses.ts";
import { type View, type Visit, view } from "./parts/view.ts";

const NAMES = ["name", "description", "endpoint", "agent_protocol", "is_public", ...HEADER_NAMES] as const;
interface Shown {
  typed: URLSearchParams;
  tested?: Tested;
  wrong?: Wrong;
}

function NewAgent({ typed, tested, wrong }: Shown) {
  const failed = tested !== undefined && !tested.ok;
  return (
    <Layout title={wrong === undefined && !failed ? "New agent" : "Error: new agent"} own="/agents/new">
      <h1>Connect an agent</h1>
      <p class="mute">
        The service calls the HTTPS endpoint that you host, with one task at a time, and signs every call. Nothing of
        your agent has to be installed anywhere. <a href={AGENT_GUIDE}>What it is sent, and what it has to answer</a>
      </p>
      <Refused wrong={wrong} labels={AGENT_LABELS} />
      {tested !== undefined && <TestOutcome tested={tested} endpoint={typed.get("endpoint") ?? ""} />}
      <Form
        action="/agents/new"
        button={failed ? "Try again and connect it" : "Connect the agent"}
        others={testButtons(tested, "Connect it as it is")}
        once
      >
        <AgentFields typed={typed} wrong={wrong} />
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
    ...headerOf(form),
  };
}

/** Tries the endpoint first; only one that answers is connected, unless the owner wants it as it is. */
async function connect({ c, form, api }: Visit): Promise<Response> {
  const wish = form.get("do");
  const agent = described(form);
  const { endpoint, agent_protocol } = { endpoint: undefined, agent_protocol: undefined, ...agent };
  const result = await attempt(NAMES, async () => {
    if (wish === "test" || (wish !== "anyway" && endpoint !== undefined)) {
      const sent = { endpoint: endpoint ?? "", agent_protocol, ...headerOf(form) };
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
