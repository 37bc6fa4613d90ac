import { type Regression, regression } from "../../../shared/scoring/regression.ts";
import { cell, type Composite, composite } from "../../../shared/scoring/score.ts";
import { scoredCost } from "../../../shared/scoring/cost.ts";
import type { ScreeningClient } from "../../typescript/src/client.ts";
import type { SessionProgress } from "../../typescript/src/follow.ts";
import type { components } from "../../typescript/src/generated/service.ts";
import { given } from "../../typescript/src/problem.ts";

type Schemas = components["schemas"];
export type Run = Schemas["RunRead"];
export type Task = Schemas["TaskRead"];
type Session = Schemas["ScreeningSessionRead"];

/** A task with its runs of one session. */
export interface TaskRuns {
  task: Task;
  runs: Run[];
}

/** A run that was not passed, and why. */
export interface FailedRun {
  run: Run;
  task: Task;
  reason: string;
}

/** What a screening came to. */
export interface Results {
  agent: Schemas["AgentRead"];
  session: SessionProgress;
  /** Of the service's page of the session. */
  link: string;
  linkOf(run: Run): string;
  /** By the rules of the board, over the runs of this session alone. */
  score: Composite;
  /** How many of the runs that `score` counts passed. */
  passed: number;
  tasks: TaskRuns[];
  failed: FailedRun[];
  /** Runs that failed by the service's own fault, which say nothing of the agent. */
  lost: FailedRun[];
  /** How many tasks have lost runs alone. */
  missing: number;
  canaries: number;
  /** Against the session before this one over the same tasks; null without one. */
  regression: Regression | null;
}

/** So many reasons are read one by one: each takes a request. */
const MOST_REASONS = 20;

/** Reads what a finished session came to. */
export async function resultsOf(
  client: ScreeningClient,
  url: string,
  agent: Schemas["AgentRead"],
  session: SessionProgress,
): Promise<Results> {
  const runs = await runsOf(client, session.id);
  const asked = await tasksOf(
    client,
    runs.filter((run) => run.canary !== true && run.status !== "cancelled"),
  );
  const tasks = asked.flatMap(({ task, runs: own }) => {
    const counted = own.filter((run) => !isLost(run));
    return counted.length === 0 ? [] : [{ task, runs: counted }];
  });
  const lost = asked.flatMap(({ task, runs: own }) =>
    own.filter(isLost).map((run) => ({ task, run, reason: failureOf(run) ?? "" })),
  );
  const cells = tasks.map(({ task, runs: own }) =>
    cell(
      own.map((run) => ({
        passed: run.passed === true,
        correctness: run.correctness ?? 0,
        gradable: run.status === "completed",
        latency_ms: run.status === "completed" ? run.latency_ms : null,
        cost_usd: scoredCost(run),
        tool_calls_made: run.tool_calls_made,
      })),
      task,
    ),
  );
  return {
    agent,
    session,
    link: `${url}/sessions/${session.id}`,
    linkOf: ({ id }) => `${url}/runs/${id}`,
    score: composite(cells),
    passed: cells.reduce((sum, { c }) => sum + c, 0),
    tasks,
    failed: await reasonsOf(client, tasks),
    lost,
    missing: asked.length - tasks.length,
    canaries: runs.filter(({ canary }) => canary === true).length,
    regression: await regressionOf(client, session, runs),
  };
}

function isLost({ failure_code }: Run): boolean {
  return failure_code === "service_error";
}

/** Why a run ended without a grade; null for one that was graded. */
function failureOf({ failure_code, failure_detail }: Run): string | null {
  return failure_code === null ? null : [failure_code, failure_detail].filter(Boolean).join(": ");
}

/** The runs of a session, by cursor: by pages, one that begins meanwhile would move the others. */
async function runsOf(
  client: ScreeningClient,
  screening_session_id: string,
  filter: { failure_code?: "service_error" } = {},
): Promise<Run[]> {
  const query = { screening_session_id, ...filter, cursor: "" };
  const found: Run[] = [];
  for await (const run of client.each("/api/v1/runs", { query })) found.push(run);
  return found;
}

async function tasksOf(client: ScreeningClient, runs: readonly Run[]): Promise<TaskRuns[]> {
  const byTask = new Map<string, Run[]>();
  for (const run of runs) byTask.set(run.task_id, [...(byTask.get(run.task_id) ?? []), run]);
  const found: TaskRuns[] = [];
  for await (const task of client.each("/api/v1/tasks")) {
    const own = byTask.get(task.id);
    if (own !== undefined) found.push({ task, runs: own });
    byTask.delete(task.id);
    if (byTask.size === 0) return found;
  }
  // A task that was retired meanwhile is in no list.
  for (const [task_id, own] of byTask) {
    const task = await given(client.GET("/api/v1/tasks/{task_id}", { params: { path: { task_id } } }));
    found.push({ task, runs: own });
  }
  return found;
}

async function reasonsOf(client: ScreeningClient, tasks: readonly TaskRuns[]): Promise<FailedRun[]> {
  const failed = tasks.flatMap(({ task, runs }) =>
    runs.filter(({ passed }) => passed !== true).map((run) => ({ task, run })),
  );
  const found: FailedRun[] = [];
  for (const [at, { task, run }] of failed.entries()) {
    const own = failureOf(run);
    found.push({ task, run, reason: own ?? (at < MOST_REASONS ? await explanationOf(client, run) : "not passed") });
  }
  return found;
}

async function explanationOf(client: ScreeningClient, { id: run_id }: Run): Promise<string> {
  const { data } = await client.GET("/api/v1/runs/{run_id}/output", { params: { path: { run_id } } });
  return data?.explanation ?? "not passed";
}

/**
 * How a session compares with the one before it of the same agent over the same tasks, by the rule of `regression.detected`: what
 * is simulated says nothing of an agent.
 */
async function regressionOf(
  client: ScreeningClient,
  { id, agent_id }: SessionProgress,
  runs: readonly Run[],
): Promise<Regression | null> {
  let own: Session | undefined;
  for await (const one of client.each("/api/v1/agents/{agent_id}/screening-sessions", { path: { agent_id } })) {
    if (one.simulated) continue;
    if (one.id === id) own = one;
    else if (own !== undefined && one.status === "completed" && planOf(one) === planOf(own)) {
      const before = passesOf(one, await runsOf(client, one.id, { failure_code: "service_error" }));
      // One without a run that says how good the agent is, is passed over.
      if (before.total > 0) return regression(before, passesOf(own, runs.filter(isLost)));
    }
  }
  return null;
}

function planOf({ task_plan }: Session): string {
  return task_plan
    .map(({ task_id }) => task_id)
    .toSorted()
    .join();
}

/** How many runs of a session say how good its agent is, and how many of those passed. */
function passesOf({ counts, canaries }: Session, lost: readonly Run[]): { passed: number; total: number } {
  const { completed, failed, passed } = counts;
  // A canary that is lost is taken off as a canary already.
  const off = lost.filter(({ canary }) => canary !== true).length;
  return { passed: passed - (canaries?.passed ?? 0), total: completed + failed - (canaries?.runs ?? 0) - off };
}
