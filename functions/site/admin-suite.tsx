import * as z from "zod";
import { TaskAdminRead, TaskRetireResult } from "../../shared/catalogue/create-task-schemas.ts";
import { SecretSuiteRotateResult } from "../../shared/catalogue/secret-suites/schemas.ts";
import { notFound } from "../../shared/platform/problem.ts";
import { Layout, personal } from "./layout.tsx";
import { PAGE, readSuites, readSuiteTasks, type Suite, type Task } from "./parts/catalogue.ts";
import { attempt, Form, KEY, Result, type Sent, Wrong } from "./parts/form.tsx";
import { counted } from "./parts/in-words.ts";
import { Empty, Table } from "./parts/notice.tsx";
import { forOperators, OperatorsNav } from "./parts/operators.tsx";
import { pageIn, Pager } from "./parts/pager.tsx";
import { TextArea } from "./parts/text-area.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const LIST = "/admin/suites";
const LABELS = { task: "The task in JSON" };
/** A task to begin with; it is one that the interface takes. */
const EXAMPLE = {
  title: "Six times seven",
  domain: "math",
  prompt: "What is six times seven? Answer with the number alone.",
  grader: { type: "exact" },
  expected_output: "42",
};

function Tasks({ tasks, path, page }: { tasks: readonly Task[]; path: string; page: number }) {
  return (
    <Table
      label="Active tasks"
      caption="Active tasks, in their order"
      columns={[["Task", "wide"], "Domain", ["Of version", "number"], ["Do", "mute"]]}
    >
      {tasks.map(({ id, title, domain, suite_version }) => (
        <tr>
          <td class="wide">
            <a href={`/tasks/${id}`}>
              <bdi>{title}</bdi>
            </a>
          </td>
          <td>{domain.replaceAll("_", " ")}</td>
          <td class="number">{suite_version}</td>
          <td>
            <a href={`${path}?page=${page}&retire=${id}#retire`} aria-label={`Retire ${title}`}>
              Retire
            </a>
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Asks once more: a task that is retired stays so. */
function Retire({ task, path }: { task: Task; path: string }) {
  return (
    <section id="retire" aria-labelledby="retiring">
      <h2 id="retiring">
        Retire <bdi>{task.title}</bdi>?
      </h2>
      <Form action={path} button="Retire it for good" danger>
        <input type="hidden" name="do" value="retire" />
        <input type="hidden" name="task" value={task.id} />
        <p>It can't be run any more. Runs that were reserved before still run; recorded runs and scores stay.</p>
      </Form>
    </section>
  );
}

function Rotate({ suite, path }: { suite: Suite; path: string }) {
  return (
    <>
      <h2>Give it its next version</h2>
      <Form action={path} button={`Make it version ${suite.version + 1}`} danger>
        <input type="hidden" name="do" value="rotate" />
        {/* Sent again, a form that was made for an older version changes nothing. */}
        <input type="hidden" name="version" value={String(suite.version)} />
        <p>
          {suite.is_secret && "Tasks that were made from templates are replaced by new ones. "}All others count as new:
          only runs at the new version are scored.
        </p>
      </Form>
    </>
  );
}

async function suiteOf({ api, params }: Visit): Promise<Suite> {
  const suite = (await readSuites(api)).find(({ slug }) => slug === params["slug"]);
  if (suite === undefined) throw notFound("suite");
  return suite;
}

async function show(visit: Visit, { said, typed, wrong }: Sent = {}): Promise<Response> {
  const { c, api, query } = visit;
  const suite = await suiteOf(visit);
  const page = pageIn(query);
  const { items: tasks, total } = await readSuiteTasks(api, suite.id, page);
  const path = `${LIST}/${suite.slug}`;
  const leaving = tasks.find(({ id }) => id === query.get("retire"));
  return personal(
    c,
    <Layout title={wrong === undefined ? suite.name : `Error: ${suite.name}`} own="/admin">
      <h1>
        <bdi>{suite.name}</bdi>
        {suite.is_secret && <span class="tag">secret</span>}
      </h1>
      <OperatorsNav current={LIST} />
      <Result said={said} wrong={wrong} labels={LABELS} />
      <p>
        Version {suite.version}. <a href={`/suites/${suite.slug}`}>What everybody sees of it</a>
      </p>
      {tasks.length === 0 ? (
        <Empty>
          <p>There is no active task {page === 1 ? "in it: add one" : "on this page"}.</p>
        </Empty>
      ) : (
        <Tasks tasks={tasks} path={path} page={page} />
      )}
      <Pager page={page} last={Math.ceil(total / PAGE)} href={(at) => `${path}?page=${at}`} />
      {leaving !== undefined && <Retire task={leaving} path={path} />}
      <h2>Add a task</h2>
      <Form action={path} button="Add the task" once>
        <TextArea
          label={LABELS.task}
          name="task"
          value={typed?.get("task") ?? JSON.stringify(EXAMPLE, null, 2)}
          hint="As the interface takes it (createTask); it goes to the end of this suite."
          rows={12}
          wrong={wrong}
          code
        />
      </Form>
      <p>
        <a href="/docs/catalogue">What a task may have</a>
      </p>
      <Rotate suite={suite} path={path} />
    </Layout>,
    wrong?.status ?? 200,
  );
}

/** The JSON object that was typed. */
function objectOf(text: string): object | Wrong {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch {
    const message = "Give one JSON object, as in the example.";
    return new Wrong(422, null, new Map([["task", message]]));
  }
}

async function add({ api, form }: Visit, suite: Suite): Promise<Sent> {
  const typed = objectOf(form.get("task") ?? "");
  if (typed instanceof Wrong) return { typed: form, wrong: typed };
  const body = { ...typed, suite_id: suite.id };
  const added = await attempt([], async () =>
    TaskAdminRead.parse(await api.send("POST", "/api/v1/tasks", body, form.get(KEY) ?? undefined)),
  );
  return added instanceof Wrong ? { typed: form, wrong: added } : { said: `${added.title} is added.` };
}

async function retire({ api, form }: Visit): Promise<Sent> {
  const id = z.uuid().safeParse(form.get("task")).data;
  if (id === undefined) throw notFound("task");
  const { was_active } = TaskRetireResult.parse(await api.send("POST", `/api/v1/tasks/${id}/retire`));
  return { said: was_active ? "The task is retired." : "The task was retired before." };
}

async function rotate({ api, form }: Visit, suite: Suite): Promise<Sent> {
  if (form.get("version") !== String(suite.version)) return { said: `It is at version ${suite.version} already.` };
  const body = { suite_id: suite.id };
  const rotated = await attempt([], async () =>
    SecretSuiteRotateResult.parse(await api.send("POST", "/api/v1/tasks/secret-suites/rotate", body)),
  );
  if (rotated instanceof Wrong) return { wrong: rotated };
  return { said: `It is at version ${rotated.suite_version}, with ${counted(rotated.tasks_rotated, "task")}.` };
}

async function take(visit: Visit): Promise<Response> {
  const wish = visit.form.get("do");
  const suite = await suiteOf(visit);
  if (wish === "retire") return show(visit, await retire(visit));
  return show(visit, await (wish === "rotate" ? rotate(visit, suite) : add(visit, suite)));
}

export const oneAdminSuitePages: readonly View[] = [
  view({
    path: `${LIST}/{slug}`,
    title: "A suite, for operators",
    show: forOperators((visit) => show(visit)),
    take: forOperators(take),
  }),
];
