import * as z from "zod";
import { AgentRead } from "../../shared/agents/shown.ts";
import { UserRead } from "../../shared/identity/shown.ts";
import { TeamActivityRead } from "../../shared/results/activity.ts";
import { TeamInvitationRead, TeamMemberRead, TeamRead } from "../../shared/teams/shown.ts";
import { Layout, personal, sendTo } from "./layout.tsx";
import { Moment } from "./parts/moment.tsx";
import { ChooseAgent } from "./parts/choose-agent.tsx";
import { attempt, Choose, Field, Form, KEY, Result, type Sent, Wrong } from "./parts/form.tsx";
import { Marks } from "./parts/marks.tsx";
import { looksForAgent, myAgents } from "./parts/my-agents.ts";
import { Notice, Scroll } from "./parts/notice.tsx";
import { pageIn, Pager } from "./parts/pager.tsx";
import { unless } from "./parts/unless.ts";
import { type View, type Visit, view } from "./parts/view.ts";
import { Invitations, Members } from "./parts/workspace-people.tsx";

const LABELS = { name: "Name", email: "Email address", role: "Role", user_id: "New owner", agent_id: "Agent" };
const MemberPage = z.object({ items: z.array(TeamMemberRead) });
const InvitationPage = z.object({ items: z.array(TeamInvitationRead) });
const Activity = z.object({ items: z.array(TeamActivityRead) });
const Agents = z.object({ items: z.array(AgentRead), total: z.number() });
const RECENT = 20;
/** How many agents stand on a page. */
const PAGE = 100;

type Agent = z.output<typeof AgentRead>;

function AgentList({ agents, page }: { agents: readonly Agent[]; page: number }) {
  if (agents.length === 0) return <p>{page === 1 ? "There is none yet." : "There are no more."}</p>;
  return (
    <ul>
      {agents.map(({ id, name, composite_score, ...agent }) => (
        <li>
          <a href={`/agents/${id}`}>
            <bdi>{name}</bdi>
          </a>
          {agent.score_basis !== null && `: ${composite_score.toFixed(2)}`}
          <Marks of={agent} />
        </li>
      ))}
    </ul>
  );
}

/** Why nothing goes on in a workspace that its owner's plan does not include. */
function BeyondPlan({ team: { monthly_run_limit, role } }: { team: z.output<typeof TeamRead> }) {
  if (monthly_run_limit > 0) return null;
  return (
    <Notice kind="bad">
      <p>
        The plan of its owner does not include this workspace: all that is in it stays, but nothing is run or added.{" "}
        {role === "owner" ? (
          <>
            Choose <a href="/settings/plan">a larger plan</a>, or hand it over to a member whose plan has room.
          </>
        ) : (
          "Its owner may choose a larger plan, or hand it over to a member whose plan has room."
        )}
      </p>
    </Notice>
  );
}

/** What happened of late, each thing with where it leads. */
function Recent({
  items,
  people,
  agents,
}: {
  items: z.output<typeof Activity>["items"];
  people: Map<string, string>;
  agents: Map<string, string>;
}) {
  const words = {
    run: "a run",
    screening_session: "a screening",
    member_joined: "joined",
    agent_created: "a new agent",
  };
  return (
    <Scroll label="Activity">
      <table>
        <tbody>
          {items.map(({ kind, at, user_id, agent_id, screening_session_id, status }) => (
            <tr>
              <td>
                <Moment time={at} />
              </td>
              <td class="wide">
                {screening_session_id === null ? (
                  words[kind]
                ) : (
                  <a href={`/sessions/${screening_session_id}`}>{words[kind]}</a>
                )}
                {agent_id !== null && (
                  <>
                    :{" "}
                    <a href={`/agents/${agent_id}`}>
                      <bdi>{agents.get(agent_id) ?? "an agent"}</bdi>
                    </a>
                  </>
                )}
                {status !== null && <span class="tag">{status}</span>}
              </td>
              <td>{user_id !== null && <bdi>{people.get(user_id) ?? "somebody who left"}</bdi>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** What its owner alone may do. */
function Owning({
  path,
  name,
  others,
  typed,
  wrong,
}: {
  path: string;
  name: string;
  others: readonly (readonly [string, string])[];
  typed: URLSearchParams | undefined;
  wrong: Wrong | undefined;
}) {
  return (
    <>
      <h2>Rename it</h2>
      <Form action={path} button="Rename">
        <input type="hidden" name="do" value="rename" />
        <Field label={LABELS.name} name="name" value={typed?.get("name") ?? name} wrong={wrong} />
      </Form>
      {others.length > 0 && (
        <>
          <h2>Hand it over</h2>
          <Form action={path} button="Make them the owner">
            <input type="hidden" name="do" value="transfer" />
            <Choose
              label={LABELS.user_id}
              name="user_id"
              value={typed?.get("user_id") ?? ""}
              options={others}
              hint="You become an admin, and their plan counts from then on."
              wrong={wrong}
            />
          </Form>
        </>
      )}
      <h2>Delete it</h2>
      <Form action={path} button="Delete the workspace" danger>
        <input type="hidden" name="do" value="delete" />
        <p>Only without active agents. Members, invitations, scorecards, schedules and webhooks go with it.</p>
      </Form>
    </>
  );
}

async function show({ c, api, params, query }: Visit, { said, typed, wrong }: Sent = {}): Promise<Response> {
  const at = `/api/v1/teams/${params["team_id"]}`;
  const page = pageIn(query);
  const [user, team, members, activity, agents] = await Promise.all([
    api.read("/api/v1/auth/me", UserRead),
    api.read(at, TeamRead),
    api.read(`${at}/members?page_size=100`, MemberPage),
    api.read(`${at}/activity?page_size=${RECENT}`, Activity),
    api.read(`/api/v1/agents?team_id=${params["team_id"]}&page_size=${PAGE}&page=${page}`, Agents),
  ]);
  const manages = team.role === "owner" || team.role === "admin";
  const mayMove = manages || team.role === "editor";
  const [invitations, own] = await Promise.all([
    manages ? api.read(`${at}/invitations?page_size=100`, InvitationPage) : null,
    mayMove ? myAgents(api, typed, "scope=personal") : null,
  ]);
  const path = `/workspaces/${team.id}`;
  const people = members.items.map(({ user_id, username, email }) => [user_id, username ?? email] as const);
  return personal(
    c,
    <Layout title={wrong === undefined ? team.name : `Error: ${team.name}`} own="/workspaces">
      <h1>
        <bdi>{team.name}</bdi>
      </h1>
      <Result said={said} wrong={wrong} labels={LABELS} />
      <BeyondPlan team={team} />
      <dl>
        <dt>Your role</dt>
        <dd>{team.role}</dd>
        <dt>Seats</dt>
        <dd>
          {team.seats_used} of {team.seats_limit}
        </dd>
        <dt>Runs this month</dt>
        <dd>
          {team.monthly_run_count} of {team.monthly_run_limit}
        </dd>
      </dl>
      <p>
        <a href={`/scorecards?team_id=${team.id}`}>Its scorecards</a>
        {" · "}
        <a href={`/settings/usage?team_id=${team.id}`}>Its usage</a>
        {manages && (
          <>
            {" · "}
            <a href={`${path}/api-keys`}>Its API keys</a>
          </>
        )}
      </p>
      <h2>Agents</h2>
      <AgentList agents={agents.items} page={page} />
      <Pager page={page} last={Math.ceil(agents.total / PAGE)} href={(to) => `${path}?page=${to}`} />
      {own !== null && (own.agents.length > 0 || own.q !== "") && (
        <Form action={path} button="Move it here">
          <input type="hidden" name="do" value="move" />
          <ChooseAgent
            label="One of your own"
            name="agent_id"
            value={typed?.get("agent_id") ?? ""}
            choices={own}
            hint="It belongs to the workspace then, and can't be moved back."
            wrong={wrong}
          />
        </Form>
      )}
      <h2>Members</h2>
      <Members members={members.items} path={path} me={user.id} manages={manages} />
      {invitations !== null && <Invitations invitations={invitations.items} path={path} typed={typed} wrong={wrong} />}
      <h2>Activity</h2>
      <Recent
        items={activity.items}
        people={new Map(people)}
        agents={new Map(agents.items.map(({ id, name }) => [id, name]))}
      />
      {team.role === "owner" && (
        <Owning
          path={path}
          name={team.name}
          others={people.filter(([id]) => id !== user.id)}
          typed={typed}
          wrong={wrong}
        />
      )}
    </Layout>,
    wrong?.status ?? 200,
  );
}

/** What each button does and says then; null where the visitor is no longer in the workspace. */
async function act({ form, api, params }: Visit): Promise<Sent | null> {
  const at = `/api/v1/teams/${params["team_id"]}`;
  const text = (name: string) => form.get(name)?.trim() ?? "";
  const wish = form.get("do");
  const member = `${at}/members/${encodeURIComponent(text("id"))}`;
  if (wish === "leave" || wish === "delete") {
    await unless("not_found", api.send("DELETE", wish === "leave" ? member : at));
    return null;
  }
  if (wish === "invite") {
    const body = { email: text("email"), role: text("role") };
    await api.send("POST", `${at}/invitations`, body, form.get(KEY) ?? undefined);
    return { said: `The invitation is on its way to ${body.email}.` };
  }
  if (wish === "role") await api.send("PATCH", member, { role: text("role") });
  if (wish === "remove") await unless("not_found", api.send("DELETE", member));
  if (wish === "revoke") await api.send("DELETE", `${at}/invitations/${encodeURIComponent(text("id"))}`);
  if (wish === "rename") await api.send("PATCH", at, { name: text("name") });
  if (wish === "transfer") {
    const to = text("user_id");
    await api.send("POST", `${at}/transfer-ownership`, { user_id: to }).catch(async (error: unknown) => {
      // Only an owner hands it over: a form that was sent twice finds it handed over by the first.
      const { items } = await api.read(`${at}/members?page_size=100`, MemberPage);
      if (!items.some(({ user_id, role }) => user_id === to && role === "owner")) throw error;
    });
  }
  if (wish === "move") {
    const agent = encodeURIComponent(text("agent_id"));
    await api.send("POST", `/api/v1/agents/${agent}/transfer-to-workspace`, { team_id: params["team_id"] });
  }
  return { said: "Done." };
}

async function take(visit: Visit): Promise<Response> {
  if (looksForAgent(visit.form)) return show(visit, { typed: visit.form });
  const result = await attempt(["name", "email", "role", "user_id", "agent_id"], () => act(visit));
  if (result instanceof Wrong) return show(visit, { typed: visit.form, wrong: result });
  return result === null ? sendTo(visit.c, "/workspaces") : show(visit, result);
}

export const workspacePages: readonly View[] = [
  view({ path: "/workspaces/{team_id}", title: "A workspace", show: (visit) => show(visit), take }),
];
