import type { FailedRun, Results, Run, Task } from "./results.ts";
import { plain } from "./terminal.ts";
import { numbered } from "./words.ts";

const MOST_REASON = 300;

/** A screening that could not be carried out or waited for. */
export interface Broken {
  /** The agent's name where it is known, else the program's. */
  agent: string;
  message: string;
  /** The command that waits for it; null where none has begun, or what was queued is cancelled. */
  goesOnBy: string | null;
}

/** The results as JSON for programs. */
export function toJson(results: Results, verdict: readonly string[]): string {
  const { agent, session, link, linkOf, score, passed, failed, lost, canaries, regression } = results;
  const shown = ({ run, task, reason }: FailedRun) => ({
    run_id: run.id,
    task_id: task.id,
    task: task.title,
    reason,
    link: linkOf(run),
  });
  return JSON.stringify({
    agent_id: agent.id,
    agent: agent.name,
    session_id: session.id,
    link,
    simulated: session.simulated,
    ...score,
    ...(score.runs === 0 ? { composite_score: null } : {}),
    passed,
    canaries,
    regression,
    failed: failed.map((one) => ({ ...shown(one), before: one.before })),
    not_counted: lost.map(shown),
    verdict,
  });
}

/** A JUnit file: a case for each run, so that CI shows which task failed, and why; what the service lost is skipped. */
export function toJunit({ agent, session, tasks, failed, lost, linkOf }: Results): string {
  const reasons = new Map(failed.map(({ run, reason, before }) => [run.id, worseBy(before) + reason]));
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
  const name = session.simulated ? `${agent.name} (simulated)` : agent.name;
  return junitOf(name, cases, { failures: failed.length, errors: 0, skipped: lost.length });
}

/** The JUnit file of a screening that could not be carried out or waited for: one case, with the error. */
export function toJunitOfError({ agent, message, goesOnBy }: Broken): string {
  const start = caseStart("agent-screening", "The screening can be carried out", 0);
  const error = `${start}>\n      <error message="${xml(message)}">${goesOnBy === null ? "" : xml(goingOn(goesOnBy))}</error>\n    </testcase>`;
  return junitOf(agent, [error], { failures: 0, errors: 1, skipped: 0 });
}

function junitOf(
  name: string,
  cases: readonly string[],
  found: Record<"failures" | "errors" | "skipped", number>,
): string {
  const counts = Object.entries({ tests: cases.length, ...found })
    .map(([what, count]) => `${what}="${count}"`)
    .join(" ");
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}>\n  <testsuite name="${xml(name)}" ${counts}>\n${cases.join("\n")}\n  </testsuite>\n</testsuites>\n`;
}

function caseOf({ domain, title }: Task, { latency_ms, repeat_index, repeat_total }: Run): string {
  const name = (repeat_total ?? 1) === 1 ? title : `${title} (${repeat_index} of ${repeat_total})`;
  return caseStart(domain, name, latency_ms ?? 0);
}

function caseStart(classname: string, name: string, ms: number): string {
  return `    <testcase classname="${xml(classname)}" name="${xml(name)}" time="${(ms / 1000).toFixed(3)}"`;
}

/** What XML has no way to write is left out. */
function xml(text: string): string {
  const entities: Readonly<Record<string, string>> = { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" };
  return plain(text)
    .replaceAll(/[<>&"]/g, (char) => entities[char] ?? "")
    .replaceAll(/[\uFFFE\uFFFF]|\p{Cs}/gu, "");
}

/** Of a task that was passed more often before, how often that was, to stand before a reason. */
export function worseBy(before: FailedRun["before"]): string {
  return before?.worse === true ? `Passed ${ofRuns(before)} before. ` : "";
}

function ofRuns({ passed, total }: NonNullable<FailedRun["before"]>): string {
  return `${passed} of ${total}`;
}

/** How many tasks were passed more often before, to stand behind a number of failed runs; nothing without one. */
export function worseIn(failed: readonly FailedRun[]): string {
  const worse = new Set(failed.flatMap(({ task, before }) => (before?.worse === true ? [task.id] : [])));
  return worse.size === 0 ? "" : `, ${numbered(worse.size, "task")} passed more often before`;
}

/** A summary in Markdown, as pull requests show it. */
export function toMarkdown(results: Results, verdict: readonly string[]): string {
  const { agent, link, score, failed, linkOf, tasks, regression } = results;
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
    const asked = numbered(tasks.flatMap(({ runs }) => runs).length, "run");
    const [heading, rule] = regression === null ? ["", ""] : [" Before |", "---|"];
    lines.push(
      `### Failed: ${failed.length} of ${asked}${worseIn(failed)}`,
      "",
      `| Task |${heading} Why | Run |`,
      `|---|${rule}---|---|`,
      ...failed.map(({ task, run, reason, before }) => {
        const passed = before === null ? "–" : before.worse ? `**${ofRuns(before)}**` : ofRuns(before);
        const cells = [markdown(task.title), ...(regression === null ? [] : [passed])];
        return `| ${cells.join(" | ")} | ${markdown(reason.slice(0, MOST_REASON))} | [open](${linkOf(run)}) |`;
      }),
      "",
    );
  }
  if (regression !== null) lines.push(`[The screening before](${results.linkTo(regression.baseline_session_id)})`, "");
  return `${[...lines, `[The whole screening](${link})`].join("\n")}\n`;
}

/** How to go on with a screening that has begun: it is the waiting for it that ended. */
export function goingOn(command: string): string {
  return `The screening itself goes on; wait for it by: ${command}`;
}

/** The summary of a screening that could not be carried out or waited for. */
export function toMarkdownOfError({ agent, message, goesOnBy }: Broken): string {
  const [what = "", ...advice] = message.split("\n").map((line) => markdown(line.trim()));
  const goesOn = goesOnBy === null ? [] : [goingOn(`\`${goesOnBy}\``)];
  const paragraphs = [`**${what}**`, ...advice, ...goesOn].flatMap((line) => ["", line]);
  return `${[`## ${markdown(agent)}: no score`, ...paragraphs].join("\n")}\n`;
}

/** The numbers that every form of a report gives. */
export function numbersOf({ score, session, tasks, lost, canaries, regression }: Results): [string, string][] {
  const { composite_score, score_low, score_high, success_rate, reliability, cost_efficiency, runs } = score;
  const before = regression?.previous_pass_rate ?? null;
  return [
    // An agent that a job screens by its id may have been switched to mock since.
    ...(session.simulated
      ? [["simulated", "no agent was called: this says nothing of one"] satisfies [string, string]]
      : []),
    [
      "score",
      runs === 0 ? "none" : `${composite_score.toFixed(2)} (${score_low.toFixed(2)} to ${score_high.toFixed(2)})`,
    ],
    ["success", percent(success_rate)],
    ["reliability", percent(reliability)],
    ["cost efficiency", percent(cost_efficiency)],
    [
      "runs",
      `${runs} over ${numbered(tasks.length, "task")}${canaries === 0 ? "" : `, and ${numbered(canaries, "canary, which does", "canaries, which do")} not count`}`,
    ],
    ...(lost.length === 0
      ? []
      : [
          ["not counted", `${numbered(lost.length, "run")} that the service could not carry out`] satisfies [
            string,
            string,
          ],
        ]),
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
