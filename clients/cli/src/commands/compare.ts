import { given } from "../../../typescript/src/problem.ts";
import { command, SERVICE } from "../command.ts";
import { EXIT, Failure } from "../failure.ts";
import { connect } from "../settings.ts";
import { colored, cut, plain, print, table } from "../terminal.ts";

const NAME_WIDTH = 28;
const SIGNIFICANT = 0.05;

/** `compare`: each agent with each, over the tasks that they share. */
export const compare = command({
  usage: "compare ID ID [ID …]",
  about:
    "Compares 2 to 10 agents over the tasks that they share: differences of success rates, and how certain they are.",
  options: SERVICE,
  async run(values, ids, terminal) {
    if (ids.length < 2 || ids.length > 10) throw new Failure(EXIT.usage, "Give the ids of 2 to 10 agents.");
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
    print(terminal, ...table(["success rate of", "tasks", "points", "95%", "p", ""], rows));
    return EXIT.fine;
  },
});

function percent(share: number): string {
  return `${share > 0 ? "+" : ""}${(100 * share).toFixed(1)}`;
}
