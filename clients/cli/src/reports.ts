import type { FailedRun, Results, Run, Task } from "./results.ts";
import { plain } from "./terminal.ts";

const MOST_REASON = 300;

/** The results as JSON for programs. */
export function toJson(results: Results, verdict: readonly string[]): string {
  const { agent, session, link, linkOf, score, failed, lost, canaries, regression } = results;
  const shown = ({ run, task, reason }: FailedRun) => ({ run_id: run.id, task: task.title, reason, link: linkOf(run) });
  return JSON.stringify({
    agent_id: agent.id,
    agent: agent.name,
    session_id: session.id,
    link,
    ...score,
    ...(score.runs === 0 ? { composite_score: null } : {}),
    passed: session.counts.passed,
    canaries,
    regression,
    failed: failed.map(shown),
    not_counted: lost.map(shown),
    verdict,
  });
}

/** A JUnit file: a case for each run, so that CI shows which task failed, and why; what the service lost is skipped. */
export function toJunit({ agent, tasks, failed, lost, linkOf }: Results): string {
  const reasons = new Map(failed.map(({ run, reason }) => [run.id, reason]));
  const counted = tasks.flatMap(({ task, runs }) =>
    runs.map((run) => {
      const reason = reasons.get(run.id);
      if (reason === undefined) return `${caseOf(task, run)}/>`;
      return `${caseOf(task, run)}>\n      <failure message="${xml(reason.slice(0, MOST_REASON))}">${xml(linkOf(run))}</failure>\n    </testcase>`;
    }),
  );
  const skipped = lost.map(({ task, run, reason }) => {
    const message = xml(reason.slice(0, MOST_REASON));
    return `${caseOf(task, run)}>\n      <skipped message="${message}"/>\n    </testcase>`;
  });
  const cases = [...counted, ...skipped];
  const counts = `tests="${cases.length}" failures="${failed.length}" errors="0" skipped="${lost.length}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}>\n  <testsuite name="${xml(agent.name)}" ${counts}>\n${cases.join("\n")}\n  </testsuite>\n</testsuites>\n`;
}

function caseOf({ domain, title }: Task, { latency_ms, repeat_index, repeat_total }: Run): string {
  const name = (repeat_total ?? 1) === 1 ? title : `${title} (${repeat_index} of ${repeat_total})`;
  return `    <testcase classname="${xml(domain)}" name="${xml(name)}" time="${((latency_ms ?? 0) / 1000).toFixed(3)}"`;
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
    `## ${markdown(agent.name)}: ${score.runs === 0 ? "no score" : `${score.composite_score.toFixed(2)} points`}`,
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
export function numbersOf({ score, session, tasks, lost, canaries, regression }: Results): [string, string][] {
  const { composite_score, score_low, score_high, success_rate, reliability, cost_efficiency, runs } = score;
  const before = regression?.previous_pass_rate ?? null;
  return [
    [
      "score",
      runs === 0 ? "none" : `${composite_score.toFixed(2)} (${score_low.toFixed(1)} to ${score_high.toFixed(1)})`,
    ],
    ["success", percent(success_rate)],
    ["reliability", percent(reliability)],
    ["cost efficiency", percent(cost_efficiency)],
    [
      "runs",
      `${runs} of ${tasks.length} tasks${canaries === 0 ? "" : `, and ${canaries} canaries, which do not count`}`,
    ],
    ...(lost.length === 0
      ? []
      : [["not counted", `${lost.length} runs that the service could not carry out`] satisfies [string, string]]),
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
