import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { cell, composite, type ScoredRun, type TaskReference } from "../../../shared/scoring/score.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, type TestSuite } from "../runs/support.ts";

const NOW = Date.UTC(2026, 10, 21, 12);
const DAY_MS = 86_400_000;
const PERIODS = { all: Infinity, "30d": 30, "7d": 7 } as const;
const DOMAINS = { all: [0, 1, 2, 3, 4], math: [0, 1, 4], coding: [2, 3] } as const;
/** The tasks of the core; the fifth is of another suite. */
const CORE = [0, 1, 2, 3];
const TASKS: TaskReference[] = [0, 1, 2, 3, 4].map((n) => ({
  reference_cost_usd: n === 3 ? 0 : 0.001 * (n + 1),
  reference_latency_ms: 500 * (n + 1),
  expected_tool_calls: n === 1 ? 2 : n === 2 ? 0 : null,
}));

/** A run as it may stand in the database, final or not. */
const history = fc.array(
  fc.record({
    task: fc.nat(4),
    kind: fc.constantFrom(
      "real",
      "real",
      "real",
      "real",
      "simulated",
      "private",
      "trial",
      "simulated_trial",
      "service_error",
      "cancelled",
      "old",
    ),
    completed: fc.boolean(),
    correctness: fc.constantFrom(0, 0.25, 0.5, 1),
    latency_ms: fc.option(fc.integer({ min: 0, max: 5000 })),
    cost_micros: fc.option(fc.integer({ min: 0, max: 20_000 })),
    partial: fc.boolean(),
    source: fc.constantFrom("self_reported", "estimated", "runner_aggregate"),
    floored: fc.boolean(),
    tool_calls_made: fc.option(fc.nat(4)),
    age_hours: fc.integer({ min: 0, max: 40 * 24 }),
  }),
  { maxLength: 40 },
);

type Run = (typeof history extends fc.Arbitrary<infer T> ? T : never)[number];

let service: TestService;
let owner: User;
let core: TestSuite;
let tasks: string[];

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(NOW) } });
  owner = await newUser(service, { plan: "enterprise" });
  await service.sql("update tasks set is_active = false");
  core = await addSuite(service, 4, { slug: "core" });
  const other = await addSuite(service, 1);
  tasks = [...core.tasks, ...other.tasks];
  for (const [index, reference] of TASKS.entries()) {
    await service.sql(
      "update tasks set domain = $2, reference_cost_usd = $3, reference_latency_ms = $4, expected_tool_calls = $5 where id = $1",
      [
        tasks[index],
        DOMAINS.coding.some((n) => n === index) ? "coding" : "math",
        reference.reference_cost_usd,
        reference.reference_latency_ms,
        reference.expected_tool_calls,
      ],
    );
  }
});

afterAll(() => service.stop());

const passed = (run: Run): boolean => run.completed && run.correctness === 1;
const finalizedAt = (run: Run): number => NOW - run.age_hours * 3_600_000;

/** Puts a history into the database as runs, with a bare cell so that the daily work finds the agent. */
async function insert(agent: string, runs: Run[]): Promise<void> {
  const rows = runs.map((run, index) => ({
    id: `01900000-0000-7000-8000-${agent.slice(-6)}${String(index).padStart(6, "0")}`,
    agent_id: agent,
    task_id: tasks[run.task],
    status:
      run.kind === "cancelled" ? "cancelled" : run.completed && run.kind !== "service_error" ? "completed" : "failed",
    trigger: run.kind.endsWith("trial") ? "trial" : "manual",
    simulated: run.kind.startsWith("simulated"),
    is_private: run.kind === "private",
    scope: "personal",
    suite_version: run.kind === "old" ? 0 : 1,
    passed: passed(run),
    correctness: run.completed ? run.correctness : 0,
    latency_ms: run.latency_ms,
    evidence_cost_usd: run.cost_micros === null ? null : run.cost_micros / 1_000_000,
    evidence_cost_partial: run.partial,
    evidence_cost_source: run.source,
    evidence_cost_floor_applied: run.floored,
    tool_calls_made: run.tool_calls_made,
    failure_code: run.kind === "service_error" ? "service_error" : run.completed ? null : "agent_timeout",
    evidence_signed: run.kind === "real" || run.kind === "private" || run.kind === "old",
    counted: run.kind === "real" || run.kind === "old",
    finalized_at: new Date(finalizedAt(run)).toISOString(),
  }));
  await service.sql(
    `insert into runs (${Object.keys(rows[0] ?? {}).join(", ")})
     select ${Object.keys(rows[0] ?? {})
       .map((name) => `r.${name}`)
       .join(", ")}
     from jsonb_populate_recordset(null::runs, $1::jsonb) r`,
    [JSON.stringify(rows)],
  );
  await service.sql(
    `insert into task_scores (agent_id, task_id, period, simulated, n, c, success, reliability, cost_efficiency, correctness,
       robustness, last_run_at) values ($1, $2, 'all', false, 1, 1, 1, 1, 1, 1, 1, now())`,
    [agent, tasks[0]],
  );
}

/** What scoring looks at in a run. */
function toScored(run: Run): ScoredRun {
  return {
    passed: passed(run),
    correctness: run.completed ? run.correctness : 0,
    gradable: run.completed,
    latency_ms: run.completed ? run.latency_ms : null,
    cost_usd:
      run.partial || run.source === "runner_aggregate" || run.cost_micros === null ? null : run.cost_micros / 1_000_000,
    tool_calls_made: run.tool_calls_made,
  };
}

/** The board's row by the rules of decisions section 6, from the raw runs alone; null where the agent is not shown. */
function expected(runs: Run[], domain: keyof typeof DOMAINS, period: keyof typeof PERIODS) {
  const since = NOW - PERIODS[period] * DAY_MS;
  const cellsOf = (kind: Run["kind"]) =>
    DOMAINS[domain].flatMap((task) => {
      const scored = runs
        .map((run, index) => ({ run, index }))
        .filter(({ run }) => run.task === task && run.kind === kind && finalizedAt(run) >= since)
        .toSorted((a, b) => finalizedAt(b.run) - finalizedAt(a.run) || b.index - a.index)
        .map(({ run }) => run);
      const floored = scored.slice(0, 10).some((run) => run.floored);
      return scored.length === 0
        ? []
        : [{ task, floored, cell: cell(scored.map(toScored), TASKS[task] as TaskReference) }];
    });
  const real = cellsOf("real");
  const shown = real.length > 0 ? real : cellsOf("simulated");
  if (shown.length === 0) return null;
  const standard = DOMAINS[domain].filter((task) => CORE.includes(task));
  const covers = real.length > 0 && standard.every((task) => real.some((one) => one.task === task));
  const chosen = covers ? shown.filter(({ task }) => CORE.includes(task)) : shown;
  return {
    ...composite(chosen.map((one) => one.cell)),
    evidence_cost_floor_applied: chosen.some(({ floored }) => floored),
    score_basis: covers ? "core" : "provisional",
    simulated: real.length === 0,
  };
}

/** The same object with its numbers cut to nine decimals: sums in another order differ in their last bits. */
function rounded(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, child: unknown) =>
    typeof child === "number" ? Math.round(child * 1e9) / 1e9 : child,
  );
}

describe("what the boards serve", () => {
  it("is what the raw runs give, for any history, on every board", async () => {
    const agents = new Map<string, Run[]>();
    const histories = fc.sample(
      history.filter((runs) => runs.length > 0),
      { numRuns: 30, seed: 20_261_121 },
    );
    for (const runs of histories) {
      const agent = await addAgent(owner);
      agents.set(agent, runs);
      await insert(agent, runs);
    }
    await service.app.scheduled(DAILY);
    for (const domain of ["all", "math", "coding"] as const) {
      for (const period of ["all", "30d", "7d"] as const) {
        const filter = domain === "all" ? "" : `&domain=${domain}`;
        const path = `/api/v1/leaderboard?page_size=100&period=${period}${filter}`;
        const { body } = await caller(service).call("GET", path);
        const rows = new Map(body.items.map((row: { agent_id: string }) => [row.agent_id, row]));
        for (const [agent, runs] of agents) {
          const row = expected(runs, domain, period);
          const served = rows.get(agent);
          const origin = `${path} of ${JSON.stringify(runs)}`;
          if (row === null) expect(served, origin).toBeUndefined();
          else expect(rounded(served), origin).toMatchObject(rounded(row) as object);
        }
        expect(body.total).toBe(rows.size);
      }
    }
  });

  it("leaves doubt where all tasks score alike, also in entries from before the extremes were kept", async () => {
    const agent = await addAgent(owner);
    const solved = { kind: "real", completed: true, correctness: 1, latency_ms: 1, cost_micros: 0 } as const;
    await insert(
      agent,
      CORE.map((task) => ({
        ...solved,
        task,
        partial: false,
        source: "estimated" as const,
        floored: false,
        tool_calls_made: null,
        age_hours: 1,
      })),
    );
    await service.app.scheduled(DAILY);
    const { body } = await caller(service).call("GET", `/api/v1/agents/${agent}`);
    expect(body).toMatchObject({ composite_score: 82, score_basis: "core" });
    expect(body.score_low).toBeLessThan(70);
    expect(body.score_high).toBeGreaterThan(82);
    await service.sql("update board_entries set score_lowest = default, score_highest = default where agent_id = $1", [
      agent,
    ]);
    const before = (await owner.call("GET", `/api/v1/agents/${agent}`)).body;
    expect(before.score_high - before.score_low).toBeGreaterThan(5);
    await service.app.scheduled(DAILY);
    const { score_low, score_high } = (await owner.call("GET", `/api/v1/agents/${agent}`)).body;
    expect({ score_low, score_high }).toEqual({ score_low: body.score_low, score_high: body.score_high });
  });

  it("is no other after the next daily work", async () => {
    await service.app.scheduled(DAILY);
    const line = service.logs.findLast((entry) => entry.includes('"recomputed"')) ?? "{}";
    expect(JSON.parse(line)).toMatchObject({ differed: 0 });
  });
});
