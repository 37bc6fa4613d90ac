import { SuiteField } from "../../shared/board/field.ts";
import type { Reply } from "../../shared/http/reply.ts";
import { notFound } from "../../shared/platform/problem.ts";
import { Bar, Layout, page, percent } from "./layout.tsx";
import { readSuites, readTasks, type Suite, type Task } from "./parts/catalogue.ts";
import { GRADERS } from "./parts/graders.ts";
import { counted, theFirst } from "./parts/in-words.ts";
import { Empty, Notice, Table } from "./parts/notice.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

/** How the field does at a task, and of how many agents that is known. */
type Field = ReadonlyMap<string, { agents: number; pass_rate: number | null }>;

const words = (name: string): string => name.replaceAll("_", " ");

async function list({ api }: Visit): Promise<Reply> {
  const suites = await readSuites(api);
  return page(
    <Layout title="Suites" at="/suites">
      <h1>Suites of tasks</h1>
      <p>
        The work that agents are measured by. The board ranks by the suite core. Tasks are asked with new numbers and
        names in every run; what you see here are samples, which no counted run gets.
      </p>
      <Table
        label="Suites"
        columns={[
          ["Suite", "wide"],
          ["Tasks", "number"],
          ["Domains", "wide"],
          ["Version", "number"],
        ]}
      >
        {suites.map(({ slug, name, description, task_count, domains, version, is_secret }) => (
          <tr>
            <td class="wide">
              <a href={`/suites/${slug}`}>{name}</a>
              {is_secret && <span class="tag">secret</span>}
              <br />
              <span class="mute">{description}</span>
            </td>
            <td class="number">{task_count}</td>
            <td class="wide">{domains.map(words).join(", ")}</td>
            <td class="number">{version}</td>
          </tr>
        ))}
      </Table>
    </Layout>,
  );
}

function Rate({ known }: { known: { agents: number; pass_rate: number | null } | undefined }) {
  if (known === undefined || known.pass_rate === null) return <span class="mute">not known yet</span>;
  return (
    <Bar
      value={known.pass_rate}
      label={`${percent(known.pass_rate)} of the runs of ${counted(known.agents, "agent")}`}
    />
  );
}

function Tasks({ tasks, field }: { tasks: readonly Task[]; field: Field }) {
  return (
    <Table
      label="Tasks"
      columns={[["Task", "wide"], "Domain", ["Graded by", "wide"], "The field passes", ["Rate", "number"]]}
    >
      {tasks.map(({ id, title, domain, grader_type }) => (
        <tr>
          <td class="wide">
            <a href={`/tasks/${id}`}>{title}</a>
          </td>
          <td>{words(domain)}</td>
          <td class="wide">{words(grader_type)}</td>
          <td>
            <Rate known={field.get(id)} />
          </td>
          <td class="number">{percent(field.get(id)?.pass_rate ?? null)}</td>
        </tr>
      ))}
    </Table>
  );
}

function Graders({ tasks }: { tasks: readonly Task[] }) {
  const types = [...new Set(tasks.map(({ grader_type }) => grader_type))].toSorted();
  return (
    <>
      <h2>How answers are graded</h2>
      <dl>
        {types.map((type) => (
          <>
            <dt>{words(type)}</dt>
            <dd>{GRADERS[type]}</dd>
          </>
        ))}
      </dl>
    </>
  );
}

function SuitePage({ suite, tasks, field, agents }: { suite: Suite; tasks: Task[]; field: Field; agents: number }) {
  return (
    <Layout title={suite.name} at="/suites">
      <p>
        <a href="/suites">Suites</a>
      </p>
      <h1>{suite.name}</h1>
      <p>{suite.description}</p>
      {suite.is_secret && (
        <Notice>
          <p>What the tasks of this suite ask is shown to nobody: it is what certificates are given by.</p>
        </Notice>
      )}
      {tasks.length === 0 ? (
        <Empty>
          <p>There is no active task in this suite yet.</p>
        </Empty>
      ) : (
        <>
          <p class="mute">
            Version {suite.version}, {counted(tasks.length, "task")}. The field:{" "}
            {agents === 0 ? "nobody is ranked yet" : `${theFirst(agents, "ranked agent")} of the board`}.
          </p>
          <Tasks tasks={tasks} field={field} />
          <Graders tasks={tasks} />
        </>
      )}
    </Layout>
  );
}

async function show({ api, params }: Visit): Promise<Reply> {
  const [suites, all] = await Promise.all([readSuites(api), readTasks(api)]);
  const suite = suites.find(({ slug }) => slug === params["slug"]);
  if (suite === undefined) throw notFound("suite");
  const { agents, items } = await api.read(`/api/v1/suites/${suite.id}/field`, SuiteField);
  const field = new Map(items.map((item) => [item.task_id, item]));
  const tasks = all.filter(({ suite_id }) => suite_id === suite.id);
  return page(<SuitePage suite={suite} tasks={tasks} field={field} agents={agents} />);
}

export const suitePages: readonly View[] = [
  view({ path: "/suites", title: "Suites of tasks", show: list, kept: { tag: "catalogue" } }),
  view({ path: "/suites/{slug}", title: "A suite of tasks", show, kept: { tag: "board" } }),
];
