import * as z from "zod";
import { TeamRead } from "../../shared/teams/shown.ts";
import { Layout, personal, sendTo } from "./layout.tsx";
import { attempt, Field, Form, KEY, Refused, Wrong } from "./parts/form.tsx";
import { Empty, Table } from "./parts/notice.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const PATH = "/workspaces";
const Teams = z.object({ items: z.array(TeamRead) });

function List({ teams }: { teams: readonly z.output<typeof TeamRead>[] }) {
  return (
    <Table
      label="Workspaces"
      columns={[["Workspace", "wide"], "Your role", ["Seats", "number"], ["Runs this month", "number"]]}
    >
      {teams.map(({ id, name, role, ...team }) => (
        <tr>
          <td class="wide">
            <a href={`${PATH}/${id}`}>
              <bdi>{name}</bdi>
            </a>
            {team.monthly_run_limit === 0 && <span class="tag">not in the plan</span>}
          </td>
          <td>{role}</td>
          <td class="number">
            {team.seats_used} of {team.seats_limit}
          </td>
          <td class="number">
            {team.monthly_run_count} of {team.monthly_run_limit}
          </td>
        </tr>
      ))}
    </Table>
  );
}

async function show({ c, api }: Visit, typed?: URLSearchParams, wrong?: Wrong): Promise<Response> {
  const { items } = await api.read("/api/v1/teams?page_size=100", Teams);
  return personal(
    c,
    <Layout title={wrong === undefined ? "Workspaces" : "Error: workspaces"} own={PATH}>
      <h1>Workspaces</h1>
      <Refused wrong={wrong} labels={{ name: "Name" }} />
      {items.length === 0 ? (
        <Empty>
          <p>You are in no workspace yet. In one, several people screen the same agents, from one allowance.</p>
        </Empty>
      ) : (
        <List teams={items} />
      )}
      <p>
        <a href="/scorecards">Scorecards</a> rank the board by what counts for you.
      </p>
      <h2>A new workspace</h2>
      <Form action={PATH} button="Make the workspace" once>
        <Field
          label="Name"
          name="name"
          value={typed?.get("name")}
          hint="How many you may own is a matter of your plan."
          wrong={wrong}
        />
      </Form>
    </Layout>,
    wrong?.status ?? 200,
  );
}

async function take(visit: Visit): Promise<Response> {
  const { c, form, api } = visit;
  const made = await attempt(["name"], async () =>
    TeamRead.parse(
      await api.send("POST", "/api/v1/teams", { name: form.get("name") ?? "" }, form.get(KEY) ?? undefined),
    ),
  );
  return made instanceof Wrong ? show(visit, form, made) : sendTo(c, `${PATH}/${made.id}`);
}

export const workspacesPages: readonly View[] = [
  view({ path: PATH, title: "Workspaces", show: (visit) => show(visit), take }),
];
