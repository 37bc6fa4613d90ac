import * as z from "zod";
import { AgentRead } from "../../shared/agents/shown.ts";
import { ScreeningSessionRead } from "../../shared/runs/sessions-shown.ts";
import { RunRead } from "../../shared/runs/shown.ts";
import { Layout, percent, personal, sendTo } from "./layout.tsx";
import { AgainstTheOneBefore, againstTheOneBefore } from "./parts/against.tsx";
import {
  Again,
  failedSoFar,
  hasFailed,
  LeftOut,
  leftOut,
  runAgain,
  runsOf,
  type TasksById,
  tasksOf,
  titleOf,
} from "./parts/again.tsx";
import { allowanceOf } from "./parts/allowance.tsx";
import { fileView } from "./parts/file.ts";
import { attempt, Form, KEY, Refused, Wrong } from "./parts/form.tsx";
import { AGENT_GUIDE } from "./parts/guide-addresses.ts";
import { counted, intervalOf, marksOf } from "./parts/in-words.ts";
import { LIVE } from "./parts/live.ts";
import { mayIn } from "./parts/may.ts";
import { Table } from "./parts/notice.tsx";
import { seenBy } from "./parts/seen-by.ts";
import { headOf } from "./parts/signed-in.ts";
import { Took } from "./parts/took.tsx";
import { unless } from "./parts/unless.ts";
import { asOwner, type View, type Visit, view } from "./parts/view.ts";

type Session = z.output<typeof ScreeningSessionRead>;
type Run = z.output<typeof RunRead>;

const Started = z.array(RunRead.pick({ screening_session_id: true })).min(1);
/** How many tasks a form asks for; null where it asks for all. */
const First = z.coerce.number().int().positive().nullable().catch(null);
const Uuid = z.uuid().nullable().catch(null);

/** What stands for a run that did not pass: the failure's own words, or how near the answer was. */
function reason({ failure_code, failure_detail, correctness }: Run): string {
  if (failure_code !== null) return failure_detail ?? failure_code.replaceAll("_", " ");
  return correctness === null ? "not graded" : `answered, ${percent(correctness)} right`;
}

const isDone = ({ status }: Session): boolean => status === "completed" || status === "cancelled";

/** What is read out, tenth by tenth: each run would be one more interruption, every two seconds. */
function Aloud({ done, share, passed }: { done: boolean; share: number; passed: number }) {
  return (
    <p role="status" class="unseen">
      {done
        ? `The screening is done, ${passed} passed.`
        : `${percent(Math.floor(share * 10) / 10)} of the screening is done.`}
    </p>
  );
}

function Progress({ session }: { session: Session }) {
  const { counts, run_ids } = session;
  const over = counts.completed + counts.failed + counts.cancelled;
  return (
    <>
      <p>
        {isDone(session) ? "Done: " : ""}
        {over} of {counted(run_ids.length, "run has", "runs have")} ended, {counts.passed} passed.
      </p>
      <Aloud done={isDone(session)} share={over / Math.max(1, run_ids.length)} passed={counts.passed} />
      <progress value={over} max={run_ids.length} aria-label="Runs that have ended">
        {percent(over / Math.max(1, run_ids.length))}
      </progress>
      <dl>
        <dt>Passed</dt>
        <dd>{counts.passed}</dd>
        <dt>Not passed</dt>
        <dd>{counts.completed + counts.failed - counts.passed}</dd>
        <dt>Under way</dt>
        <dd>{counts.running}</dd>
        <dt>Queued</dt>
        <dd>{counts.queued}</dd>
        {counts.cancelled > 0 && (
          <>
            <dt>Cancelled</dt>
            <dd>{counts.cancelled}</dd>
          </>
        )}
      </dl>
    </>
  );
}

/** Where an endpoint is to be mended before its answers are: a run without one is worth 0, whatever its model knows. */
function Unanswered({ failed }: { failed: readonly Run[] }) {
  const without = failed.filter(({ failure_code }) => failure_code !== null).length;
  if (without === 0) return null;
  const all = without === failed.length;
  return (
    <p>
      {all ? "None of them" : `${without} of them`} brought {all ? "an" : "no"} answer that could be graded: look at the
      endpoint first. <a href={AGENT_GUIDE}>What it is sent, and what it has to answer</a>
    </p>
  );
}

function Failures({ failed, total, tasks }: { failed: readonly Run[]; total: number; tasks: TasksById }) {
  return (
    <>
      <h2>What did not pass, and why</h2>
      {total > failed.length && (
        <p class="mute">
          The newest {failed.length} of {total}; all of them once the screening is over.
        </p>
      )}
      <Unanswered failed={failed} />
      <Table
        label="Runs that did not pass"
        columns={[
          ["Task", "wide"],
          ["Why", "wide"],
          ["Took", "number"],
        ]}
      >
        {failed.map((run) => (
          <tr>
            <td class="wide">
              <a href={`/runs/${run.id}`} aria-label={`Run of ${titleOf(tasks, run.task_id)}`}>
                {titleOf(tasks, run.task_id)}
              </a>
              {(run.repeat_total ?? 1) > 1 && <span class="tag">repeat {run.repeat_index}</span>}
              {run.canary === true && <span class="tag">canary</span>}
            </td>
            <td class="wide">{reason(run)}</td>
            <td class="number">{run.latency_ms === null ? "–" : `${run.latency_ms} ms`}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}

/** Which of the runs above neither the score nor the comparison below is about. */
function Canaries({ session: { canaries } }: { session: Session }) {
  if (canaries === null || canaries.runs === 0) return null;
  return (
    <p>
      {counted(canaries.runs, "of the runs was a canary", "of the runs were canaries")}, asked what is published as a
      sample; {canaries.passed} of them passed. They do not count, and their allowance is given back.
    </p>
  );
}

/** The ways to the visitor's own runs of a screening as files. */
function Files({ id }: { id: string }) {
  const file = (form: string) => `/sessions/${id}/export/${form}`;
  return (
    <p>
      The runs that you asked for, as a file: <a href={file("csv")}>CSV</a>, <a href={file("jsonl")}>JSON Lines</a>{" "}
      <span class="mute">(from the plan Pro on)</span>
    </p>
  );
}

function failedOf(runs: readonly Run[]): { failed: Run[]; total: number } {
  const failed = runs.filter(hasFailed);
  return { failed, total: failed.length };
}

/** The page of who started it, with its forms and its head: no cache keeps it, though a stranger may look at it, too. */
async function show({ c, params, query, api }: Visit, wrong?: Wrong): Promise<Response> {
  const session = await api.read(`/api/v1/screening-sessions/${params["session_id"]}`, ScreeningSessionRead);
  const done = isDone(session);
  // The screening that this one repeats, where a form led here and something was left out.
  const before = Uuid.parse(query.get("repeats"));
  const [agent, runs, soFar, against, left] = await Promise.all([
    // Who asked for a screening goes on to see it where its agent has come to be somebody else's alone.
    unless("not_found", api.read(`/api/v1/agents/${session.agent_id}`, AgentRead)),
    done ? runsOf(api, session) : [],
    done ? null : failedSoFar(api, session),
    againstTheOneBefore(api, session),
    before === null ? null : leftOut(api, session, before),
  ]);
  const { failed, total } = soFar ?? failedOf(runs);
  const owned = agent?.connection_mode === undefined ? null : agent;
  const [tasks, mayCancel, mayRun] = await Promise.all([
    tasksOf(api, [...failed.map(({ task_id }) => task_id), ...(left ?? [])]),
    // What was paid for by a certification only those may cancel who may buy one.
    owned !== null &&
      session.counts.queued > 0 &&
      mayIn(api, owned.team_id, session.trigger === "certification" ? "buy" : "run"),
    owned !== null && done && owned.is_active && !owned.connection_retired && mayIn(api, owned.team_id, "run"),
  ]);
  const allowance = owned !== null && mayRun && failed.length > 0 ? await allowanceOf(api, owned.team_id) : null;
  const name = agent?.name ?? "an agent";
  const frame = { ...headOf(c, "/home"), ...(done ? {} : { script: LIVE }) };
  return personal(
    c,
    <Layout title={`Screening of ${name}`} {...frame}>
      <h1>
        Screening of <bdi>{name}</bdi>
      </h1>
      {session.simulated && (
        <p>
          <span class="tag">simulated</span> No agent was called: its results say nothing of one.
        </p>
      )}
      {session.is_private && (
        <p>
          <span class="tag">private</span> It is not shown to others, and its runs count for nothing.
        </p>
      )}
      <Refused wrong={wrong} labels={{}} />
      {before !== null && left !== null && <LeftOut ids={left} tasks={tasks} before={before} />}
      <div id="live">
        <Progress session={session} />
        <Took session={session} />
        <Canaries session={session} />
        {!done && (
          <p>
            <a href={`/sessions/${session.id}`}>Look again</a>
          </p>
        )}
        {mayCancel && (
          <Form action={`/sessions/${session.id}`} button="Cancel what is queued" danger>
            <p class="mute">Cancelled runs give their allowance back; those under way go on and count.</p>
          </Form>
        )}
        {done && agent !== null && agent.score_basis !== null && (
          <p>
            The agent's score is <strong>{agent.composite_score.toFixed(2)}</strong> ({intervalOf(agent)}),{" "}
            {agent.simulated ? "of simulated runs" : agent.score_basis}
            {marksOf(agent)}: <a href={`/agents/${agent.id}`}>its record</a>
          </p>
        )}
        {done && agent !== null && (
          <p>
            <a href={`/agents/${agent.id}/runs?session=${session.id}`}>All runs of this screening</a> ·{" "}
            <a href={`/agents/${agent.id}/screenings`}>its other screenings</a>
          </p>
        )}
        {done && owned?.is_public === false && (
          <p>
            Nobody but {seenBy(owned)} can see it. A badge and a place on the board are for public agents:{" "}
            <a href={`/agents/${owned.id}/edit#public`}>show it to everybody</a>
          </p>
        )}
        {failed.length > 0 && <Failures failed={failed} total={total} tasks={tasks} />}
        {allowance !== null && (
          <Again id={session.id} repeats={session.repeats} runs={runs} tasks={tasks} allowance={allowance} />
        )}
        <AgainstTheOneBefore against={against} />
        {done && owned !== null && <Files id={session.id} />}
      </div>
    </Layout>,
    wrong?.status ?? 200,
  );
}

async function cancel(visit: Visit): Promise<Response> {
  const { c, api, params } = visit;
  const id = params["session_id"];
  const done = await attempt([], () => api.send("POST", `/api/v1/screening-sessions/${id}/cancel`));
  return done instanceof Wrong ? show(visit, done) : sendTo(c, `/sessions/${id}`);
}

/** Runs again what did not pass, and leads there; where something of it had to be left out, the page is to say so. */
async function repeat(visit: Visit): Promise<Response> {
  const { c, api, params, form } = visit;
  const id = params["session_id"] ?? "";
  const found = await attempt([], async () => {
    const made = await runAgain(api, id, First.parse(form.get("first")), form.get(KEY) ?? undefined);
    const next = Started.parse(made)[0]?.screening_session_id;
    return api.read(`/api/v1/screening-sessions/${next}`, ScreeningSessionRead);
  });
  if (found instanceof Wrong) return show(visit, found);
  // What the form left out, it said itself.
  const left = form.has("first") ? [] : await leftOut(api, found, id);
  return sendTo(c, `/sessions/${found.id}${left?.length === 0 ? "" : `?repeats=${id}`}`);
}

export const sessionPages: readonly View[] = [
  fileView("/sessions/{session_id}/export/{slug}", "The runs of a screening as a file", ({ params }) => {
    const narrowed = new URLSearchParams({ screening_session_id: params["session_id"] ?? "" });
    return `/api/v1/runs/export.${params["slug"]}?${narrowed.toString()}`;
  }),
  view({
    path: "/sessions/{session_id}",
    title: "A screening",
    show: asOwner((visit) => show(visit)),
    take: (visit) => (visit.form.get("do") === "rerun" ? repeat(visit) : cancel(visit)),
  }),
];
