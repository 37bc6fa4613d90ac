import type { PropsWithChildren } from "hono/jsx";
import * as z from "zod";
import { AgentRead } from "../../shared/agents/shown.ts";
import { LeaderboardRow } from "../../shared/board/shown.ts";
import { AgentComparisons } from "../../shared/board/compare-all.ts";
import type { Reply } from "../../shared/http/reply.ts";
import { Layout, page, percent, personal } from "./layout.tsx";
import { Differences } from "./parts/charts/differences.tsx";
import { type Cell, Matrix } from "./parts/charts/matrix.tsx";
import { Field, Refused, Wrong } from "./parts/form.tsx";
import { Empty, Scroll } from "./parts/notice.tsx";
import { unless } from "./parts/unless.ts";
import { type View, type Visit, view } from "./parts/view.ts";

type Compared = z.output<typeof AgentComparisons>;

/** How many of the board's first agents can be ticked; others are found by name. */
const OFFERED = 50;
const [FEWEST, MOST] = [2, 10];
/** How many names are looked for at once, and how many agents are offered for each. */
const [NAMES, FOUND, LONGEST] = [3, 5, 100];
const Agent = AgentRead.pick({ id: true, name: true, composite_score: true }).transform(({ id, ...agent }) => ({
  agent_id: id,
  ...agent,
}));
const Board = z.object({ items: z.array(LeaderboardRow.pick({ agent_id: true, name: true, composite_score: true })) });

const isId = (text: string): boolean => z.uuid().safeParse(text).success;

/** Ids that stand in one parameter with commas between, in several of the name, or both. */
const Agents = z
  .union([z.string(), z.array(z.string())])
  .default("")
  .transform((given) => idsOf([given].flat()).join(","));

/** What was chosen, each once: ids, and whatever else was typed in their place. */
function idsOf(given: readonly string[]): string[] {
  const texts = given.flatMap((one) => one.split(",")).map((one) => one.trim());
  return [...new Set(texts.filter((one) => one !== "").map((one) => (isId(one) ? one.toLowerCase() : one)))];
}

type Offered = z.output<typeof Board>["items"][number] | z.output<typeof Agent>;

function Chosen({ items, ids }: { items: readonly Offered[]; ids: readonly string[] }) {
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
            <legend>
              Choose {FEWEST} to {MOST} agents
            </legend>
            {items.map(({ agent_id, name, composite_score }) => (
              <div class="tick">
                <input type="checkbox" id={agent_id} name="agents" value={agent_id} checked={ids.includes(agent_id)} />{" "}
                <label for={agent_id}>
                  <bdi>{name}</bdi> <span class="mute">{composite_score.toFixed(2)}</span>
                </label>
              </div>
            ))}
          </fieldset>
          <Field label="Another agent" name="agents" optional hint="By its name, or the id in its page's address" />
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

/** What keeps a choice from being compared, in words; null where the interface may be asked. */
function hindrance(ids: readonly string[], names: readonly string[]): string | null {
  if (names.length > 0)
    return `${names.map((name) => `“${name}”`).join(", ")} is no agent's id. If it is a name, tick below which agent is meant.`;
  if (ids.length < FEWEST) return "One agent, or the same one twice, is nothing to compare: choose another one, too.";
  if (ids.length > MOST) return `These are ${ids.length} agents: choose ${MOST} at most.`;
  return null;
}

/** The agents to choose among: those that were chosen, those that a name may mean, and the first of the board. */
async function offered(api: Visit["api"], ids: readonly string[], names: readonly string[]): Promise<Offered[]> {
  const board = (query: string) => api.read(`/api/v1/leaderboard?${query}`, Board);
  const [first, found, chosen] = await Promise.all([
    board(`page_size=${OFFERED}`),
    Promise.all(
      names.slice(0, NAMES).map(async (q) => {
        const query = new URLSearchParams({ q: q.slice(0, LONGEST), page_size: `${FOUND}` }).toString();
        return (await unless("validation_failed", board(query)))?.items ?? [];
      }),
    ),
    Promise.all(ids.slice(0, 2 * MOST).map((id) => unless("not_found", api.read(`/api/v1/agents/${id}`, Agent)))),
  ]);
  const all = [...chosen, ...found.flat(), ...first.items].filter((one) => one !== null);
  return [...new Map(all.map((one) => [one.agent_id, one])).values()];
}

async function show({ c, api, query }: Visit): Promise<Response | Reply> {
  const texts = idsOf(query.getAll("agents"));
  const [ids, names] = [texts.filter(isId), texts.filter((text) => !isId(text))];
  if (texts.length === 0) {
    return page(
      <ComparePage>
        <Chosen items={await offered(api, [], [])} ids={[]} />
      </ComparePage>,
    );
  }
  const refused = (message: string, status: Wrong["status"], items: readonly Offered[]) =>
    personal(
      c,
      <ComparePage wrong={new Wrong(status, message)}>
        <Chosen items={items} ids={ids} />
      </ComparePage>,
      status,
    );
  const hindered = hindrance(ids, names);
  if (hindered !== null) return refused(hindered, 422, await offered(api, ids, names));
  const asked = new URLSearchParams({ agent_ids: ids.join(",") }).toString();
  const found = await unless("not_found", api.read(`/api/v1/agents/compare?${asked}`, AgentComparisons));
  if (found === null) {
    const items = await offered(api, ids, []);
    const gone = ids.filter((id) => items.every(({ agent_id }) => agent_id !== id));
    return refused(`There is no agent to be seen with the id ${gone.join(", ")}: choose another one.`, 404, items);
  }
  return page(
    <ComparePage>
      <Comparison {...found} />
    </ComparePage>,
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
