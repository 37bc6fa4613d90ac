import * as z from "zod";
import { AgentScrubResult } from "../../shared/agents/schemas.ts";
import { SecretSuiteDiagnostic } from "../../shared/catalogue/secret-suites/schemas.ts";
import { PMFResultsRead } from "../../shared/survey/schemas.ts";
import { Layout, percent, personal } from "./layout.tsx";
import { attempt, Field, Form, Refused, Wrong } from "./parts/form.tsx";
import { counted } from "./parts/in-words.ts";
import { Notice } from "./parts/notice.tsx";
import { forOperators, OperatorsNav } from "./parts/operators.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const PATH = "/admin";
const SURVEY_DAYS = 90;
const LABELS = { name_pattern: "Part of the name" };
const ANSWERS = { very: "very disappointed", somewhat: "somewhat", not: "not" };

const Pending = z.object({ total: z.number() });

interface Outcome {
  hidden?: z.output<typeof AgentScrubResult>;
  typed?: URLSearchParams;
  wrong?: Wrong;
}

function Hidden({ updated, names }: z.output<typeof AgentScrubResult>) {
  return (
    <Notice kind="good" alert>
      <p>
        {updated === 0
          ? "No public agent has that in its name."
          : `${counted(updated, "agent is", "agents are")} private now:`}
      </p>
      {names.length > 0 && (
        <ul>
          {names.map((name) => (
            <li>
              <bdi>{name}</bdi>
            </li>
          ))}
        </ul>
      )}
    </Notice>
  );
}

function Survey({ results }: { results: z.output<typeof PMFResultsRead> }) {
  const { days, responses, nps, promoters, passives, detractors, disappointment } = results;
  return (
    <>
      <h2>The survey</h2>
      {responses === 0 ? (
        <p>Nobody answered it in the last {days} days.</p>
      ) : (
        <dl>
          <dt>Answers</dt>
          <dd>
            {responses} in {days} days
          </dd>
          <dt>Net Promoter Score</dt>
          <dd>
            {nps.toFixed(1)}: {counted(promoters, "promoter")}, {counted(passives, "passive")},{" "}
            {counted(detractors, "detractor")}
          </dd>
          <dt>Without the service</dt>
          <dd>
            {(["very", "somewhat", "not"] as const)
              .map((answer) => `${percent(disappointment[answer] / responses)} ${ANSWERS[answer]}`)
              .join(", ")}
          </dd>
        </dl>
      )}
    </>
  );
}

async function show({ c, api }: Visit, { hidden, typed, wrong }: Outcome = {}): Promise<Response> {
  const [{ total }, secret, results] = await Promise.all([
    api.read("/api/v1/task-submissions?status=pending&page_size=1", Pending),
    api.read("/api/v1/tasks/secret-suites/diagnostic", SecretSuiteDiagnostic),
    api.read(`/api/v1/pmf/results?days=${SURVEY_DAYS}`, PMFResultsRead),
  ]);
  return personal(
    c,
    <Layout title={wrong === undefined ? "Operators" : "Error: operators"} own={PATH}>
      <h1>Operators</h1>
      <OperatorsNav current={PATH} />
      {hidden !== undefined && <Hidden {...hidden} />}
      <Refused wrong={wrong} labels={LABELS} />
      <dl>
        <dt>Proposals</dt>
        <dd>
          <a href="/admin/proposals">{total} to review</a>
        </dd>
        <dt>Secret suites</dt>
        <dd>
          {secret.enabled ? "switched on" : "switched off"},{" "}
          <a href="/admin/suites">{secret.suites.length} of the suites</a>
        </dd>
        <dt>The service</dt>
        <dd>
          <a href="/status">its parts and its daily work</a>
        </dd>
      </dl>
      <Survey results={results} />
      <h2>Take agents off the board by name</h2>
      <Form action={PATH} button="Make them private" danger>
        <p>
          Every public agent with this in its name becomes private at once, whoever owns it, in any case of letters.
          Only its owner can show it again.
        </p>
        <Field label={LABELS.name_pattern} name="name_pattern" value={typed?.get("name_pattern")} wrong={wrong} />
      </Form>
    </Layout>,
    wrong?.status ?? 200,
  );
}

async function take(visit: Visit): Promise<Response> {
  const query = new URLSearchParams({ name_pattern: visit.form.get("name_pattern") ?? "" });
  const hidden = await attempt(["name_pattern"], async () =>
    AgentScrubResult.parse(await visit.api.send("POST", `/api/v1/agents/admin/scrub-public?${query.toString()}`)),
  );
  return show(visit, hidden instanceof Wrong ? { typed: visit.form, wrong: hidden } : { hidden });
}

export const adminPages: readonly View[] = [
  view({ path: PATH, title: "Operators", show: forOperators((visit) => show(visit)), take: forOperators(take) }),
];
