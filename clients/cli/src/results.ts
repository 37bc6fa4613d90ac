import { cell, type Composite, composite } from "../../../shared/scoring/score.ts";
import { scoredCost } from "../../../shared/scoring/cost.ts";
import type { ScreeningClient } from "../../typescript/src/client.ts";
import type { SessionProgress } from "../../typescript/src/follow.ts";
import type { components } from "../../typescript/src/generated/service.ts";
import { given } from "../../typescript/src/problem.ts";
import { type Before, type Held, heldTo, heldToLast } from "./baseline.ts";
import { explanationsOf } from "./explanations.ts";
import { isLost, type Run, runsOf } from "./session-runs.ts";

type Schemas = components["schemas"];
export type { Run };
export type Task = Schemas["TaskRead"];

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
  /** How its task was passed in the screening that this one is held to; null where it was not asked there. */
  before: Before | null;
}

/** What a screening came to. */
export interface Results {
  agent: Schemas["AgentRead"];
  session: SessionProgress;
  /** Of the service's page of the session. */
  link: string;
  linkOf(run: Run): string;
  /** Of the service's page of another session. */
  linkTo(session_id: string): string;
  /** By the rules of the board, over the runs of this session alone. */
  score: Composite;
  /** How many of the runs that `score` counts passed. */
  passed: number;
  tasks: TaskRuns[];
  /** Those of tasks that were passed more often before come first. */
  failed: FailedRun[];
  /** Runs that failed by the service's own fault, which say nothing of the agent. */
  lost: FailedRun[];
  /** How many tasks have lost runs alone. */
  missing: number;
  canaries: number;
  /** Against the session that was named, else the one before this over the same tasks; null without one. */
  regression: Held["regression"] | null;
}

/** Reads what a finished session came to, held to the one of the id `baseline`, else to the one before it. */
export async function resultsOf(
  client: ScreeningClient,
  url: string,
  agent: Schemas["AgentRead"],
  session: SessionProgress,
  baseline?: string,
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
    own.filter(isLost).map((run) => ({ task, run, reason: failureOf(run) ?? "", before: null })),
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
  const held = await (baseline === undefined ? heldToLast(client, session, runs) : heldTo(client, session, baseline));
  return {
    agent,
    session,
    link: `${url}/sessions/${session.id}`,
    linkTo: (id) => `${url}/sessions/${id}`,
    linkOf: ({ id }) => `${url}/runs/${id}`,
    score: composite(cells),
    passed: cells.reduce((sum, { c }) => sum + c, 0),
    tasks,
    failed: await reasonsOf(client, tasks, held?.before ?? new Map()),
    lost,
    missing: asked.length - tasks.length,
    canaries: runs.filter(({ canary }) => canary === true).length,
    regression: held?.regression ?? null,
  };
}

/** Why a run ended without a grade; null for one that was graded. */
function failureOf({ failure_code, failure_detail }: Run): string | null {
  return failure_code === null ? null : [failure_code, failure_detail].filter(Boolean).join(": ");
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

async function reasonsOf(
  client: ScreeningClient,
  tasks: readonly TaskRuns[],
  beforeOf: Held["before"],
): Promise<FailedRun[]> {
  const failed = tasks.flatMap(({ task, runs }) =>
    runs.filter(({ passed }) => passed !== true).map((run) => ({ task, run, before: beforeOf.get(task.id) ?? null })),
  );
  // What got worse is what somebody has to look at: those have their reasons read before it is enough.
  const inOrder = [true, false].flatMap((worse) => failed.filter(({ before }) => (before?.worse ?? false) === worse));
  const graded = inOrder.flatMap(({ run }) => (failureOf(run) === null ? [run] : []));
  const explained = await explanationsOf(client, graded);
  return inOrder.map((one) => ({ ...one, reason: failureOf(one.run) ?? explained.get(one.run.id) ?? "not passed" }));
}
