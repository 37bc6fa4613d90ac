import type { PropsWithChildren } from "hono/jsx";
import * as z from "zod";
import { AgentRead } from "../../shared/agents/shown.ts";
import { LeaderboardRow } from "../../shared/board/shown.ts";
import { AgentComparisons } from "../../shared/board/compare-all.ts";
import type { Reply } from "../../shared/http/reply.ts";
import { Layout, page, percent, personal } from "./layout.tsx";
import { Differences } from "./parts/charts/differences.tsx";
import { type Cell, Matrix } from "./parts/charts/matrix.tsx";
import { nobodyHas, quoted } from "./parts/choose-agent.tsx";
import { Field, Refused, Wrong } from "./parts/form.tsx";
import { counted, joined } from "./parts/in-words.ts";
import { Marks } from "./parts/marks.tsx";
import { NotCompared } from "./parts/not-compared.tsx";
import { Empty, Scroll } from "./parts/notice.tsx";
import { unless } from "./parts/unless.ts";
import { type View, type Visit, view } from "./parts/view.ts";

type Compared = z.output<typeof AgentComparisons>;

/** How many of the board's first agents can be ticked; others are found by name. */
const OFFERED = 50;
const [FEWEST, MOST] = [2, 10];
/** How many names are looked for at once, and how many agents are offered for each. */
const [NAMES, FOUND, LONGEST] = [3, 5, 100];
const LABELS = { agents: "Another agent" };
const SHOWN = {
  name: true,
  composite_score: true,
  simulated: true,
  score_basis: true,
  memorised: true,
  uneven: true,
} as const;
const Agent = AgentRead.pick({ id: true, ...SHOWN }).transform(({ id, ...agent }) => ({ agent_id: id, ...agent }));
const Board = z.object({ items: z.array(LeaderboardRow.pick({ agent_id: true, ...SHOWN })) });

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

interface Offer {
  items: readonly Offered[];
  /** How many agents each name found; names that were not looked for are not in it. */
  found: ReadonlyMap<string, number>;
}

function Chosen({ items, texts, wrong }: { items: readonly Offered[]; texts: readonly string[]; wrong?: Wrong }) {
  const typed = texts.filter((text) => items.every(({ agent_id }) => agent_id !== text));
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
            {items.map(({ agent_id, name, composite_score, score_basis, ...agent }) => (
              <div class="tick">
                <input
                  type="checkbox"
                  id={agent_id}
                  name="agents"
                  value={agent_id}
                  checked={texts.includes(agent_id)}
                />{" "}
                <label for={agent_id}>
                  <bdi>{name}</bdi>{" "}
                  <span class="mute">{score_basis === null ? "no score yet" : composite_score.toFixed(2)}</span>
                  <Marks of={{ ...agent, score_basis }} />
                </label>
              </div>
            ))}
          </fieldset>
          <Field
            label={LABELS.agents}
            name="agents"
            value={typed.join(", ")}
            optional
            hint="By its name, or the id in its page's address"
            wrong={wrong}
          />
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
        <caption>Success over the {counted(tasks, "task")} that all share</caption>
        <tbody>
          {agents.map(({ agent_id, name, success_rate, ...marks }) => (
            <tr>
              <th scope="row" class="wide">
                <a href={`/agents/${agent_id}`}>
                  <bdi>{name}</bdi>
                </a>
                <Marks of={{ ...marks, simulated: false, score_basis: null }} />
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
      <NotCompared agents={agents} by_task={byTask} fewest={FEWEST} />
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
      <Refused wrong={wrong} labels={LABELS} />
      {children}
    </Layout>
  );
}

/** What keeps so many agents from being compared, in words; null where the interface may be asked. */
function hindrance(agents: number): string | null {
  if (agents < FEWEST) return "One agent, or the same one twice, is nothing to compare: choose another one, too.";
  if (agents > MOST) return `These are ${agents} agents: choose ${MOST} at most.`;
  return null;
}

/** What to do about names that were typed, by what looking for them found. */
function advice(names: readonly string[], found: Offer["found"]): string {
  const nobodys = names.filter((name) => found.get(name) === 0);
  const [some, left] = [names.filter((name) => found.get(name)), names.filter((name) => !found.has(name))];
  return [
    ...(nobodys.length > 0 ? [nobodyHas(nobodys)] : []),
    ...(some.length === 1 ? [`${quoted(some)} is no agent's id. If it is a name, tick which agent is meant.`] : []),
    ...(some.length > 1 ? [`${quoted(some)} are no agents' ids. If they are names, tick which agents are meant.`] : []),
    ...(left.length > 0 ? [`Only ${NAMES} names are looked for at once: not yet ${quoted(left)}.`] : []),
  ].join(" ");
}

/** The agents to choose among: those that were chosen, those that a name may mean, and the first of the board. */
async function offered(api: Visit["api"], ids: readonly string[], names: readonly string[]): Promise<Offer> {
  const board = (query: string) => api.read(`/api/v1/leaderboard?${query}`, Board);
  const [first, found, chosen] = await Promise.all([
    board(`page_size=${OFFERED}`),
    Promise.all(
      names.slice(0, NAMES).map(async (name) => {
        const query = new URLSearchParams({ q: name.slice(0, LONGEST), page_size: `${FOUND}` }).toString();
        return { name, items: (await unless("validation_failed", board(query)))?.items ?? [] };
      }),
    ),
    Promise.all(ids.slice(0, 2 * MOST).map((id) => unless("not_found", api.read(`/api/v1/agents/${id}`, Agent)))),
  ]);
  const all = [...chosen, ...found.flatMap(({ items }) => items), ...first.items].filter((one) => one !== null);
  return {
    items: [...new Map(all.map((one) => [one.agent_id, one])).values()],
    found: new Map(found.map(({ name, items }) => [name, items.length])),
  };
}

const atField = (status: Wrong["status"], message: string): Wrong =>
  new Wrong(status, null, new Map([["agents", message]]));

async function show({ c, api, query }: Visit): Promise<Response | Reply> {
  const texts = idsOf(query.getAll("agents"));
  const [ids, names] = [texts.filter(isId), texts.filter((text) => !isId(text))];
  if (texts.length === 0) {
    const { items } = await offered(api, [], []);
    return page(
      <ComparePage>
        <Chosen items={items} texts={[]} />
      </ComparePage>,
    );
  }
  const refused = (wrong: Wrong, items: readonly Offered[]) =>
    personal(
      c,
      <ComparePage wrong={wrong}>
        <Chosen items={items} texts={texts} wrong={wrong} />
      </ComparePage>,
      wrong.status,
    );
  if (names.length > 0) {
    const { items, found } = await offered(api, ids, names);
    return refused(atField(422, advice(names, found)), items);
  }
  const hindered = hindrance(ids.length);
  if (hindered !== null) return refused(new Wrong(422, hindered), (await offered(api, ids, [])).items);
  const asked = new URLSearchParams({ agent_ids: ids.join(",") }).toString();
  const compared = await unless("not_found", api.read(`/api/v1/agents/compare?${asked}`, AgentComparisons));
  if (compared === null) {
    const { items } = await offered(api, ids, []);
    const gone = joined(
      ids.filter((id) => items.every(({ agent_id }) => agent_id !== id)),
      "or",
    );
    return refused(atField(404, `There is no public agent with the id ${gone}: choose another one.`), items);
  }
  return page(
    <ComparePage>
      <Comparison {...compared} />
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
