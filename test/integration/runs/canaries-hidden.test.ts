import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Minting, type Run, shape } from "./canary-support.ts";
import { range, used } from "./support.ts";

let minting: Minting;
let agentId: string;
let runs: Run[];
/** A canary, another run of its task, and the run that is still open. */
let canary: Run;
let twin: Run;
let last: Run;
let before: Awaited<ReturnType<typeof said>>;

/** What is said of the agent and its account, not of one run. */
async function said() {
  const { items } = await minting.read("/api/v1/leaderboard?page_size=100", minting.anonymous);
  const { verified_state, composite_score, score_basis } = await minting.read(`/api/v1/agents/${agentId}`);
  const { total_runs, successful_runs } = await minting.read(`/api/v1/agents/${agentId}/stats`, minting.anonymous);
  const rows = (text: string) => minting.service.sql(text);
  return {
    onBoard: items.some((row: { agent_id: string }) => row.agent_id === agentId),
    agent: { verified_state, composite_score, score_basis },
    entries: await minting.entries(),
    stats: { total_runs, successful_runs },
    used: await used(minting.service, "user", minting.owner.id),
    cells: (await rows("select from task_scores where period = 'all'")).length,
    events: (await rows("select from outbox where body ->> 'type' = 'agent.score_updated'")).length,
    ends: await rows(
      `select body -> 'data' -> 'counts' as counts from outbox where body ->> 'type' = 'session.completed'`,
    ),
  };
}

beforeAll(async () => {
  minting = await Minting.start();
  agentId = await minting.addLive();
  await minting.owner.call("POST", "/api/v1/webhooks", {
    url: minting.agent.url,
    event_types: ["run.completed", "agent.score_updated", "session.completed"],
    agent_id: agentId,
  });
  before = await said();
  runs = await minting.reserve(agentId, 5);
  const { canaries, others } = await minting.parted(runs);
  // Among the ten that were reserved last, which a record shows.
  const drawn = canaries[1];
  const same = others.find(({ task_id }) => task_id === drawn?.task_id);
  const open = others[0];
  if (drawn === undefined || same === undefined || open === undefined) throw new Error("no canary was drawn");
  [canary, twin, last] = [drawn, same, open];
  await minting.carryOut(runs.filter(({ id }) => id !== last.id));
});

afterAll(async () => {
  await minting.released();
  await minting.stop();
});

/** What differs between any two runs: their names and times, and how long the answer was. */
const OWN = new Set(
  [
    "id run_id repeat_index created_at started_at finalized_at createdAt finalizedAt occurred_at duration_ms".split(
      " ",
    ),
    "latency_ms latencyMs latency request_id instance bytes".split(" "),
  ].flat(),
);

/** The value with nothing of its own but whether it is there. */
function scrubbed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(scrubbed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, OWN.has(name) ? member !== null : scrubbed(member)]),
  );
}

const found = (list: readonly Run[], { id }: Run) => list.find((run) => run.id === id);

/** Where a run can be looked at, by its owner or by anybody. */
const SURFACES: Record<string, (run: Run) => Promise<unknown>> = {
  "the run, for its owner": ({ id }) => minting.read(`/api/v1/runs/${id}`),
  "the run, for anybody": ({ id }) => minting.read(`/api/v1/runs/${id}`, minting.anonymous),
  "the list of runs": async (run) =>
    found((await minting.read(`/api/v1/runs?agent_id=${agentId}&page_size=100`, minting.anonymous)).items, run),
  "the facts": ({ id }) => minting.read(`/api/v1/runs/${id}/phases`),
  "the evidence": async ({ id }) => {
    const { status, body } = await minting.anonymous.call("GET", `/api/v1/runs/${id}/evidence`);
    return { status, body };
  },
  "what was sent and received": async ({ id }) => shape(await minting.read(`/api/v1/runs/${id}/output`)),
  "the events of the run": async ({ id }) => {
    const { text } = await minting.owner.call("GET", `/api/v1/runs/${id}/events`);
    const lines = text.split("\n").filter((line) => line.startsWith("data: "));
    return lines.map((line) => JSON.parse(line.slice("data: ".length)) as unknown);
  },
  "the export as JSON": async ({ id }) => {
    const { text } = await minting.owner.call("GET", `/api/v1/runs/export.jsonl?agent_id=${agentId}`);
    return JSON.parse(text.split("\n").find((line) => line.includes(id)) ?? "null");
  },
  "the export": async ({ id }) => {
    const { text } = await minting.owner.call("GET", `/api/v1/runs/export.csv?agent_id=${agentId}`);
    const [head = "", ...lines] = text.split("\r\n");
    const cells = (lines.find((line) => line.startsWith(id)) ?? "").split(",");
    return Object.fromEntries(head.split(",").map((name, at) => [name, cells[at]]));
  },
  GraphQL: async (run) => {
    const fields = "id status passed correctness latencyMs evidenceCostUsd evidenceSigned canary createdAt finalizedAt";
    const query = `{ agent(id: "${agentId}") { stats { recentRuns { ${fields} } } } }`;
    const { body } = await minting.anonymous.call("POST", "/graphql", { query });
    return found(body.data.agent.stats.recentRuns, run);
  },
  "what subscribers are sent": ({ id }) =>
    minting.service.sql(
      "select body ->> 'type' as type, body -> 'data' as data from outbox where body -> 'data' -> 'run' ->> 'id' = $1",
      [id],
    ),
  "what is kept of it for good": ({ id }) =>
    minting.service.sql(
      `select counted, canary, paid_kind, paid_period, (select count(*) from run_evidence e where e.run_id = r.id) as evidence,
        (select count(*) from run_exchanges e where e.run_id = r.id) as exchanges from runs r where id = $1`,
      [id],
    ),
};

describe("while one run of a session is open", () => {
  it.each(Object.keys(SURFACES))("%s does not tell a canary from another run", async (name) => {
    const look = async (run: Run) => scrubbed(await SURFACES[name]?.(run));
    const [one, other] = [await look(canary), await look(twin)];
    expect(JSON.stringify(one).length, "there is something to compare").toBeGreaterThan(20);
    expect(one).toEqual(other);
  });

  it("neither score, board, log, record, usage nor events have moved but by what every run moves", async () => {
    expect(await said()).toEqual({
      ...before,
      stats: { total_runs: 20, successful_runs: 19 },
      used: before.used + 20,
    });
    expect(await minting.session(runs)).toMatchObject({ status: "running", canaries: null, finished_at: null });
  });

  it("all of it comes with the end at once, in one request, and once however often it is told", async () => {
    await minting.carryOut([last]);
    expect(await minting.session(runs)).toMatchObject({ status: "running", canaries: null });
    minting.service.counters.reset();
    expect(await minting.settle(runs)).toBe(200);
    expect(minting.service.counters.snapshot().db.requests).toBe(1);
    const after = {
      onBoard: true,
      agent: expect.objectContaining({ verified_state: "verified" }) as unknown,
      entries: before.entries + 18,
      stats: { total_runs: 18, successful_runs: 18 },
      used: before.used + 18,
      cells: 4,
      events: 1,
      ends: [{ counts: { completed: 20, failed: 0, cancelled: 0, passed: 20 } }],
    };
    expect(await said()).toEqual(after);
    expect(await minting.session(runs)).toMatchObject({ status: "completed", canaries: { runs: 2, passed: 2 } });
    expect(await Promise.all(range(8).map(() => minting.settle(runs)))).toEqual(range(8).map(() => 200));
    expect(await said()).toEqual(after);
  });
});
