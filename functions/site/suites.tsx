import * as z from "zod";
import { SuiteField } from "../../shared/board/field.ts";
import { pageQuery } from "../../shared/http/paging.ts";
import type { Reply } from "../../shared/http/reply.ts";
import { notFound } from "../../shared/platform/problem.ts";
import { Bar, Layout, page, percent } from "./layout.tsx";
import { PAGE, readSuites, readSuiteTasks, type Suite, type Task } from "./parts/catalogue.ts";
import { GRADERS } from "./parts/graders.ts";
import { counted, theFirst } from "./parts/in-words.ts";
import { Empty, Notice, Table } from "./parts/notice.tsx";
import { pageIn, Pager } from "./parts/pager.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

/** How the field does at a task, and of how many agents that is known. */
type Field = ReadonlyMap<string, { agents: number; pass_rate: number | null }>;

const Asked = z.object({ page: pageQuery.shape.page.catch(1) });

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

interface Shown {
  suite: Suite;
  /** Those of the page, and how many there are. */
  tasks: Task[];
  total: number;
  page: number;
  field: Field;
  agents: number;
}

function SuitePage({ suite, tasks, total, page: at, field, agents }: Shown) {
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
          <p>There is no active task {at === 1 ? "in this suite yet" : "on this page"}.</p>
        </Empty>
      ) : (
        <>
          <p class="mute">
            Version {suite.version}, {counted(total, "task")}. The field:{" "}
            {agents === 0 ? "nobody is ranked yet" : `${theFirst(agents, "ranked agent")} of the board`}.
          </p>
          <Tasks tasks={tasks} field={field} />
          <Graders tasks={tasks} />
        </>
      )}
      <Pager page={at} last={Math.ceil(total / PAGE)} href={(next) => `/suites/${suite.slug}?page=${next}`} />
    </Layout>
  );
}

async function show({ api, params, query }: Visit): Promise<Reply> {
  const suite = (await readSuites(api)).find(({ slug }) => slug === params["slug"]);
  if (suite === undefined) throw notFound("suite");
  // As the page is kept: what is sent twice asks for none.
  const at = query.getAll("page").length > 1 ? 1 : pageIn(query);
  const [tasks, { agents, items }] = await Promise.all([
    readSuiteTasks(api, suite.id, at),
    api.read(`/api/v1/suites/${suite.id}/field`, SuiteField),
  ]);
  const field = new Map(items.map((item) => [item.task_id, item]));
  return page(
    <SuitePage suite={suite} tasks={tasks.items} total={tasks.total} page={at} field={field} agents={agents} />,
  );
}

export const suitePages: readonly View[] = [
  view({ path: "/suites", title: "Suites of tasks", show: list, kept: { tag: "catalogue" } }),
  view({ path: "/suites/{slug}", title: "A suite of tasks", show, kept: { tag: "board", query: Asked } }),
];
