import type { PropsWithChildren } from "hono/jsx";
import * as z from "zod";
import { LeaderboardRow } from "../../shared/board/shown.ts";
import { AgentComparisons } from "../../shared/board/compare-all.ts";
import type { Reply } from "../../shared/http/reply.ts";
import { Layout, page, percent, personal } from "./layout.tsx";
import { Differences } from "./parts/charts/differences.tsx";
import { type Cell, Matrix } from "./parts/charts/matrix.tsx";
import { attempt, Refused, Wrong } from "./parts/form.tsx";
import { Empty, Scroll } from "./parts/notice.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

type Compared = z.output<typeof AgentComparisons>;

/** How many of the board's first agents can be ticked; any other is compared by an address with its id. */
const OFFERED = 50;
const Board = z.object({ items: z.array(LeaderboardRow.pick({ agent_id: true, name: true, composite_score: true })) });

/** Ids that stand in one parameter with commas between, in several of the name, or both. */
const Agents = z
  .union([z.string(), z.array(z.string())])
  .default("")
  .transform((given) => idsOf([given].flat()).join(","));

function idsOf(given: readonly string[]): string[] {
  const ids = given.flatMap((one) => one.split(",")).map((one) => one.trim().toLowerCase());
  return [...new Set(ids.filter((one) => one !== ""))];
}

function Chosen({ items, ids }: z.output<typeof Board> & { ids: readonly string[] }) {
  return (
    <>
      {items.length < 2 ? (
        <Empty>
          <p>
            There are no two agents on the <a href="/">board</a> yet.
          </p>
        </Empty>
      ) : (
        <form method="get" action="/compare">
          <fieldset>
            <legend>Choose 2 to 10 agents of the board</legend>
            {items.map(({ agent_id, name, composite_score }) => (
              <div class="tick">
                <input type="checkbox" id={agent_id} name="agents" value={agent_id} checked={ids.includes(agent_id)} />{" "}
                <label for={agent_id}>
                  <bdi>{name}</bdi> <span class="mute">{composite_score.toFixed(2)}</span>
                </label>
              </div>
            ))}
          </fieldset>
          <p>
            <button type="submit">Compare them</button>
          </p>
        </form>
      )}
    </>
  );
}

function Rates({ agents, tasks }: Pick<Compared, "agents" | "tasks">) {
  return (
    <Scroll label="Success over the tasks that all share">
      <table>
        <caption>
          Success over the {tasks} {tasks === 1 ? "task" : "tasks"} that all share
        </caption>
        <tbody>
          {agents.map(({ agent_id, name, success_rate }) => (
            <tr>
              <th scope="row" class="wide">
                <a href={`/agents/${agent_id}`}>
                  <bdi>{name}</bdi>
                </a>
              </th>
              <td class="number">{percent(success_rate)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** How far apart the agents are at a task: 0 where all pass it equally often. */
function spread(results: Compared["by_task"][number]["results"]): number {
  const rates = results.flatMap((one) => (one === null ? [] : [one.passed / one.runs]));
  return Math.max(...rates) - Math.min(...rates);
}

function Comparison({ agents, tasks, pairs, by_task: byTask }: Compared) {
  const names = new Map(agents.map(({ agent_id, name }) => [agent_id, name]));
  const rows = byTask.toSorted((a, b) => spread(b.results) - spread(a.results) || (a.title < b.title ? -1 : 1));
  return (
    <>
      <Rates agents={agents} tasks={tasks} />
      <h2>Pair by pair</h2>
      <p class="mute">
        Of many pairs some look different by chance alone: p is corrected for how many there are (Holm), and a pair
        below 0.05 is told apart.
      </p>
      <Differences
        title="Differences in success, in percentage points"
        differences={pairs.map(({ a, b, difference, p_adjusted, ...pair }) => ({
          ...pair,
          a: names.get(a) ?? a,
          b: names.get(b) ?? b,
          value: difference,
          p: p_adjusted,
        }))}
      />
      <h2>Task by task</h2>
      <Matrix
        title="Passed runs of each task, those first where the agents differ most"
        columns={agents.map(({ name }) => name)}
        rows={rows.map(({ task_id, title, results }) => ({
          name: title,
          href: `/tasks/${task_id}`,
          cells: results.map((one): Cell => (one === null ? null : { passed: one.passed, tries: one.runs })),
        }))}
      />
      <p>
        <a href="/compare">Compare others</a>
      </p>
    </>
  );
}

function ComparePage({ wrong, children }: PropsWithChildren<{ wrong?: Wrong }>) {
  return (
    <Layout title={wrong === undefined ? "Compare" : "Error: compare"} at="/compare">
      <h1>Compare agents</h1>
      <p class="mute">Over the tasks at which both have scored runs, so that each pair did the same work.</p>
      <Refused wrong={wrong} labels={{}} />
      {children}
    </Layout>
  );
}

async function show({ c, api, query }: Visit): Promise<Response | Reply> {
  const ids = idsOf(query.getAll("agents"));
  const asked = new URLSearchParams({ agent_ids: ids.join(",") }).toString();
  const found = await attempt([], async () =>
    ids.length === 0 ? null : api.read(`/api/v1/agents/compare?${asked}`, AgentComparisons),
  );
  if (found !== null && !(found instanceof Wrong)) {
    return page(
      <ComparePage>
        <Comparison {...found} />
      </ComparePage>,
    );
  }
  const { items } = await api.read(`/api/v1/leaderboard?page_size=${OFFERED}`, Board);
  if (found === null) {
    return page(
      <ComparePage>
        <Chosen items={items} ids={ids} />
      </ComparePage>,
    );
  }
  return personal(
    c,
    <ComparePage wrong={found}>
      <Chosen items={items} ids={ids} />
    </ComparePage>,
    found.status,
  );
}

export const comparePages: readonly View[] = [
  view({
    path: "/compare",
    title: "Agents side by side",
    show,
    kept: { tag: "board", query: z.object({ agents: Agents }) },
  }),
];
