import type { components } from "../../../typescript/src/generated/service.ts";
import { command, SERVICE } from "../command.ts";
import { EXIT, Failure } from "../failure.ts";
import { connectSignedIn } from "../settings.ts";
import { numbers, print, table } from "../terminal.ts";

const STATES = ["queued", "running", "completed", "failed", "cancelled"] as const;
const DEFAULT_LIMIT = "20";

/** `runs`: the newest runs of one's own agents, or of one agent. */
export const runs = command({
  usage: "runs [--agent ID] [--status STATUS] [--limit 20]",
  about: "Lists the newest runs of your agents, or of one agent.",
  options: {
    ...SERVICE,
    agent: { type: "string", value: "ID", about: "of this agent alone" },
    status: { type: "string", value: "STATUS", about: STATES.join(", ") },
    limit: { type: "string", value: "N", about: "how many (20)" },
  },
  async run(values, _none, terminal) {
    const status = STATES.find((one) => one === values.status);
    if (values.status !== undefined && status === undefined) {
      throw new Failure(EXIT.usage, `--status is one of ${STATES.join(", ")}.`);
    }
    const limit = countOf("limit", values.limit ?? DEFAULT_LIMIT);
    const { client, url } = connectSignedIn(values, terminal);
    const filter = values.agent === undefined ? { mine: "true" } : { agent_id: values.agent };
    const query = { ...filter, ...(status === undefined ? {} : { status }), page_size: Math.min(limit, 100) };
    const found: components["schemas"]["RunRead"][] = [];
    for await (const run of client.each("/api/v1/runs", { query })) {
      found.push(run);
      if (found.length === limit) break;
    }
    if (values.json === true) print(terminal, JSON.stringify(found));
    else if (found.length === 0) print(terminal, "There is no such run.");
    else {
      const rows = found.map(({ created_at, status: state, passed, failure_code, latency_ms, id }) => [
        created_at.slice(0, 19).replace("T", " "),
        state,
        passed === null ? (failure_code ?? "") : passed ? "passed" : (failure_code ?? "not passed"),
        latency_ms === null ? "" : `${latency_ms} ms`,
        `${url}/runs/${id}`,
      ]);
      print(terminal, ...table(["created (UTC)", "status", "result", numbers("latency"), "run"], rows));
    }
    return EXIT.fine;
  },
});

/** The number that an option gives. @throws Failure for anything but a whole number from 1 on. */
export function countOf(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new Failure(EXIT.usage, `--${option} takes a whole number from 1 on.`);
  return value;
}
