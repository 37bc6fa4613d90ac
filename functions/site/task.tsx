import { SuiteField } from "../../shared/board/field.ts";
import { SuiteRead, TaskRead } from "../../shared/catalogue/shown.ts";
import type { Reply } from "../../shared/http/reply.ts";
import { Bar, Layout, page, percent } from "./layout.tsx";
import type { Task } from "./parts/catalogue.ts";
import { GRADERS } from "./parts/graders.ts";
import { costInWords, counted, theFirst } from "./parts/in-words.ts";
import { Notice } from "./parts/notice.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const words = (name: string): string => name.replaceAll("_", " ");
const json = (value: unknown): string => JSON.stringify(value, null, 2);

/** A part of what an agent is sent, where the task has it. */
function Part({ title, value }: { title: string; value: unknown }) {
  if (value === null || value === undefined || json(value) === "{}" || json(value) === "[]") return null;
  return (
    <>
      <h3>{title}</h3>
      <pre>{json(value)}</pre>
    </>
  );
}

function Asked({ task }: { task: Task }) {
  if (task.prompt === null)
    return (
      <Notice>
        <p>What this task asks is shown to nobody: it belongs to a secret suite.</p>
      </Notice>
    );
  return (
    <>
      <h2>{task.instances === "minted" ? "A sample of what is asked" : "What is asked"}</h2>
      {task.instances === "minted" && (
        <p class="mute">
          Every counted run gets an instance of its own: the same story with other numbers, names and order.
        </p>
      )}
      <pre dir="auto">{task.prompt}</pre>
      <Part title="Input" value={task.input} />
      <Part title="Tools" value={task.tools} />
      <Part title="Schema of the answer" value={task.output_schema} />
    </>
  );
}

function Field({ field, taskId }: { field: SuiteField | null; taskId: string }) {
  const known = field?.items.find(({ task_id }) => task_id === taskId);
  if (known === undefined || known.pass_rate === null) return <p>No ranked agent has a scored run of this task yet.</p>;
  return (
    <>
      <p>
        Of {theFirst(field?.agents ?? 0, "ranked agent")} of the <a href="/">board</a>{" "}
        {counted(known.agents, "has", "have")} scored runs. {known.agents === 1 ? "It passes" : "They pass"}{" "}
        {percent(known.pass_rate)} of them; {counted(known.always, "always passes", "always pass")},{" "}
        {counted(known.never, "never does", "never do")}.
      </p>
      <Bar value={known.pass_rate} label={percent(known.pass_rate)} />
    </>
  );
}

async function show({ api, params }: Visit): Promise<Reply> {
  const task = await api.read(`/api/v1/tasks/${params["task_id"]}`, TaskRead);
  const [suite, field] =
    task.suite_id === null
      ? [null, null]
      : await Promise.all([
          api.read(`/api/v1/suites/${task.suite_id}`, SuiteRead),
          api.read(`/api/v1/suites/${task.suite_id}/field`, SuiteField),
        ]);
  return page(
    <Layout title={task.title} at="/suites">
      <p>
        <a href="/suites">Suites</a>
        {suite !== null && (
          <>
            {" / "}
            <a href={`/suites/${suite.slug}`}>{suite.name}</a>
          </>
        )}
      </p>
      <h1>
        {task.title}
        {!task.is_active && <span class="tag">retired</span>}
      </h1>
      <dl>
        <dt>Domain</dt>
        <dd>{words(task.domain)}</dd>
        <dt>Graded by</dt>
        <dd>
          {words(task.grader_type)}: {GRADERS[task.grader_type]} Passed from {percent(task.pass_threshold)} on.
        </dd>
        <dt>Time</dt>
        <dd>
          {task.time_limit_ms / 1000} s at most; {task.reference_latency_ms / 1000} s count as fast
        </dd>
        <dt>Cost</dt>
        <dd>{costInWords(task.reference_cost_usd)} count as cheap</dd>
        <dt>Suite version</dt>
        <dd>{task.suite_version}</dd>
      </dl>
      <h2>The field</h2>
      <Field field={field} taskId={task.id} />
      <Asked task={task} />
    </Layout>,
  );
}

export const taskPages: readonly View[] = [
  view({ path: "/tasks/{task_id}", title: "A task", show, kept: { tag: "board" } }),
];
