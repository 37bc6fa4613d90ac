import type * as z from "zod";
import type { TaskRead } from "../../../shared/catalogue/shown.ts";
import type { LeaderboardRow } from "../../../shared/board/shown.ts";
import type { RunRead } from "../../../shared/runs/shown.ts";
import { bar, fixed, percent, printBlock, styled, table } from "./print.ts";

type Row = z.output<typeof LeaderboardRow>;
type Run = z.output<typeof RunRead>;
type Task = z.output<typeof TaskRead>;

const AXES = [
  ["correctness", "Correctness"],
  ["latency", "Latency"],
  ["cost", "Cost"],
  ["tool_efficiency", "Tool Eff."],
  ["robustness", "Robustness"],
] as const;
const SLOWEST = 5;
const BAR = 24;
const TITLE = 44;

/** The runs of one task of the suite. */
export interface TaskRuns {
  task: Task;
  runs: Run[];
}

/** The runs by task, in the order of the tasks. */
export function groupByTask(tasks: readonly Task[], runs: readonly Run[]): TaskRuns[] {
  return tasks
    .map((task) => ({ task, runs: runs.filter((run) => run.task_id === task.id) }))
    .filter((group) => group.runs.length > 0);
}

/** Prints the agent's line of the board: composite with its interval, its three parts, the five axes. */
export function printScores(row: Row): void {
  const composite = `${row.composite_score.toFixed(2)}  (95% interval ${row.score_low.toFixed(2)} to ${row.score_high.toFixed(2)})`;
  const part = (name: string, value: number, weight: string) =>
    `${fixed(name, 16)}${percent(value).padStart(5)}  ${bar(value, BAR)}  ${styled("dim", weight)}`;
  printBlock(`${row.name}: ${styled("cyan", composite)}`, [
    part("Success", row.success_rate, "40% of the composite"),
    part("Reliability", row.reliability, "30%, three passes in a row"),
    part("Cost efficiency", row.cost_efficiency, "30%"),
  ]);
  printBlock(
    "Fitness axes",
    AXES.map(([axis, name]) => {
      const value = row.axes[axis];
      return value === null
        ? `${fixed(name, 16)}    -`
        : `${fixed(name, 16)}${percent(value).padStart(5)}  ${bar(value, BAR)}`;
    }),
  );
}

/** Prints, for each domain: tasks, runs, passes, mean latency and cost. */
export function printDomains(groups: readonly TaskRuns[]): void {
  const domains = [...new Set(groups.map(({ task }) => task.domain))];
  const rows = domains.map((domain) => {
    const own = groups.filter(({ task }) => task.domain === domain);
    const runs = own.flatMap((group) => group.runs);
    const passed = runs.filter((run) => run.passed === true).length;
    const cost = runs.reduce((sum, run) => sum + (run.evidence_cost_usd ?? 0), 0);
    const cells = [own.length, runs.length, passed].map(String);
    return [
      domain,
      ...cells,
      percent(passed / runs.length),
      `${meanLatency(runs).toFixed(0)} ms`,
      `$${cost.toFixed(6)}`,
    ];
  });
  printBlock("By domain", table(["domain", "tasks", "runs", "passed", "rate", "latency", "cost"], rows));
}

/** Prints the tasks whose runs took longest on average. */
export function printSlowest(groups: readonly TaskRuns[]): void {
  const slowest = groups.toSorted((a, b) => meanLatency(b.runs) - meanLatency(a.runs)).slice(0, SLOWEST);
  const rows = slowest.map(({ task, runs }) => [
    fixed(task.title, TITLE),
    task.domain,
    `${meanLatency(runs).toFixed(0)} ms`,
  ]);
  printBlock("Slowest tasks", table(["task", "domain", "mean"], rows));
}

/** Prints the tasks that did not pass in every run, each with the reason of one of those runs. */
export function printFailed(failed: readonly (TaskRuns & { reason: string })[]): void {
  const lines = failed.flatMap(({ task, runs, reason }) => {
    const passed = runs.filter((run) => run.passed === true).length;
    return [
      `${styled("red", "✗")} ${fixed(task.title, TITLE)}  ${task.domain}, ${passed} of ${runs.length} passed`,
      `  ${styled("dim", fixed(reason, 110).trimEnd())}`,
    ];
  });
  printBlock(`Failed tasks (${failed.length})`, lines.length > 0 ? lines : ["none"]);
}

function meanLatency(runs: readonly Run[]): number {
  const known = runs.flatMap((run) => run.latency_ms ?? []);
  return known.reduce((sum, latency) => sum + latency, 0) / Math.max(1, known.length);
}
