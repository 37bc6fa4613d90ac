import * as z from "zod";
import { AgentRead } from "../../shared/agents/shown.ts";
import { UserRead } from "../../shared/identity/shown.ts";
import { ScreeningSessionRead } from "../../shared/runs/sessions-shown.ts";
import { RunRead } from "../../shared/runs/shown.ts";
import { TeamRead } from "../../shared/teams/shown.ts";
import { Bar, Layout, personal } from "./layout.tsx";
import { readSuites } from "./parts/catalogue.ts";
import { AGENT_GUIDE, SCORE_GUIDE } from "./parts/guide-addresses.ts";
import { counted, intervalOf, STATES } from "./parts/in-words.ts";
import { Marks } from "./parts/marks.tsx";
import { Moment } from "./parts/moment.tsx";
import { Empty, Notice, Table } from "./parts/notice.tsx";
import { pageIn, Pager } from "./parts/pager.tsx";
import { agentsOf } from "./parts/plans.tsx";
import { readStanding, type Standing, StandingShown } from "./parts/standing.tsx";
import { unless } from "./parts/unless.ts";
import { type View, type Visit, view } from "./parts/view.ts";

type User = z.output<typeof UserRead>;
type Agent = z.output<typeof AgentRead>;

/** How many agents stand on a page. */
const PAGE = 100;
const Agents = z.object({ items: z.array(AgentRead), total: z.number() });
const Teams = z.object({ items: z.array(TeamRead.pick({ id: true, name: true, role: true })), total: z.number() });
const Runs = z.object({
  items: z.array(RunRead.pick({ agent_id: true, screening_session_id: true })),
  total: z.number(),
});

/** How many workspaces are named. */
const TEAMS = 10;
/** How many agents' standing is shown at once, that of each taking requests of its own. */
const STANDING = 3;

/** Of how many screenings the runs are counted one by one, where those to go are more than were read. */
const COUNTED = 10;
const Session = ScreeningSessionRead.pick({ counts: true });

/** A screening with runs that have not ended yet. */
interface Open {
  id: string;
  agentId: string;
  runs: number;
  /** Whether there are more of them than these. */
  more: boolean;
}

/** The screenings under way by the newest of their runs. Where there are more runs than these, each screening tells how many. */
async function openSessions(api: Visit["api"], runs: readonly z.output<typeof Runs>[]): Promise<Open[]> {
  const found = new Map<string, Open>();
  const more = runs.some(({ items, total }) => total > items.length);
  for (const { agent_id, screening_session_id: id } of runs.flatMap(({ items }) => items)) {
    if (id === null) continue;
    const open = found.get(id) ?? { id, agentId: agent_id, runs: 0, more };
    found.set(id, { ...open, runs: open.runs + 1 });
  }
  return Promise.all(
    [...found.values()].map(async (open, place) => {
      if (!more || place >= COUNTED) return open;
      const session = await unless("not_found", api.read(`/api/v1/screening-sessions/${open.id}`, Session));
      return session === null ? open : { ...open, runs: session.counts.queued + session.counts.running, more: false };
    }),
  );
}

function Steps({ agents, coreTasks, user }: { agents: readonly Agent[]; coreTasks: number; user: User }) {
  const [first] = agents;
  return (
    <Empty>
      <h2>Three steps to the first score</h2>
      <ol>
        <li>
          {first === undefined ? (
            <>
              <a href="/agents/new">Connect an agent</a>: the URL that it answers at, tried before it is kept (
              <a href={AGENT_GUIDE}>how one is written</a>)
            </>
          ) : (
            <>
              An agent is connected:{" "}
              <a href={`/agents/${first.id}`}>
                <bdi>{first.name}</bdi>
              </a>
            </>
          )}
        </li>
        <li>
          {first === undefined ? "Start a screening" : <a href={`/agents/${first.id}/screen`}>Start a screening</a>}:
          the core tasks once, {counted(coreTasks, "run")} of your {user.monthly_run_limit} a month
        </li>
        <li>Watch it, and read what it passed and why it failed</li>
      </ol>
    </Empty>
  );
}

function Listed({ agents, page }: { agents: readonly Agent[]; page: number }) {
  return (
    <Table
      label="My agents"
      columns={[["Agent", "wide"], ["Score", "number"], "95% interval", "State", "Seen by", ["Do", "mute"]]}
    >
      {agents.map((agent) => (
        <tr>
          <td class="wide">
            <a href={`/agents/${agent.id}`}>
              <bdi>{agent.name}</bdi>
            </a>
            <Marks of={agent} />
          </td>
          <td class="number">{agent.score_basis === null ? "–" : agent.composite_score.toFixed(2)}</td>
          <td>
            {agent.score_basis === null ? (
              "no run counts yet"
            ) : (
              <Bar
                value={agent.composite_score / 100}
                low={agent.score_low / 100}
                high={agent.score_high / 100}
                label={intervalOf(agent)}
              />
            )}
          </td>
          <td>{agent.verified_state}</td>
          <td>{agent.is_public ? "everybody" : "you"}</td>
          <td>
            <a href={`/agents/${agent.id}/screen`} aria-label={`Screen ${agent.name}`}>
              Screen
            </a>{" "}
            <a
              href={`/home?${page > 1 ? `page=${page}&` : ""}agent=${agent.id}#standing`}
              aria-label={`Trend of ${agent.name}`}
            >
              Trend
            </a>
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Account({ user }: { user: User }) {
  return (
    <>
      {!user.email_verified && (
        <Notice>
          <p>
            Please confirm your email address by the link that we mailed to {user.email}.{" "}
            <a href="/resend-verification">Send it again</a>
          </p>
        </Notice>
      )}
      {user.deletion_scheduled_for !== null && (
        <Notice kind="bad">
          <p>
            Your account will be deleted on <Moment time={user.deletion_scheduled_for} />.{" "}
            <a href="/settings/deletion">Keep it</a>
          </p>
        </Notice>
      )}
    </>
  );
}

/** Where agents are that are not the visitor's own. */
function Workspaces({ items, total }: z.output<typeof Teams>) {
  return (
    <>
      <h2>Workspaces</h2>
      <ul>
        {items.map(({ id, name, role }) => (
          <li>
            <a href={`/workspaces/${id}`}>
              <bdi>{name}</bdi>
            </a>
            , {role}
          </li>
        ))}
        {total > items.length && (
          <li>
            <a href="/workspaces">All {total} of them</a>
          </li>
        )}
      </ul>
    </>
  );
}

/** How agents stand: those asked for, else the newest. */
function Standings({ standings, coreTasks, all }: { standings: readonly Standing[]; coreTasks: number; all: number }) {
  return (
    <section id="standing" aria-labelledby="standings">
      <h2 id="standings">Trend and readiness</h2>
      {standings.map((standing) => (
        <StandingShown standing={standing} coreTasks={coreTasks} />
      ))}
      {all > standings.length && <p class="mute">The others' are behind "Trend" in the list above.</p>}
    </section>
  );
}

async function home({ c, api, query }: Visit): Promise<Response> {
  const page = pageIn(query);
  const [user, { items: agents, total }, teams, ...open] = await Promise.all([
    api.read("/api/v1/auth/me", UserRead),
    api.read(`/api/v1/agents?scope=personal&page_size=${PAGE}&page=${page}`, Agents),
    api.read(`/api/v1/teams?page_size=${TEAMS}`, Teams),
    api.read("/api/v1/runs?mine=true&status=running&page_size=100", Runs),
    api.read("/api/v1/runs?mine=true&status=queued&page_size=100", Runs),
  ]);
  const names = new Map(agents.map(({ id, name }) => [id, name]));
  const asked = agents.find(({ id }) => id === query.get("agent"));
  const [sessions, suites, ...standings] = await Promise.all([
    openSessions(api, open),
    readSuites(api),
    ...(asked === undefined ? agents.slice(0, STANDING) : [asked]).map((agent) => readStanding(api, agent)),
  ]);
  const coreTasks = suites.find(({ slug }) => slug === "core")?.task_count ?? 0;
  const scored = agents.some(({ score_basis }) => score_basis !== null);
  return personal(
    c,
    <Layout title="My agents" own="/home">
      <h1>My agents</h1>
      {user.is_admin && (
        <p>
          <a href="/admin">Pages for operators</a>
        </p>
      )}
      <Account user={user} />
      {!scored && sessions.length === 0 && teams.total === 0 && page === 1 && (
        <Steps agents={agents} coreTasks={coreTasks} user={user} />
      )}
      {sessions.length > 0 && (
        <>
          <h2>Under way</h2>
          <ul>
            {sessions.map(({ id, agentId, runs, more }) => (
              <li>
                <a href={`/sessions/${id}`}>
                  <bdi>{names.get(agentId) ?? "A screening"}</bdi>
                </a>
                : {more ? `${runs} or more runs` : counted(runs, "run")} to go
              </li>
            ))}
          </ul>
        </>
      )}
      {agents.length > 0 && (
        <>
          <Listed agents={agents} page={page} />
          <p class="mute">
            Verified: {STATES.verified}. Certified: {STATES.certified}. A provisional score lasts until every core task
            was asked: <a href={SCORE_GUIDE}>how the score comes about</a>
          </p>
        </>
      )}
      <Pager page={page} last={Math.ceil(total / PAGE)} href={(at) => `/home?page=${at}`} />
      {standings.length > 0 && <Standings standings={standings} coreTasks={coreTasks} all={agents.length} />}
      {teams.total > 0 && <Workspaces {...teams} />}
      <h2>Allowance</h2>
      <dl>
        <dt>Runs this month</dt>
        <dd>
          {user.monthly_run_count} of {user.monthly_run_limit}
        </dd>
        <dt>Agents</dt>
        <dd>{agentsOf(user)}</dd>
        <dt>Plan</dt>
        <dd>{user.plan}</dd>
      </dl>
    </Layout>,
  );
}

export const homePages: readonly View[] = [view({ path: "/home", title: "My agents", show: home })];
