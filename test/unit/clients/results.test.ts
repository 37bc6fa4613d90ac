import { expect, it, vi } from "vitest";
import { toJson } from "../../../clients/cli/src/reports.ts";
import { type Results, resultsOf } from "../../../clients/cli/src/results.ts";
import { createClient } from "../../../clients/typescript/src/client.ts";

const RUNS = 150;
const PAGE = 100;
const SESSION = "s";
const TASK = {
  id: "t",
  title: "Sums",
  domain: "math",
  difficulty: "easy",
  time_limit_ms: 1000,
  cost_budget_usd: 1,
  reference_cost_usd: 0.01,
  reference_latency_ms: 2000,
  expected_tool_calls: null,
};

const completed = {
  status: "completed",
  passed: true as boolean | null,
  correctness: 1,
  canary: false,
  failure_code: null as string | null,
  latency_ms: 1,
  tool_calls_made: null,
  evidence_cost_usd: 0.02,
  evidence_cost_source: "reported",
  evidence_cost_partial: false,
};

const runOf = (id: number, screening_session_id: string, more: Partial<typeof completed> = {}) => ({
  id: String(id),
  screening_session_id,
  task_id: TASK.id,
  ...completed,
  ...more,
});

/** A service whose agent begins a run of another session at each request for runs. */
async function service({ url }: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(url);
  if (pathname === "/api/v1/tasks") return Response.json({ items: [TASK] });
  if (pathname.endsWith("/output")) return output(pathname);
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
let output: (path: string) => Response = () => Response.json({});

/** What a session with these runs came to, newest first. */
async function resultsWith(own: readonly Partial<typeof completed>[]): Promise<Results> {
  runs = own.map((run, at) => runOf(own.length - 1 - at, SESSION, run));
  const passed = runs.filter((run) => run.passed).length;
  const counts = { queued: 0, running: 0, completed: own.length, failed: 0, cancelled: 0, passed };
  const client = createClient({ baseUrl: "http://service.test", fetch: service });
  // What of an agent and a session is read here, of all that they have.
  const [agent, session] = [{ id: "a" }, { id: SESSION, agent_id: "a", counts }] as unknown as [
    Results["agent"],
    Results["session"],
  ];
  return resultsOf(client, "http://service.test", agent, session);
}

it("a screening's runs are each read once, though others of its agent begin meanwhile", async () => {
  const { tasks } = await resultsWith(Array.from({ length: RUNS }, () => ({})));
  const read = tasks.flatMap((task) => task.runs.map(({ id }) => id));
  expect([read.length, new Set(read).size]).toEqual([RUNS, RUNS]);
});

it("those that passed are counted among the runs that count: without canaries, and without what was lost", async () => {
  const lost = { status: "failed", passed: null, failure_code: "service_error" };
  const own = [{}, {}, {}, { passed: false }, { canary: true }, lost];
  expect(JSON.parse(toJson(await resultsWith(own), []))).toMatchObject({ runs: 4, passed: 3, canaries: 1 });
});

it("a run that did not come to an answer has no latency, as on the board; what it cost stays known", async () => {
  const answered = { latency_ms: 4000 };
  const failed = { status: "failed", passed: false, correctness: 0, failure_code: "agent_http_error", latency_ms: 5 };
  const { score } = await resultsWith([answered, failed]);
  expect(score.axes).toMatchObject({ latency: 0.5, cost: 0.25, correctness: 0.5 });
  expect((await resultsWith([failed])).score.axes).toMatchObject({ latency: null, cost: 0 });
});

it("each failed run has its reason, as long as the key may ask for it without waiting", async () => {
  const failed = Array.from({ length: 40 }, () => ({ passed: false }));
  const explained = async (limit: number) => {
    let left = limit;
    output = () => Response.json({ explanation: "41" }, { headers: { ratelimit: `"minute";r=${--left};t=9` } });
    const { failed: found } = await resultsWith(failed);
    return found.filter(({ reason }) => reason === "41").length;
  };
  expect(await explained(60)).toBe(40);
  // Four are asked for at a time, so that three may come after the one that leaves too little.
  expect(await explained(30)).toBeGreaterThan(15);
  expect(await explained(30)).toBeLessThan(20);
});

it("reasons that have to be waited for hold no result up for more than ten seconds, and one that fails none at all", async () => {
  vi.useFakeTimers();
  let asked = 0;
  output = () => {
    if (asked++ === 0) throw new TypeError("fetch failed");
    return Response.json({}, { status: 429, headers: { "retry-after": "50" } });
  };
  const found = resultsWith([{}, { passed: false }, { passed: false }]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect((await found).failed.map(({ reason }) => reason)).toEqual(["not passed", "not passed"]);
  vi.useRealTimers();
});

it("reasons that this key may not see are asked for no more than once at a time", async () => {
  let asked = 0;
  output = () => Response.json({ code: "forbidden" }, { status: 403, headers: { asked: String(++asked) } });
  await resultsWith(Array.from({ length: 40 }, () => ({ passed: false })));
  expect(asked).toBeLessThanOrEqual(4);
});
