import * as z from "zod";
import { AgentScrubResult } from "../../shared/agents/schemas.ts";
import { SecretSuiteDiagnostic } from "../../shared/catalogue/secret-suites/schemas.ts";
import { PMFResultsRead } from "../../shared/survey/schemas.ts";
import { Layout, percent, personal } from "./layout.tsx";
import { apiOf } from "./parts/api.ts";
import { attempt, Field, Form, Refused, Wrong } from "./parts/form.tsx";
import { counted } from "./parts/in-words.ts";
import { Notice } from "./parts/notice.tsx";
import { forOperators, OperatorsNav } from "./parts/operators.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const PATH = "/admin";
const SURVEY_DAYS = 90;
const LABELS = { q: "Part of the name" };
const ANSWERS = { very: "very disappointed", somewhat: "somewhat", not: "not" };

const Pending = z.object({ total: z.number(), total_is_capped: z.literal(true).optional() });
const Found = z.object({ items: z.array(z.object({ id: z.string(), name: z.string() })), total: z.number() });

/** How many of the agents that would be hidden are named. */
const NAMED = 50;
/** A shorter part of a name is looked for at its beginning alone. */
const FOUND_ANYWHERE = /[a-z0-9]{3}/i;

interface Outcome {
  /** Whom a pattern would hide. */
  found?: z.output<typeof Found> & { pattern: string };
  hidden?: z.output<typeof AgentScrubResult>;
  typed?: URLSearchParams;
  wrong?: Wrong;
}

/** Asks once more: only its owner can show an agent again. */
function Sure({ pattern, items, total }: NonNullable<Outcome["found"]>) {
  const isShort = !FOUND_ANYWHERE.test(pattern);
  return (
    <section aria-labelledby="sure">
      <h3 id="sure">
        {total === 0
          ? "No public agent is found by"
          : `${counted(total, "public agent is", "public agents are")} found by`}{" "}
        <bdi>{pattern}</bdi>
      </h3>
      {items.length > 0 && (
        <ul>
          {items.map(({ id, name }) => (
            <li>
              <a href={`/agents/${id}`}>
                <bdi>{name}</bdi>
              </a>
            </li>
          ))}
        </ul>
      )}
      {total > items.length && <p>These are the newest {items.length} of them.</p>}
      {isShort && <p>Looked for were names that begin so. Those that have it further on would become private, too.</p>}
      {(total > 0 || isShort) && (
        <Form action={PATH} button="Make them private" danger>
          <input type="hidden" name="do" value="hide" />
          <input type="hidden" name="q" value={pattern} />
          <p>They leave the board at once, whoever owns them. Only its owner can show an agent again.</p>
        </Form>
      )}
    </section>
  );
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

async function show({ c, api }: Visit, { found, hidden, typed, wrong }: Outcome = {}): Promise<Response> {
  const [{ total, total_is_capped: isCapped }, secret, results] = await Promise.all([
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
          <a href="/admin/proposals">
            {isCapped === true && "more than "}
            {total} to review
          </a>
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
      {found !== undefined && <Sure {...found} />}
      <Form action={PATH} button="Look for them">
        <p>Public agents with this in their names, in any case of letters. You are asked before anything is changed.</p>
        <Field label={LABELS.q} name="q" value={typed?.get("q")} wrong={wrong} />
      </Form>
    </Layout>,
    wrong?.status ?? 200,
  );
}

async function look({ c, ctx, own }: Visit, pattern: string): Promise<Outcome> {
  const query = new URLSearchParams({ q: pattern, active_only: "false", page_size: String(NAMED) });
  const stranger = apiOf(c, ctx, own, { as: "stranger" });
  return { found: { ...(await stranger.read(`/api/v1/agents?${query.toString()}`, Found)), pattern } };
}

async function hide({ api }: Visit, pattern: string): Promise<Outcome> {
  const query = new URLSearchParams({ name_pattern: pattern });
  const path = `/api/v1/agents/admin/scrub-public?${query.toString()}`;
  return { hidden: AgentScrubResult.parse(await api.send("POST", path)) };
}

async function take(visit: Visit): Promise<Response> {
  const { form } = visit;
  const work = form.get("do") === "hide" ? hide : look;
  const outcome = await attempt(["q"], () => work(visit, (form.get("q") ?? "").trim()));
  return show(visit, outcome instanceof Wrong ? { typed: form, wrong: outcome } : { ...outcome, typed: form });
}

export const adminPages: readonly View[] = [
  view({ path: PATH, title: "Operators", show: forOperators((visit) => show(visit)), take: forOperators(take) }),
];
