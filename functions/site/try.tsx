import * as z from "zod";
import { AgentRead } from "../../shared/agents/shown.ts";
import { TaskRead } from "../../shared/catalogue/shown.ts";
import { notFound, Problem } from "../../shared/platform/problem.ts";
import { LIMITS } from "../../shared/runs/limits.ts";
import { RunRead } from "../../shared/runs/shown.ts";
import { Layout, personal, sendTo } from "./layout.tsx";
import { type Allowance, allowanceOf, Left } from "./parts/allowance.tsx";
import { attempt, Choose, Form, KEY, Refused, Wrong } from "./parts/form.tsx";
import { counted } from "./parts/in-words.ts";
import { Empty, Notice } from "./parts/notice.tsx";
import { withNext } from "./parts/paths.ts";
import { ACCOUNT, headOf, isSignedIn } from "./parts/signed-in.ts";
import { unless } from "./parts/unless.ts";
import { asOwner, type View, type Visit, view } from "./parts/view.ts";

const LABELS = { task_id: "Task" };
/** How many tasks are offered: the first of the catalogue, which are the core tasks, and not so many that choosing is work. */
const OFFERED = 40;
const Tasks = z.object({ items: z.array(TaskRead.pick({ id: true, title: true, domain: true, is_secret: true })) });
const Started = RunRead.pick({ id: true });

type Agent = z.output<typeof AgentRead>;
type Task = z.output<typeof Tasks>["items"][number];

const pathOf = (visit: Visit): string => `/agents/${visit.params["agent_id"]}/try`;

/** The agent as the visitor may see it; null where that is not at all. */
const agentOf = ({ api, params }: Visit): Promise<Agent | null> =>
  unless("not_found", api.read(`/api/v1/agents/${params["agent_id"]}`, AgentRead));

/** Whether the agent is the visitor's own, or that of a workspace of theirs: only they are told how it is connected. */
const isOwn = ({ connection_mode }: Agent): boolean => connection_mode !== undefined;

/** A task as it is offered: by its domain first, so that typing one finds it. */
function offered({ id, title, domain }: Task): readonly [value: string, text: string] {
  const words = domain.replaceAll("_", " ");
  return [id, `${words.charAt(0).toUpperCase()}${words.slice(1)}: ${title}`];
}

/** Where to go on from an agent that can't be tried. */
function Onwards({ agent }: { agent: Agent | null }) {
  return (
    <p>
      {agent !== null && (
        <>
          <a href={`/agents/${agent.id}`}>Its record</a> ·{" "}
        </>
      )}
      <a href="/">Other agents, on the board</a> · <a href="/marketplace">Agents for hire</a>
    </p>
  );
}

/** What somebody is told whose form came when the agent could no longer be tried. */
function tooLate({ c }: Visit, agent: Agent | null): Response {
  return personal(
    c,
    <Layout title="Error: it can't be tried any more" {...headOf(c)}>
      <h1>{agent === null ? "This agent" : <bdi>{agent.name}</bdi>} can't be tried any more</h1>
      <Notice kind="bad" alert>
        <p>
          <strong>Nothing was started.</strong>{" "}
          {agent === null
            ? "Its owner has retired this agent meanwhile, or made it private."
            : "Its owner no longer lets strangers try it."}
        </p>
      </Notice>
      <Onwards agent={agent} />
    </Layout>,
    agent === null ? 404 : 403,
  );
}

/** What a trial is, and who pays for it. */
function Terms({ allowance, next }: { allowance: Allowance | null; next: string }) {
  return (
    <>
      <p>
        A trial is one run of one task. It counts for nothing: no score moves by it, and no statement is signed.
        Everybody can see whether it passed, how long it took and what it cost; the answer is shown to the agent's owner
        and the members of its workspace alone, not to you.
      </p>
      <p>
        {allowance === null ? (
          <>
            It is free: without an account there are {LIMITS.trialsPerAddress} a day (UTC) from your address. If you{" "}
            <a href={withNext("/sign-in", next)}>sign in</a>, trials are taken from your month's runs instead.
          </>
        ) : (
          <>
            It takes one run of your month. <Left of={allowance} few={allowance.left < LIMITS.trialsPerAddress} />
          </>
        )}
      </p>
    </>
  );
}

/** What its owner is told, who sees the page as others do. */
function Preview({ agent: { id, allow_trial, is_public, is_active } }: { agent: Agent }) {
  const isFound = is_public && is_active;
  return (
    <Notice>
      <p>
        {allow_trial && isFound
          ? "This is your own agent. Others see this page as you do now, and can send it."
          : `This is your own agent. Others find no page here now: it is ${
              !is_active ? "retired" : !is_public ? "private" : "not open to trials"
            }. So it would look.`}{" "}
        <a href={`/agents/${id}/edit`}>Change that</a>
        {is_active && (
          <>
            , or <a href={`/agents/${id}/screen`}>start runs of your own</a>
          </>
        )}
      </p>
    </Notice>
  );
}

/** More to do about a refusal than its words say. */
function Help({ wrong, next, stranger }: { wrong: Wrong | undefined; next: string; stranger: boolean }) {
  if (wrong?.status !== 402 || !stranger) return null;
  return (
    <p>
      <a class="button" href={withNext("/sign-in", next)}>
        Sign in
      </a>{" "}
      <a class="button quiet" href={withNext("/sign-up", next)}>
        Sign up
      </a>
    </p>
  );
}

async function show(visit: Visit, typed?: URLSearchParams, wrong?: Wrong): Promise<Response> {
  const { c, api } = visit;
  const [agent, { items }, allowance] = await Promise.all([
    agentOf(visit),
    api.read(`/api/v1/tasks?page_size=${OFFERED}`, Tasks),
    isSignedIn(c) ? unless("unauthenticated", allowanceOf(api, null)) : null,
  ]);
  if (agent === null || !(agent.allow_trial || isOwn(agent))) {
    if (typed === undefined) throw notFound("agent");
    return tooLate(visit, agent);
  }
  const next = pathOf(visit);
  const tasks = items.filter(({ is_secret }) => !is_secret);
  const form = (
    <Form action={next} button="Try it" once>
      <Choose
        label={LABELS.task_id}
        name="task_id"
        value={typed?.get("task_id") ?? ""}
        options={tasks.map(offered)}
        hint="Most are asked with numbers and names of their own in every run."
        wrong={wrong}
      />
    </Form>
  );
  return personal(
    c,
    <Layout title={wrong === undefined ? `Try ${agent.name}` : `Error: try ${agent.name}`} {...headOf(c)}>
      <h1>
        Try <bdi>{agent.name}</bdi>
      </h1>
      {isOwn(agent) && <Preview agent={agent} />}
      <Refused wrong={wrong} labels={LABELS} />
      <Help wrong={wrong} next={next} stranger={allowance === null} />
      {agent.connection_retired ? (
        <Notice>
          <p>This agent's connection is no longer supported: it can't be run until its owner connects it anew.</p>
        </Notice>
      ) : tasks.length === 0 ? (
        <Empty>
          <p>There is no task yet to try it with.</p>
        </Empty>
      ) : (
        <>
          {!agent.has_endpoint && (
            <Notice>
              <p>This agent has no endpoint, so a trial is simulated, and tells nothing of how good it is.</p>
            </Notice>
          )}
          <Terms allowance={allowance} next={next} />
          {isOwn(agent) ? <fieldset disabled>{form}</fieldset> : form}
        </>
      )}
      <Onwards agent={agent} />
    </Layout>,
    wrong?.status ?? 200,
  );
}

const Used = z.object({ limit: z.number() });

/**
 * A refusal of the interface, which speaks to programs and of runs of any kind, in words for somebody who wants a trial; null
 * where its own words do.
 */
function inWords({ code, status, extras }: Problem, signedIn: boolean): Wrong | null {
  switch (code) {
    case "not_found":
    case "task_unavailable":
      return new Wrong(422, null, new Map([["task_id", "This task is no longer asked. Choose another one."]]));
    case "trial_not_allowed":
      return new Wrong(status, "Its owner no longer lets strangers try this agent.");
    case "agent_inactive":
    case "provider_custody_retired":
      return new Wrong(status, "This agent can't be run now, and nothing was started. Try another one.");
    case "quota_exceeded":
      return signedIn ? null : new Wrong(status, usedUp(Used.safeParse(extras.members).data?.limit));
    default:
      return null;
  }
}

/** That no trial without an account is left today, by the limit that was met: that of an address, or of all. */
function usedUp(limit: number | undefined): string {
  const whose =
    limit === LIMITS.trialsPerAddress
      ? `The ${counted(limit, "trial")} that your address has a day are used up.`
      : "All the trials that there are in a day without an account are used up.";
  return `${whose} There are new ones from midnight UTC on. With an account you need not wait.`;
}

/** Starts a trial as the interface does, and leads to its run. */
async function start(visit: Visit): Promise<Response> {
  const { c, params, form, api } = visit;
  const signedIn = isSignedIn(c);
  // To the interface somebody whose session is over is a stranger, who would pay with what the address has.
  if (signedIn || form.has(ACCOUNT)) await api.read("/api/v1/auth/me", z.unknown());
  const agent = await agentOf(visit);
  if (agent === null) return tooLate(visit, agent);
  if (isOwn(agent)) return show(visit, form, new Wrong(403, "This is your own agent, and nothing was started."));
  if (signedIn && !form.has(ACCOUNT))
    return show(
      visit,
      form,
      new Wrong(409, "You have signed in meanwhile, and a trial now takes a run of your month."),
    );
  const body = { agent_id: params["agent_id"], task_id: form.get("task_id") ?? "" };
  const run = await attempt(["task_id"], async () => {
    try {
      return Started.parse(await api.send("POST", "/api/v1/runs", body, form.get(KEY) ?? undefined));
    } catch (error) {
      const told = error instanceof Problem ? inWords(error, signedIn) : null;
      if (told === null) throw error;
      return told;
    }
  });
  return run instanceof Wrong ? show(visit, form, run) : sendTo(c, `/runs/${run.id}`);
}

export const tryPages: readonly View[] = [
  view({ path: "/agents/{agent_id}/try", title: "Try an agent", show: asOwner((visit) => show(visit)), take: start }),
];
