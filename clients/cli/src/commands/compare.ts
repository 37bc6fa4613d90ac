import { given } from "../../../typescript/src/problem.ts";
import { command, SERVICE } from "../command.ts";
import { EXIT, Failure } from "../failure.ts";
import { connect } from "../settings.ts";
import { colored, cut, numbers, plain, print, table, type Terminal } from "../terminal.ts";

const NAME_WIDTH = 28;
const TITLE_WIDTH = 60;
const SIGNIFICANT = 0.05;

/** `compare`: each agent with each, or two screenings, over the tasks that they share. */
export const compare = command({
  usage: "compare ID ID [ID …] | compare --sessions ID ID",
  about:
    "Compares 2 to 10 agents over the tasks that they share: differences of success rates, and how certain they are. With\n" +
    "--sessions it compares two screenings, the first with the second, and lists the tasks that they differ in.",
  options: { ...SERVICE, sessions: { type: "boolean", about: "the ids are of two screening sessions" } },
  most: 10,
  async run(values, ids, terminal) {
    if (values.sessions === true) return compareSessions(values, ids, terminal);
    if (ids.length < 2) throw new Failure(EXIT.usage, "Give the ids of 2 to 10 agents.");
    const { client } = connect(values, terminal);
    const query = { agent_ids: ids.join(",") };
    const found = await given(client.GET("/api/v1/agents/compare", { params: { query } }));
    if (!("agents" in found))
      throw new Failure(EXIT.service, "The service compared in another way than was asked for.");
    if (values.json === true) {
      print(terminal, JSON.stringify(found));
      return EXIT.fine;
    }
    const names = new Map(found.agents.map(({ agent_id, name }) => [agent_id, cut(plain(name), NAME_WIDTH)]));
    const rows = found.pairs.map(({ a, b, tasks, difference, low, high, p_adjusted }) => [
      `${names.get(a)} – ${names.get(b)}`,
      String(tasks),
      difference === null ? "–" : percent(difference),
      `${percent(low)} to ${percent(high)}`,
      p_adjusted.toPrecision(2),
      p_adjusted < SIGNIFICANT ? colored(terminal, "bold", "differs") : "may be chance",
    ]);
    print(terminal, ...table(["success rate of", ...["tasks", "points", "95%", "p"].map(numbers), ""], rows));
    return EXIT.fine;
  },
});

/** Two screenings: how they differ in all, and a line for each task that one passed more often than the other. */
async function compareSessions(
  values: Parameters<typeof connect>[0] & { json?: boolean },
  [session_id, other, ...more]: string[],
  terminal: Terminal,
): Promise<number> {
  if (session_id === undefined || other === undefined || more.length > 0)
    throw new Failure(EXIT.usage, "Give the ids of two screening sessions.");
  const { client, url } = connect(values, terminal);
  const params = { path: { session_id }, query: { with: other } };
  const found = await given(client.GET("/api/v1/screening-sessions/{session_id}/compare", { params }));
  if (values.json === true) {
    print(terminal, JSON.stringify(found));
    return EXIT.fine;
  }
  const { a, b, tasks, difference, difference_low: low, difference_high: high, mcnemar_p_value: p } = found;
  // What is known of more runs is no dearer for that.
  const knownOf = ({ priced_runs }: typeof a) => (a.priced_runs === b.priced_runs ? "" : ` of ${priced_runs} runs`);
  const sides = (
    [
      ["first", a],
      ["second", b],
    ] as const
  ).map(([name, side]) => [
    side.simulated ? `${name}, simulated` : name,
    side.success_rate === null ? "–" : `${(100 * side.success_rate).toFixed(1)}%`,
    side.evidence_cost_usd === null ? "–" : `${side.evidence_cost_usd.toFixed(6)}${knownOf(side)}`,
    side.duration_ms === null ? "–" : `${(side.duration_ms / 1000).toFixed(1)} s`,
    `${url}/sessions/${side.screening_session_id}`,
  ]);
  print(terminal, ...table(["screening", ...["success", "USD", "took"].map(numbers), ""], sides), "");
  if (difference === null) {
    print(terminal, "No task has graded runs in both.");
    return EXIT.fine;
  }
  const chance = p < SIGNIFICANT ? colored(terminal, "bold", "differs") : "may be chance";
  print(
    terminal,
    `${percent(difference)} points over ${tasks} tasks (95%: ${percent(low)} to ${percent(high)}; p ${p.toPrecision(2)}): ${chance}`,
  );
  const rows = found.by_task
    .filter((task) => rateOf(task.a) !== rateOf(task.b))
    .map((task) => [cut(plain(task.title ?? task.task_id), TITLE_WIDTH), passedOf(task.a), passedOf(task.b)]);
  if (rows.length > 0) print(terminal, "", ...table(["task", numbers("first"), numbers("second")], rows));
  return EXIT.fine;
}

type Tally = { runs: number; passed: number } | null;

function rateOf(tally: Tally): number | null {
  return tally === null ? null : tally.passed / tally.runs;
}

function passedOf(tally: Tally): string {
  return tally === null ? "–" : `${tally.passed} of ${tally.runs}`;
}

function percent(share: number): string {
  return `${share > 0 ? "+" : ""}${(100 * share).toFixed(1)}`;
}
