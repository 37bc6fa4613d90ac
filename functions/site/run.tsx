import * as z from "zod";
import { AgentRead } from "../../shared/agents/shown.ts";
import { TaskRead } from "../../shared/catalogue/shown.ts";
import type { Reply } from "../../shared/http/reply.ts";
import { Problem } from "../../shared/platform/problem.ts";
import { RunSpans } from "../../shared/results/spans.ts";
import { RunOutput, RunPhases } from "../../shared/runs/records-shown.ts";
import { RunRead } from "../../shared/runs/shown.ts";
import { Layout, page, percent, personal, sendTo } from "./layout.tsx";
import { costInWords, counted } from "./parts/in-words.ts";
import { Moment } from "./parts/moment.tsx";
import { Exchange } from "./parts/exchange.tsx";
import { failureInWords } from "./parts/failures.ts";
import { LIVE } from "./parts/live.ts";
import { Notice } from "./parts/notice.tsx";
import { Phases } from "./parts/phases.tsx";
import { isSignedIn } from "./parts/signed-in.ts";
import { Trace } from "./parts/trace.tsx";
import { Verdict } from "./parts/verdict.tsx";
import { asOwner, type View, type Visit, view } from "./parts/view.ts";
import { VERIFY } from "./verify-script.static.ts";

type Run = z.output<typeof RunRead>;

const Evidence = z.object({
  statement: z.record(z.string(), z.json()),
  log: z.object({ index: z.int() }).nullable(),
});

/** What the visitor may see; null for what there is not, or not for this one. */
async function ifShown<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Problem && (error.code === "not_found" || error.code === "forbidden")) return null;
    throw error;
  }
}

const isOver = ({ status }: Run): boolean => status !== "queued" && status !== "running";

function outcomeOf({ status, passed, correctness }: Run): string {
  if (status !== "completed") return status;
  return `${passed === true ? "passed" : "not passed"}, ${percent(correctness)} right`;
}

type Cost = Pick<
  Run,
  | "evidence_cost_usd"
  | "evidence_cost_source"
  | "evidence_cost_partial"
  | "evidence_cost_floor_applied"
  | "evidence_total_call_count"
  | "simulated"
>;

/** By whose word a run cost what it did, or why that is not known. */
const COST_SOURCES: Readonly<Record<Run["evidence_cost_source"], string>> = {
  self_reported: "as the agent says",
  estimated: "by the tokens that the agent reports, at list prices",
  mixed: "in part as the agent says, in part by its tokens at list prices",
  unpriced: "no price is known of its calls",
  runner_aggregate: "a total, as the agent says",
  unavailable: "the agent says nothing of it",
};

/** What a run cost, for how many calls, and by whose word. */
export function costOf({ evidence_cost_usd: cost, evidence_cost_source: source, ...run }: Cost): string {
  if (cost === null) return `not known: ${COST_SOURCES[source]}`;
  const floor = run.evidence_cost_floor_applied ? ", in part below the floor, and taken at that" : "";
  const partial = run.evidence_cost_partial ? ", in part" : "";
  // Of a total that the agent gave, no call is known.
  const calls = run.evidence_total_call_count === 0 ? "" : ` for ${counted(run.evidence_total_call_count, "call")}`;
  const word = run.simulated ? "simulated" : COST_SOURCES[source];
  return `${costInWords(cost)}${partial}${calls}, ${word}${floor}`;
}

interface FactsProps {
  run: Run;
  task: z.output<typeof TaskRead> | null;
  /** Null where the visitor does not see it. */
  agent: z.output<typeof AgentRead> | null;
}

function Facts({ run, task, agent }: FactsProps) {
  return (
    <dl>
      <dt>Task</dt>
      <dd>{task === null ? "one that is no longer asked" : <a href={`/tasks/${task.id}`}>{task.title}</a>}</dd>
      <dt>Outcome</dt>
      <dd>
        <strong>{outcomeOf(run)}</strong>
        {run.simulated && <span class="tag">simulated</span>}
        {run.trigger === "trial" && (
          <>
            <span class="tag">trial</span> counts for nothing
            {agent?.allow_trial === true && (
              <>
                {" "}
                (<a href={`/agents/${agent.id}/try`}>try another task</a>)
              </>
            )}
          </>
        )}
        {run.is_private && (
          <>
            <span class="tag">private</span> counts for nothing, and is not shown to others
          </>
        )}
        {run.canary === true && (
          <>
            <span class="tag">canary</span> asked the published sample, does not count
          </>
        )}
      </dd>
      <dt>Took</dt>
      <dd>{run.latency_ms === null ? "–" : `${run.latency_ms} ms`}</dd>
      <dt>Cost</dt>
      <dd>{isOver(run) ? costOf(run) : "not yet"}</dd>
      <dt>Model</dt>
      <dd>{run.serving_model ?? "not said"}</dd>
      <dt>Started</dt>
      <dd>{run.started_at === null ? "not yet" : <Moment time={run.started_at} />}</dd>
      {run.screening_session_id !== null && (
        <>
          <dt>Screening</dt>
          <dd>
            <a href={`/sessions/${run.screening_session_id}`}>
              {(run.repeat_total ?? 1) > 1
                ? `repeat ${run.repeat_index ?? 1} of ${run.repeat_total}`
                : "what it is part of"}
            </a>
          </dd>
        </>
      )}
    </dl>
  );
}

/** What of the run the page shows, by where the statement says it: the browser holds the one to the other. */
function claimsOf({ agent_id, task_id, status, passed, correctness, latency_ms, failure_code }: Run): string {
  return JSON.stringify({
    id: `urn:uuid:${agent_id}`,
    "task.id": task_id,
    "run.status": status,
    "run.failure_code": failure_code,
    "result.passed": passed ?? false,
    "result.correctness": (correctness ?? 0).toFixed(4),
    "result.latency_ms": latency_ms,
  });
}

function Signed({ run, evidence, base }: { run: Run; evidence: z.output<typeof Evidence> | null; base: string }) {
  if (evidence === null) {
    return (
      <p>
        There is none: trials, canaries, simulated and cancelled runs have no statement, nor have those that the service
        could not carry out, and others get theirs once their screening is over.
      </p>
    );
  }
  return (
    <>
      <p>
        {evidence.log === null
          ? "Signed; the log has it within about a minute."
          : `Signed, and entry ${evidence.log.index} of the log.`}{" "}
        <a href={`/api/v1/runs/${run.id}/evidence`}>Statement</a>,{" "}
        <a href={`/api/v1/runs/${run.id}/evidence?format=tlog-proof`}>proof to keep</a>, <a href="/log">the log</a>
      </p>
      <details>
        <summary>What it says</summary>
        <pre>{JSON.stringify(evidence.statement, null, 2)}</pre>
      </details>
      <h2>Verify here</h2>
      <p>
        Signature, commitments and place in the log are computed in your browser, from keys, statement and log that it
        reads itself. The service is not asked for a verdict.
      </p>
      <p>
        <button type="button" id="verify-run" data-run={run.id} data-claims={claimsOf(run)} hidden>
          Verify in this browser
        </button>
      </p>
      <Verdict base={base} path={`/api/v1/runs/${run.id}/evidence?format=tlog-proof`} />
    </>
  );
}

/**
 * A finished run as strangers see it is kept as other open pages are; one that goes on, or somebody's own, is not. One that goes
 * on looks again by itself, and is loaded anew in the end: by then it has another script.
 */
async function show({ c, ctx, params, api }: Visit): Promise<Response | Reply> {
  const path = `/api/v1/runs/${params["run_id"]}`;
  const run = await api.read(path, RunRead);
  const over = isOver(run);
  const isOwned = run.scope !== undefined;
  const [agent, task, phases, output, spans, evidence] = await Promise.all([
    ifShown(api.read(`/api/v1/agents/${run.agent_id}`, AgentRead)),
    ifShown(api.read(`/api/v1/tasks/${run.task_id}`, TaskRead)),
    api.read(`${path}/phases`, RunPhases),
    // Who owns it is told its scope; nobody else is told its spans, or anything of its answer before it has ended.
    over || isOwned ? ifShown(api.read(`${path}/output`, RunOutput)) : null,
    isOwned ? ifShown(api.read(`${path}/spans`, RunSpans)) : null,
    over ? ifShown(api.read(`${path}/evidence`, Evidence)) : null,
  ]);
  const name = agent?.name ?? "an agent";
  const named = <bdi>{name}</bdi>;
  const own = isOwned ? { own: "/home" } : {};
  const record = (
    <>
      <Facts run={run} task={task} agent={agent} />
      {!over && (
        <p>
          <a href={`/runs/${run.id}`}>Look again</a>
        </p>
      )}
      {run.failure_code !== null && (
        <Notice kind="bad">
          <p>
            <strong>{failureInWords(run.failure_code)}</strong> {run.failure_detail}
          </p>
        </Notice>
      )}
      <Exchange task={task} output={output} run={run} />
      <h2>What happened</h2>
      <Phases items={phases.items} />
      {spans !== null && (
        <>
          <h2>The calls that it made</h2>
          <Trace runId={run.id} items={spans.items} />
        </>
      )}
      <h2>The statement</h2>
      <Signed run={run} evidence={evidence} base={ctx.env.BASE_URL} />
    </>
  );
  const markup = (
    <Layout title={`Run of ${name}`} script={over ? VERIFY : LIVE} {...own}>
      <h1>Run of {agent === null ? named : <a href={`/agents/${agent.id}`}>{named}</a>}</h1>
      {over ? record : <div id="live">{record}</div>}
    </Layout>
  );
  if (!over || isSignedIn(c)) return personal(c, markup);
  const reply = page(markup);
  return { ...reply, headers: { ...reply.headers, Vary: "Cookie" } };
}

export const runPages: readonly View[] = [
  view({ path: "/runs/{run_id}", title: "A run", show: asOwner(show) }),
  view({
    path: "/runs/{run_id}/files/{slug}",
    title: "What the interface has of a run",
    // Its owner's may be asked for on a page that was left open until the session was over.
    show: asOwner(async ({ c, params: { run_id, slug } }) => sendTo(c, `/api/v1/runs/${run_id}/${slug}`)),
  }),
];
