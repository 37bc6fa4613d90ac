import * as z from "zod";
import { AgentRead } from "../../shared/agents/shown.ts";
import { SuiteRead } from "../../shared/catalogue/shown.ts";
import { UserRead } from "../../shared/identity/shown.ts";
import { notFound } from "../../shared/platform/problem.ts";
import { RunRead } from "../../shared/runs/shown.ts";
import { Layout, personal, sendTo } from "./layout.tsx";
import { attempt, Choose, Field, Form, KEY, Refused, Tick, Wrong } from "./parts/form.tsx";
import { Notice, Scroll } from "./parts/notice.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const LABELS = { suite_id: "Suite", repeats: "How often each task" };
const REPEATS = [1, 3, 5] as const;
const Suites = z.object({ items: z.array(SuiteRead) });
const Started = z.array(RunRead.pick({ screening_session_id: true })).min(1);

type Suite = z.output<typeof SuiteRead>;

/** What each choice takes of the allowance. */
function Costs({ suites }: { suites: readonly Suite[] }) {
  return (
    <Scroll label="Runs by suite">
      <table>
        <caption>Runs that a screening takes of the allowance</caption>
        <thead>
          <tr>
            <th class="wide">Suite</th>
            <th class="number">Tasks</th>
            {REPEATS.map((repeats) => (
              <th class="number">{repeats === 1 ? "Once" : `${repeats} times`}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {suites.map(({ name, description, task_count }) => (
            <tr>
              <td class="wide">
                {name}
                <br />
                <span class="mute">{description}</span>
              </td>
              <td class="number">{task_count}</td>
              {REPEATS.map((repeats) => (
                <td class="number">{task_count * repeats}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

async function show({ c, params, api }: Visit, typed?: URLSearchParams, wrong?: Wrong): Promise<Response> {
  const [user, agent, { items }] = await Promise.all([
    api.read("/api/v1/auth/me", UserRead),
    api.read(`/api/v1/agents/${params["agent_id"]}`, AgentRead),
    api.read("/api/v1/suites?page_size=100", Suites),
  ]);
  // Only who may run an agent is told how it is connected.
  if (agent.connection_mode === undefined) throw notFound("agent");
  const suites = items.filter(({ is_secret, task_count }) => !is_secret && task_count > 0);
  const core = suites.find(({ slug }) => slug === "core") ?? suites[0];
  const left = Math.max(0, user.monthly_run_limit - user.monthly_run_count);
  return personal(
    c,
    <Layout title={wrong === undefined ? `Screen ${agent.name}` : `Error: screen ${agent.name}`} own="/home">
      <h1>
        Screen <bdi>{agent.name}</bdi>
      </h1>
      {!agent.has_endpoint && (
        <Notice>
          <p>This agent has no endpoint, so its runs are simulated and rank nowhere.</p>
        </Notice>
      )}
      <Refused wrong={wrong} labels={LABELS} />
      <p>
        You have <strong>{left}</strong> of {user.monthly_run_limit} runs left this month.
      </p>
      <Form action={`/agents/${agent.id}/screen`} button="Start the screening" once>
        <Choose
          label={LABELS.suite_id}
          name="suite_id"
          value={typed?.get("suite_id") ?? core?.id ?? ""}
          options={suites.map(({ id, name, task_count }) => [id, `${name} (${task_count} tasks)`])}
          hint="The core tasks are what the board ranks by."
          wrong={wrong}
        />
        <Field
          label={LABELS.repeats}
          name="repeats"
          type="number"
          min={1}
          max={10}
          value={typed?.get("repeats") ?? "1"}
          hint="Reliability is told by repeats; three are a good start."
          wrong={wrong}
        />
        <Tick
          label="Private"
          name="private"
          checked={typed?.get("private") === "true"}
          hint="Nobody else sees these runs, and they move no public number."
        />
      </Form>
      <Costs suites={suites} />
    </Layout>,
    wrong?.status ?? 200,
  );
}

/** Starts a screening of a suite, and leads to it. */
async function start(visit: Visit): Promise<Response> {
  const { c, params, form, api } = visit;
  const runs = await attempt(["suite_id", "repeats"], async () =>
    Started.parse(
      await api.send(
        "POST",
        "/api/v1/runs/batch",
        {
          agent_id: params["agent_id"],
          repeats: Number(form.get("repeats") ?? 1),
          private: form.get("private") === "true",
          suite_id: form.get("suite_id") ?? "",
        },
        form.get(KEY) ?? undefined,
      ),
    ),
  );
  if (runs instanceof Wrong) return show(visit, form, runs);
  return sendTo(c, `/sessions/${runs[0]?.screening_session_id}`);
}

export const screenPages: readonly View[] = [
  view({ path: "/agents/{agent_id}/screen", title: "Start a screening", show: (visit) => show(visit), take: start }),
];
