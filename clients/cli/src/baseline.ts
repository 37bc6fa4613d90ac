import { type Passes, type Regression, regression } from "../../../shared/scoring/regression.ts";
import type { ScreeningClient } from "../../typescript/src/client.ts";
import type { SessionProgress } from "../../typescript/src/follow.ts";
import type { components } from "../../typescript/src/generated/service.ts";
import { given, ServiceError } from "../../typescript/src/problem.ts";
import { EXIT, Failure } from "./failure.ts";
import { isLost, type Run, runsOf } from "./session-runs.ts";
import { UUID } from "./words.ts";

type Session = components["schemas"]["ScreeningSessionRead"];
type Comparison = components["schemas"]["SessionComparison"];

/** How a screening stands against another one, and how each task that both have was passed in that. */
export interface Held {
  regression: Regression & { baseline_session_id: string };
  before: ReadonlyMap<string, Before>;
}

/** How a task was passed in the screening before, and whether that was more often. */
export interface Before extends Passes {
  worse: boolean;
}

/**
 * How a session compares with the one before it of the same agent over the same tasks, by the rule of `regression.detected`: what
 * is simulated says nothing of an agent. Null without one.
 */
export async function heldToLast(
  client: ScreeningClient,
  { id, agent_id }: SessionProgress,
  runs: readonly Run[],
): Promise<Held | null> {
  let own: Session | undefined;
  for await (const one of client.each("/api/v1/agents/{agent_id}/screening-sessions", { path: { agent_id } })) {
    if (one.simulated) continue;
    if (one.id === id) own = one;
    else if (own !== undefined && one.status === "completed" && planOf(one) === planOf(own)) {
      const before = passesOf(one, await runsOf(client, one.id, { failure_code: "service_error" }));
      // One without a run that says how good the agent is, is passed over.
      if (before.total === 0) continue;
      const found = regression(before, passesOf(own, runs.filter(isLost)));
      // What a service that is older than this can't tell fails no job.
      const tasks = (await comparedWhere(client, id, one.id)) ?? [];
      return { regression: { ...found, baseline_session_id: one.id }, before: beforeOf(tasks) };
    }
  }
  return null;
}

/** How a session compares with the one that was named, over the tasks that both have. Null where no agent was called. */
export async function heldTo(
  client: ScreeningClient,
  { id, simulated }: SessionProgress,
  baseline_session_id: string,
): Promise<Held | null> {
  if (simulated) return null;
  const tasks = await compared(client, id, baseline_session_id);
  const shared = tasks.flatMap(({ a, b }) => (a === null || b === null ? [] : [{ a, b }]));
  const sum = (sides: readonly { runs: number; passed: number }[]): Passes => ({
    passed: sides.reduce((all, { passed }) => all + passed, 0),
    total: sides.reduce((all, { runs }) => all + runs, 0),
  });
  const found = regression(sum(shared.map(({ b }) => b)), sum(shared.map(({ a }) => a)));
  return { regression: { ...found, baseline_session_id }, before: beforeOf(tasks) };
}

/** Makes sure that a screening can be held to the one that was named, before runs are spent. @throws Failure where it can't */
export async function provenBaseline(client: ScreeningClient, id: string, suite_id: string | null): Promise<void> {
  const refuse = (why: string) => {
    throw new Failure(EXIT.usage, `No screening can be held to --baseline ${JSON.stringify(id)}: ${why}.`);
  };
  if (!UUID.test(id)) refuse("it is no id of a screening");
  const path = { session_id: id };
  const { status, simulated, ...session } = await given(
    client.GET("/api/v1/screening-sessions/{session_id}", { params: { path } }),
  );
  if (status !== "completed") refuse(`it is ${status}`);
  if (simulated) refuse("no agent was called in it");
  if (session.suite_id !== suite_id) refuse("it is of another suite");
  // With itself: what could not be compared would be known only once the runs are spent.
  const graded = await comparedWhere(client, id, id);
  if (graded === null) refuse("the service is older than this option, and compares no screenings");
  if (graded?.length === 0) refuse("it has no graded run");
}

async function compared(client: ScreeningClient, session_id: string, other: string): Promise<Comparison["by_task"]> {
  const params = { path: { session_id }, query: { with: other } };
  return (await given(client.GET("/api/v1/screening-sessions/{session_id}/compare", { params }))).by_task;
}

/** The same, of two sessions that are there; null at a service that is older than this, and does not compare sessions. */
async function comparedWhere(
  client: ScreeningClient,
  session_id: string,
  other: string,
): Promise<Comparison["by_task"] | null> {
  try {
    return await compared(client, session_id, other);
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return null;
    throw error;
  }
}

function beforeOf(tasks: Comparison["by_task"]): Held["before"] {
  return new Map(
    tasks.flatMap(({ task_id, a, b }) =>
      a === null || b === null
        ? []
        : // In whole numbers, as the rule of a regression.
          [[task_id, { passed: b.passed, total: b.runs, worse: b.passed * a.runs > a.passed * b.runs }] as const],
    ),
  );
}

function planOf({ task_plan }: Session): string {
  return task_plan
    .map(({ task_id }) => task_id)
    .toSorted()
    .join();
}

/** How many runs of a session say how good its agent is, and how many of those passed. */
function passesOf({ counts, canaries }: Session, lost: readonly Run[]): Passes {
  const { completed, failed, passed } = counts;
  // A canary that is lost is taken off as a canary already.
  const off = lost.filter(({ canary }) => canary !== true).length;
  return { passed: passed - (canaries?.passed ?? 0), total: completed + failed - (canaries?.runs ?? 0) - off };
}
