import { expect, it } from "vitest";
import { type Results, resultsOf } from "../../../clients/cli/src/results.ts";
import { createClient } from "../../../clients/typescript/src/client.ts";

const RUNS = 150;
const PAGE = 100;
const SESSION = "s";
const TASK = { id: "t", title: "Sums", domain: "math", difficulty: "easy", time_limit_ms: 1000, cost_budget_usd: 1 };

const runOf = (id: number, screening_session_id: string) => ({
  id: String(id),
  screening_session_id,
  task_id: TASK.id,
  status: "completed",
  passed: true,
  correctness: 1,
  canary: false,
  failure_code: null,
  latency_ms: 1,
  tool_calls_made: null,
});

/** A service whose agent begins a run of another session at each request for runs. */
async function service({ url }: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(url);
  if (pathname === "/api/v1/tasks") return Response.json({ items: [TASK] });
  if (pathname !== "/api/v1/runs") return Response.json({ items: [] });
  runs.unshift(runOf(runs.length, "another"));
  const asked = searchParams.get("screening_session_id");
  const found = runs.filter(({ screening_session_id }) => asked === null || asked === screening_session_id);
  const cursor = searchParams.get("cursor");
  if (cursor !== null) {
    const rest = cursor === "" ? found : found.filter(({ id }) => Number(id) < Number(cursor));
    const items = rest.slice(0, PAGE);
    return Response.json({ items, next_cursor: rest.length > PAGE ? items.at(-1)?.id : null });
  }
  const page = Number(searchParams.get("page") ?? 1);
  const items = found.slice((page - 1) * PAGE, page * PAGE);
  return Response.json({ items }, { headers: { link: `<${url.split("?")[0]}?page=${page + 1}>; rel="next"` } });
}
let runs: ReturnType<typeof runOf>[];

it("a screening's runs are each read once, though others of its agent begin meanwhile", async () => {
  runs = Array.from({ length: RUNS }, (_, at) => runOf(RUNS - 1 - at, SESSION));
  const counts = { queued: 0, running: 0, completed: RUNS, failed: 0, cancelled: 0, passed: RUNS };
  const client = createClient({ baseUrl: "http://service.test", fetch: service });
  // What of an agent and a session is read here, of all that they have.
  const [agent, session] = [{ id: "a" }, { id: SESSION, agent_id: "a", counts }] as unknown as [
    Results["agent"],
    Results["session"],
  ];
  const { tasks } = await resultsOf(client, "http://service.test", agent, session);
  const read = tasks.flatMap((task) => task.runs.map(({ id }) => id));
  expect([read.length, new Set(read).size]).toEqual([RUNS, RUNS]);
});
