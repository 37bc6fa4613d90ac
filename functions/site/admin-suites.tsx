import { SecretSuiteDiagnostic } from "../../shared/catalogue/secret-suites/schemas.ts";
import { SuiteRead } from "../../shared/catalogue/shown.ts";
import { Layout, personal, sendTo } from "./layout.tsx";
import { readSuites } from "./parts/catalogue.ts";
import { attempt, Field, Form, KEY, Refused, Tick, Wrong } from "./parts/form.tsx";
import { Table } from "./parts/notice.tsx";
import { forOperators, OperatorsNav } from "./parts/operators.tsx";
import { TextArea } from "./parts/text-area.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const PATH = "/admin/suites";
const LABELS = { name: "Name", slug: "Short name in addresses", description: "Description" };

interface Outcome {
  typed?: URLSearchParams;
  wrong?: Wrong;
}

async function show({ c, api }: Visit, { typed, wrong }: Outcome = {}): Promise<Response> {
  const [suites, secret] = await Promise.all([
    readSuites(api),
    api.read("/api/v1/tasks/secret-suites/diagnostic", SecretSuiteDiagnostic),
  ]);
  const retired = new Map(secret.suites.map((suite) => [suite.suite_id, suite.retired_tasks]));
  return personal(
    c,
    <Layout title={wrong === undefined ? "Suites and tasks" : "Error: suites and tasks"} own="/admin">
      <h1>Suites and tasks</h1>
      <OperatorsNav current={PATH} />
      <Refused wrong={wrong} labels={LABELS} />
      <p>Secret suites are switched {secret.enabled ? "on" : "off"}.</p>
      <Table
        label="Suites"
        columns={[
          ["Suite", "wide"],
          ["Version", "number"],
          ["Active tasks", "number"],
          ["Retired, where secret", "number"],
        ]}
      >
        {suites.map(({ id, slug, name, version, task_count, is_secret }) => (
          <tr>
            <td class="wide">
              <a href={`${PATH}/${slug}`}>{name}</a>
              {is_secret && <span class="tag">secret</span>}
            </td>
            <td class="number">{version}</td>
            <td class="number">{task_count}</td>
            <td class="number">{retired.get(id) ?? "–"}</td>
          </tr>
        ))}
      </Table>
      <h2>A new suite</h2>
      <Form action={PATH} button="Make the suite" once>
        <Field label={LABELS.name} name="name" value={typed?.get("name")} wrong={wrong} />
        <Field
          label={LABELS.slug}
          name="slug"
          value={typed?.get("slug")}
          hint="Lower-case letters and digits, parted by hyphens."
          wrong={wrong}
        />
        <TextArea
          label={LABELS.description}
          name="description"
          value={typed?.get("description")}
          rows={3}
          wrong={wrong}
          optional
        />
        <Tick
          label="Its tasks are secret"
          name="is_secret"
          checked={typed?.get("is_secret") === "true"}
          hint="What they ask is shown to nobody, and that can't be changed later."
        />
      </Form>
    </Layout>,
    wrong?.status ?? 200,
  );
}

async function make(visit: Visit): Promise<Response> {
  const { c, form, api } = visit;
  const body = {
    slug: form.get("slug")?.trim() ?? "",
    name: form.get("name") ?? "",
    description: form.get("description") ?? "",
    is_secret: form.get("is_secret") === "true",
  };
  const made = await attempt(Object.keys(LABELS), async () =>
    SuiteRead.parse(await api.send("POST", "/api/v1/suites", body, form.get(KEY) ?? undefined)),
  );
  return made instanceof Wrong ? show(visit, { typed: form, wrong: made }) : sendTo(c, `${PATH}/${made.slug}`);
}

export const adminSuitePages: readonly View[] = [
  view({
    path: PATH,
    title: "Suites and tasks, for operators",
    show: forOperators((visit) => show(visit)),
    take: forOperators(make),
  }),
];
