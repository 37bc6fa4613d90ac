import { EXIT } from "./failure.ts";
import { numbersOf, percent, worseBy, worseIn } from "./reports.ts";
import type { Results } from "./results.ts";
import { colored, cut, plain, print, type Terminal } from "./terminal.ts";
import { numbered } from "./words.ts";

const MOST_FAILED = 10;
const TITLE_WIDTH = 48;

/**
 * The exit code, and what makes it another than 0. Where the service lost every run of a task, a gate is not decided by the
 * others; nor is anything where no run is left.
 */
export function verdictOn(
  { score, regression, session, tasks, lost, missing }: Results,
  least: number | null,
  onRegression: boolean,
): { exit: number; verdict: string[] } {
  const gated = least !== null || onRegression;
  if (lost.length > 0 && (tasks.length === 0 || (gated && missing > 0))) {
    const what = `The service could not carry out any run of ${missing} of ${numbered(tasks.length + missing, "task")}`;
    return { exit: EXIT.service, verdict: [`${what}: screen the agent again`] };
  }
  const found: string[] = [];
  const { composite_score } = score;
  if (session.status === "cancelled") found.push("The screening was cancelled");
  if (gated && session.simulated) found.push("No agent was called: a gate needs one that is not set to mock");
  if (least !== null && composite_score < least)
    found.push(`The score ${composite_score.toFixed(2)} is under ${least}`);
  // Of a baseline that was named: one without a graded run of the same tasks would let every agent pass.
  if (onRegression && regression?.previous_pass_rate === null)
    found.push("The baseline has no graded run of a task that has one here");
  if (onRegression && regression?.regressed === true) {
    const { previous_pass_rate: before, pass_rate: now, p_value } = regression;
    found.push(`The pass rate fell from ${percent(before ?? 0)} to ${percent(now ?? 0)} (p ${p_value.toPrecision(2)})`);
  }
  return { exit: found.length > 0 ? EXIT.failed : EXIT.fine, verdict: found };
}

/** Prints what a screening came to, and what makes its exit code another than 0. */
export function show(results: Results, verdict: readonly string[], terminal: Terminal): void {
  const { failed, link, linkOf, linkTo, regression } = results;
  print(terminal, ...numbersOf(results).map(([name, value]) => `${name.padEnd(17)} ${value}`));
  if (failed.length > 0) print(terminal, "", colored(terminal, "bold", `failed: ${failed.length}${worseIn(failed)}`));
  for (const { task, run, reason, before } of failed.slice(0, MOST_FAILED)) {
    print(
      terminal,
      `  ${cut(plain(task.title), TITLE_WIDTH)}: ${cut(worseBy(before) + plain(reason), 160)}`,
      `    ${colored(terminal, "dim", linkOf(run))}`,
    );
  }
  if (failed.length > MOST_FAILED) print(terminal, `  and ${failed.length - MOST_FAILED} more`);
  print(terminal, "", link);
  if (regression !== null) print(terminal, `the screening before: ${linkTo(regression.baseline_session_id)}`);
  for (const line of verdict) print(terminal, colored(terminal, "red", line));
}
