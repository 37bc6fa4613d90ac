import type { PropsWithChildren } from "hono/jsx";
import * as z from "zod";
import { AgentRead } from "../../shared/agents/shown.ts";
import { ScreeningSessionRead } from "../../shared/runs/sessions-shown.ts";
import { RunRead } from "../../shared/runs/shown.ts";
import { Layout, personal } from "./layout.tsx";
import { RUN_COLUMNS, RunCells } from "./parts/agent/recent.tsx";
import { tasksOf, titleOf } from "./parts/again.tsx";
import { readSuites } from "./parts/catalogue.ts";
import { Moment } from "./parts/moment.tsx";
import { Empty, Table } from "./parts/notice.tsx";
import { pageIn, Pager } from "./parts/pager.tsx";
import { headOf } from "./parts/signed-in.ts";
import { asOwner, type View, type Visit, view } from "./parts/view.ts";

type Agent = z.output<typeof AgentRead>;
type Session = z.output<typeof ScreeningSessionRead>;

const PAGE = 50;
const Uuid = z.uuid().nullable().catch(null);
const Capped = z.object({ total: z.number(), total_is_capped: z.literal(true).optional() });
const Sessions = Capped.extend({ items: z.array(ScreeningSessionRead) });
const Runs = Capped.extend({ items: z.array(RunRead) });

/** Why a screening was asked for, where nobody started it by hand. */
const OCCASIONS: Partial<Record<Session["trigger"], string>> = {
  certification: "certification",
  scheduled: "by schedule",
  trial: "trial",
};

/** What has become of a screening. */
function stateOf({ status, run_ids, counts }: Session): string {
  const over = counts.completed + counts.failed + counts.cancelled;
  if (status === "completed") return "done";
  return status === "cancelled" ? status : `${over} of ${run_ids.length} runs have ended`;
}

/** Where the list may go on beyond what was counted there is a next page. */
const lastOf = ({ total, total_is_capped }: z.output<typeof Capped>, page: number): number =>
  Math.max(Math.ceil(total / PAGE), total_is_capped === true ? page + 1 : 1);

/** A list of what an agent was asked, and where in it the visitor is. */
interface Listed {
  agent: Agent;
  what: "runs" | "screenings";
  /** The screening whose runs alone are listed. */
  session?: string | null;
  page: number;
  last: number;
}

/** The frame of a list of what an agent was asked, with the way to the other one. */
function Frame({ visit, of, children }: PropsWithChildren<{ visit: Visit; of: Listed }>) {
  const { agent, what, session = null, page, last } = of;
  const at = `/agents/${agent.id}`;
  const only = session === null ? "" : `session=${session}&`;
  const own = agent.connection_mode === undefined ? "" : "/home";
  return (
    <Layout title={`${what === "runs" ? "Runs" : "Screenings"} of ${agent.name}`} {...headOf(visit.c, own)}>
      <h1>
        {what === "runs" ? "Runs" : "Screenings"} of <bdi>{agent.name}</bdi>
      </h1>
      <p>
        <a href={at}>Its record</a> ·{" "}
        {what === "runs" ? <a href={`${at}/screenings`}>its screenings</a> : <a href={`${at}/runs`}>its runs</a>}
      </p>
      {session !== null && (
        <p>
          Those of <a href={`/sessions/${session}`}>one screening</a> alone: <a href={`${at}/runs`}>all of them</a>
        </p>
      )}
      {children}
      <Pager page={page} last={last} href={(other) => `${at}/${what}?${only}page=${other}`} />
    </Layout>
  );
}

async function showScreenings(visit: Visit): Promise<Response> {
  const { c, api, params, query } = visit;
  const at = `/api/v1/agents/${params["agent_id"]}`;
  const page = pageIn(query);
  const [agent, sessions, suites] = await Promise.all([
    api.read(at, AgentRead),
    api.read(`${at}/screening-sessions?page_size=${PAGE}&page=${page}`, Sessions),
    readSuites(api),
  ]);
  const names = new Map(suites.map(({ id, name }) => [id, name]));
  return personal(
    c,
    <Frame visit={visit} of={{ agent, what: "screenings", page, last: lastOf(sessions, page) }}>
      {sessions.items.length === 0 ? (
        <Empty>
          <p>{page === 1 ? "It was not screened yet, or not where you may see it." : "There are no more."}</p>
        </Empty>
      ) : (
        <Table
          label="Screenings"
          columns={[
            "Asked for",
            ["What", "wide"],
            "State",
            ["Runs", "number"],
            ["Passed", "number"],
            ["Score alone", "number"],
          ]}
        >
          {sessions.items.map((session) => (
            <tr>
              <td>
                <a href={`/sessions/${session.id}`}>
                  <Moment time={session.created_at} />
                </a>
              </td>
              <td class="wide">
                {session.suite_id === null ? "chosen tasks" : (names.get(session.suite_id) ?? "a suite")}
                {session.repeats > 1 && `, ${session.repeats} times each`}
                {OCCASIONS[session.trigger] !== undefined && <span class="tag">{OCCASIONS[session.trigger]}</span>}
                {session.simulated && <span class="tag">simulated</span>}
                {session.is_private && <span class="tag">private</span>}
              </td>
              <td>{stateOf(session)}</td>
              <td class="number">{session.run_ids.length}</td>
              <td class="number">{session.counts.passed}</td>
              <td class="number">{session.composite_score?.toFixed(2) ?? "–"}</td>
            </tr>
          ))}
        </Table>
      )}
    </Frame>,
  );
}

async function showRuns(visit: Visit): Promise<Response> {
  const { c, api, params, query } = visit;
  const page = pageIn(query);
  const session = Uuid.parse(query.get("session"));
  const only = session === null ? "" : `&screening_session_id=${session}`;
  const [agent, runs] = await Promise.all([
    api.read(`/api/v1/agents/${params["agent_id"]}`, AgentRead),
    api.read(`/api/v1/runs?agent_id=${params["agent_id"]}&page_size=${PAGE}&page=${page}${only}`, Runs),
  ]);
  const tasks = await tasksOf(
    api,
    runs.items.map(({ task_id }) => task_id),
  );
  return personal(
    c,
    <Frame visit={visit} of={{ agent, what: "runs", session, page, last: lastOf(runs, page) }}>
      {runs.items.length === 0 ? (
        <Empty>
          <p>{page === 1 ? "It was asked nothing yet, or nothing that you may see." : "There are no more."}</p>
        </Empty>
      ) : (
        <Table label="Runs" columns={[["Task", "wide"], "Asked for", ...RUN_COLUMNS]}>
          {runs.items.map((run) => (
            <tr>
              <td class="wide">
                <a href={`/runs/${run.id}`} aria-label={`Run of ${titleOf(tasks, run.task_id)}`}>
                  {titleOf(tasks, run.task_id)}
                </a>
                {run.canary === true && <span class="tag">canary</span>}
              </td>
              <td>
                <Moment time={run.created_at} />
              </td>
              <RunCells run={run} />
            </tr>
          ))}
        </Table>
      )}
    </Frame>,
  );
}

export const recordPages: readonly View[] = [
  view({ path: "/agents/{agent_id}/screenings", title: "An agent's screenings", show: asOwner(showScreenings) }),
  view({ path: "/agents/{agent_id}/runs", title: "An agent's runs", show: asOwner(showRuns) }),
];
