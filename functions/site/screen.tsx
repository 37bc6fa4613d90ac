import * as z from "zod";
import { AgentRead } from "../../shared/agents/shown.ts";
import { SuiteRead } from "../../shared/catalogue/shown.ts";
import { notFound } from "../../shared/platform/problem.ts";
import { AgentStats } from "../../shared/results/stats.ts";
import { ScreeningPreflightRead } from "../../shared/runs/preflight-shown.ts";
import { RunRead } from "../../shared/runs/shown.ts";
import { Layout, personal, sendTo } from "./layout.tsx";
import { allowanceOf, Left } from "./parts/allowance.tsx";
import { Expectations } from "./parts/expectation.tsx";
import { attempt, Choose, Field, Form, KEY, Refused, Tick, Wrong } from "./parts/form.tsx";
import { counted } from "./parts/in-words.ts";
import { mayIn } from "./parts/may.ts";
import { Notice } from "./parts/notice.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const LABELS = { suite_id: "Suite", repeats: "How often each task" };
/** The estimate is asked for by a width; what the page tells of it holds for any. */
const WIDTH = 0.1;
/** From how many repeats on reliability tells something. */
const GOOD_REPEATS = 3;
const Suites = z.object({ items: z.array(SuiteRead) });
const Started = z.array(RunRead.pick({ screening_session_id: true })).min(1);

/** Why an agent can't be screened at all, and where that is changed; null where it can. */
function outOfUse({ id, is_active, connection_retired }: z.output<typeof AgentRead>) {
  const edit = `/agents/${id}/edit`;
  if (!is_active)
    return (
      <>
        This agent is retired, and can't be screened: <a href={edit}>take it up again</a>
      </>
    );
  if (!connection_retired) return null;
  return (
    <>
      This agent's connection is no longer supported, and it can't be screened: <a href={edit}>connect it anew</a>
    </>
  );
}

/** How many repeats to take: as many as an allowance of so many runs a month has room for with the suite that is offered first. */
function repeatsHint(tasks: number, limit: number): string {
  const most = tasks === 0 ? GOOD_REPEATS : Math.floor(limit / tasks);
  if (most >= GOOD_REPEATS) return "Reliability is told by repeats; three are a good start.";
  const room = most < 1 ? "less than once" : most === 1 ? "once" : `${most} times`;
  return `Reliability is told by repeats. The month's ${counted(limit, "run")} have room for each core task ${room}.`;
}

async function show({ c, params, api }: Visit, typed?: URLSearchParams, wrong?: Wrong): Promise<Response> {
  const at = `/api/v1/agents/${params["agent_id"]}`;
  const [, agent, { items }] = await Promise.all([
    api.read("/api/v1/auth/me", z.unknown()),
    api.read(at, AgentRead),
    api.read("/api/v1/suites?page_size=100", Suites),
  ]);
  // Only who may run an agent is told how it is connected.
  if (agent.connection_mode === undefined) throw notFound("agent");
  const [mayRun, allowance, preflight, stats] = await Promise.all([
    mayIn(api, agent.team_id, "run"),
    allowanceOf(api, agent.team_id),
    api.read(`/api/v1/runs/preflight?width=${WIDTH}&agent_id=${agent.id}`, ScreeningPreflightRead),
    api.read(`${at}/stats`, AgentStats),
  ]);
  const hindrance = outOfUse(agent);
  // Simulated runs tell nothing of those that an agent carries out, nor do those of simulated ones.
  const known = stats.simulated || !agent.has_endpoint ? { avg_latency_ms: null, avg_cost_usd: null } : stats;
  const suites = items.filter(({ is_secret, task_count }) => !is_secret && task_count > 0);
  const core = suites.find(({ slug }) => slug === "core") ?? suites[0];
  return personal(
    c,
    <Layout title={wrong === undefined ? `Screen ${agent.name}` : `Error: screen ${agent.name}`} own="/home">
      <h1>
        Screen <bdi>{agent.name}</bdi>
      </h1>
      {hindrance !== null ? (
        <Notice>
          <p>{hindrance}</p>
        </Notice>
      ) : (
        !agent.has_endpoint && (
          <Notice>
            <p>This agent has no endpoint, so its runs are simulated and rank nowhere.</p>
          </Notice>
        )
      )}
      <Refused wrong={wrong} labels={LABELS} />
      <p>
        <Left of={allowance} few={allowance.limit < GOOD_REPEATS * (core?.task_count ?? 0)} />
      </p>
      <Expectations suites={suites} left={allowance.left} preflight={preflight} stats={known} />
      {!mayRun ? (
        <p>Your role in the workspace lets you see this agent, not screen it. Ask an admin of the workspace.</p>
      ) : hindrance === null ? (
        <Form action={`/agents/${agent.id}/screen`} button="Start the screening" once>
          <Choose
            label={LABELS.suite_id}
            name="suite_id"
            value={typed?.get("suite_id") ?? core?.id ?? ""}
            options={suites.map(({ id, name, task_count }) => [id, `${name} (${counted(task_count, "task")})`])}
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
            hint={repeatsHint(core?.task_count ?? 0, allowance.limit)}
            wrong={wrong}
          />
          <Tick
            label="Private"
            name="private"
            checked={typed?.get("private") === "true"}
            hint="Nobody else sees these runs, and they move no public number."
          />
        </Form>
      ) : null}
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
