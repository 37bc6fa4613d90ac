import type { FailedRun, Results } from "./results.ts";
import { plain } from "./terminal.ts";

const MOST_REASON = 300;

/** The results as JSON for programs. */
export function toJson(results: Results, verdict: readonly string[]): string {
  const { agent, session, link, linkOf, score, failed, canaries, regression } = results;
  return JSON.stringify({
    agent_id: agent.id,
    agent: agent.name,
    session_id: session.id,
    link,
    ...score,
    passed: session.counts.passed,
    canaries,
    regression,
    failed: failed.map(({ run, task, reason }) => ({ run_id: run.id, task: task.title, reason, link: linkOf(run) })),
    verdict,
  });
}

/** A JUnit file: a case for each counted run, so that CI shows which task failed, and why. */
export function toJunit({ agent, tasks, failed, linkOf }: Results): string {
  const reasons = new Map(failed.map(({ run, reason }) => [run.id, reason]));
  const cases = tasks.flatMap(({ task, runs }) =>
    runs.map((run, at) => {
      const name =
        runs.length === 1
          ? task.title
          : `${task.title} (${run.repeat_index ?? at + 1} of ${run.repeat_total ?? runs.length})`;
      const head = `    <testcase classname="${xml(task.domain)}" name="${xml(name)}" time="${((run.latency_ms ?? 0) / 1000).toFixed(3)}"`;
      const reason = reasons.get(run.id);
      if (reason === undefined) return `${head}/>`;
      return `${head}>\n      <failure message="${xml(reason.slice(0, MOST_REASON))}">${xml(linkOf(run))}</failure>\n    </testcase>`;
    }),
  );
  const counts = `tests="${cases.length}" failures="${failed.length}" errors="0"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}>\n  <testsuite name="${xml(agent.name)}" ${counts}>\n${cases.join("\n")}\n  </testsuite>\n</testsuites>\n`;
}

/** What XML has no way to write is left out. */
function xml(text: string): string {
  const entities: Readonly<Record<string, string>> = { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" };
  return plain(text)
    .replaceAll(/[<>&"]/g, (char) => entities[char] ?? "")
    .replaceAll(/[\uFFFE\uFFFF]|\p{Cs}/gu, "");
}

/** A summary in Markdown, as pull requests show it. */
export function toMarkdown(results: Results, verdict: readonly string[]): string {
  const { agent, link, score, failed, linkOf, tasks } = results;
  const lines = [
    `## ${markdown(agent.name)}: ${score.composite_score.toFixed(2)} points`,
    "",
    ...verdict.flatMap((line) => [`**${line}**`, ""]),
    "| | |",
    "|---|---|",
    ...numbersOf(results).map(([name, value]) => `| ${name} | ${value} |`),
    "",
  ];
  if (failed.length > 0) {
    lines.push(
      `### Failed: ${failed.length} of ${tasks.reduce((sum, { runs }) => sum + runs.length, 0)} runs`,
      "",
      "| Task | Why | Run |",
      "|---|---|---|",
    );
    lines.push(
      ...failed.map(
        ({ task, run, reason }: FailedRun) =>
          `| ${markdown(task.title)} | ${markdown(reason.slice(0, MOST_REASON))} | [open](${linkOf(run)}) |`,
      ),
      "",
    );
  }
  return `${[...lines, `[The whole screening](${link})`].join("\n")}\n`;
}

/** The numbers that every form of a report gives. */
export function numbersOf({ score, session, tasks, canaries, regression }: Results): [string, string][] {
  const { composite_score, score_low, score_high, success_rate, reliability, cost_efficiency, runs } = score;
  const before = regression?.previous_pass_rate ?? null;
  return [
    ["score", `${composite_score.toFixed(2)} (${score_low.toFixed(1)} to ${score_high.toFixed(1)})`],
    ["success", percent(success_rate)],
    ["reliability", percent(reliability)],
    ["cost efficiency", percent(cost_efficiency)],
    [
      "runs",
      `${runs} of ${tasks.length} tasks${canaries === 0 ? "" : `, and ${canaries} canaries, which do not count`}`,
    ],
    ["took", durationOf(session.started_at, session.finished_at)],
    ...(before === null || regression?.pass_rate == null
      ? []
      : [["pass rate before", `${percent(before)}, now ${percent(regression.pass_rate)}`] satisfies [string, string]]),
  ];
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}

function durationOf(from: string | null, to: string | null): string {
  return from === null || to === null ? "unknown" : `${((Date.parse(to) - Date.parse(from)) / 1000).toFixed(1)} s`;
}

/** What others wrote, without any mark-up of its own. */
function markdown(text: string): string {
  return plain(text).replaceAll(/[\\`*_{}[\]<>()#+!|~&@-]/g, (char) => `&#${char.charCodeAt(0)};`);
}
