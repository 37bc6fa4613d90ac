import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAILY, EVERY_MINUTE } from "../../../functions/scheduled.ts";
import { scoreInterval, type ScoreSums } from "../../../shared/scoring/interval.ts";
import { sampleVariance } from "../../../shared/scoring/score.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { dailyStates } from "../operations/daily-support.ts";
import { addAgent, addSuite, answersRightly, range, startAgent } from "../runs/support.ts";
import type { Consumer } from "../../stack/broker/harness.ts";

interface Row {
  agent_id: string;
  rank: number | null;
  rank_low: number | null;
  rank_high: number | null;
  score_low: number;
  score_high: number;
}

let service: TestService;
let owner: User;
let anonymous: Caller;
let endpoint: Consumer;
let core: string[];
let time = Date.parse("2026-11-22T12:00:00Z");

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(time) } });
  owner = await newUser(service, { plan: "enterprise" });
  anonymous = caller(service);
  endpoint = await startAgent();
  await service.sql("update tasks set is_active = false");
  core = (await addSuite(service, 3, { slug: "core" })).tasks;
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

/** Every row of a board, page by page. */
async function board(query = ""): Promise<Row[]> {
  time += 11_000;
  const rows: Row[] = [];
  for (let page = 1, total = 1; rows.length < total; page += 1) {
    const { body } = await anonymous.call("GET", `/api/v1/leaderboard?page_size=100&page=${page}${query}`);
    rows.push(...body.items);
    total = body.total;
  }
  return rows;
}

/** Rank ranges as they are defined: counted over all rows that the board shows. */
function counted(rows: Row[]): Row[] {
  const ranked = rows.filter(({ rank }) => rank !== null);
  const wholly = (holds: (other: Row) => boolean) => ranked.filter(holds).length;
  return rows.map((row) => ({
    ...row,
    rank_low: row.rank === null ? null : 1 + wholly((other) => other.score_low > row.score_high),
    rank_high: row.rank === null ? null : ranked.length - wholly((other) => other.score_high < row.score_low),
  }));
}

const BOARDS = ["", "&verified_only=true", "&domain=math", "&domain=math&verified_only=true&period=7d"];

/** Every board's ranges are as they are defined, hold each rank, and an agent shows its own. */
async function expectRight(): Promise<void> {
  for (const query of BOARDS) {
    const rows = await board(query);
    expect(rows, query).toEqual(counted(rows));
    for (const { rank, rank_low: low, rank_high: high } of rows) {
      if (rank !== null) expect(low !== null && high !== null && low <= rank && rank <= high).toBe(true);
    }
  }
  const [first, ...others] = await board();
  for (const row of [first, others.at(-1), others.at(others.length / 2)]) {
    const { rank, rank_low, rank_high } = row ?? {};
    const { body } = await anonymous.call("GET", `/api/v1/agents/${row?.agent_id}`);
    expect(body).toMatchObject({ rank, rank_low, rank_high });
  }
}

const moves = async () => (await service.sql<{ n: number }>("select count(*)::integer as n from board_moves"))[0]?.n;

describe("the interval that the database counts by", () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  const scores = fc.oneof(
    fc.array(share, { minLength: 1, maxLength: 60 }),
    fc.array(fc.constantFrom(0, 1, 0.4, 0.52), { minLength: 1, maxLength: 60 }),
    fc
      .tuple(share, fc.integer({ min: 1, max: 60 }))
      .map(([value, count]) => Array.from({ length: count }, () => value)),
    fc.array(
      share.map((value) => value / 1e4),
      { minLength: 1, maxLength: 60 },
    ),
  );

  it("is that of the score, to the last digit, whatever the tasks' own scores are", async () => {
    const sums = fc.sample(scores, 2000).map((own): ScoreSums => {
      const mean = own.reduce((sum, value) => sum + value, 0) / own.length;
      const [score_lowest, score_highest] = [Math.min(...own), Math.max(...own)];
      const composite_score = Math.round(mean * 10_000 + 1e-7) / 100;
      return { composite_score, score_variance: sampleVariance(own), score_lowest, score_highest, tasks: own.length };
    });
    const rows = await service.sql(
      `select i.low::float8 as low, i.high::float8 as high from jsonb_to_recordset($1::jsonb) as s(composite_score float8,
         score_variance float8, score_lowest float8, score_highest float8, tasks integer),
         score_interval(composite_score, score_variance, score_lowest, score_highest, tasks) i`,
      [JSON.stringify(sums)],
    );
    expect(rows).toEqual(sums.map(scoreInterval));
  });
});

describe("the rank range", () => {
  let agents: string[];
  beforeAll(async () => {
    agents = (
      await service.sql<{ id: string }>(
        `insert into agents (user_id, name, connection_mode, verified_state)
         select $1, 'Ranked ' || n, 'mock', case when n % 3 = 0 then 'verified' else 'unverified' end
         from generate_series(1, 120) n returning id`,
        [owner.id],
      )
    ).map(({ id }) => id);
    await service.sql(`insert into board_entries (agent_id, domain, period, tier, composite_score, score_variance, score_lowest,
        score_highest, score_low, score_high, success_rate, reliability, cost_efficiency, correctness, robustness, runs, tasks,
        last_run_at, listed, verified)
      select a.id, b.domain, b.period, (n % 10 = 9)::integer, x.score, x.variance, x.lowest, x.highest, i.low, i.high,
        0, 0, 0, 0, 0, n % 5, x.tasks, now(), true, a.verified_state <> 'unverified'
      from (select *, row_number() over (order by id)::integer as n from agents where connection_mode = 'mock') a
        cross join (values ('all', 'all'), ('math', 'all'), ('math', '7d')) b(domain, period)
        cross join lateral (select round((20 + 60 * sin(n)::numeric ^ 2), (n % 3)) as score, 0.001 * (n % 7) as variance,
          0.1 as lowest, 0.9 as highest, 20 + n % 30 as tasks) x
        cross join score_interval(x.score, x.variance, x.lowest, x.highest, x.tasks) i`);
  });

  it("is counted over what the board shows, before and after what moved is folded, in one statement", async () => {
    expect(await moves()).toBeGreaterThan(300);
    await expectRight();
    await service.app.scheduled(EVERY_MINUTE);
    expect(await moves()).toBe(0);
    await expectRight();
    time += 11_000;
    await service.settled();
    service.counters.reset();
    await anonymous.call("GET", "/api/v1/leaderboard?page_size=50");
    expect(service.counters.snapshot().db.requests).toBe(1);
  });

  it("follows scores, hidden, verified and deleted agents", async () => {
    await service.sql("update agents set is_public = false where id = any($1)", [agents.slice(0, 20)]);
    await service.sql("update agents set verified_state = 'verified' where id = any($1)", [agents.slice(10, 40)]);
    await service.sql("delete from agents where id = any($1)", [agents.slice(40, 50)]);
    await service.sql(`update board_entries set tier = 1 where agent_id = any($1)`, [agents.slice(50, 55)]);
    await service.sql(
      `update board_entries b set composite_score = 90, (score_low, score_high) = (select low, high
         from score_interval(90, b.score_variance, b.score_lowest, b.score_highest, b.tasks)) where agent_id = any($1)`,
      [agents.slice(60, 70)],
    );
    await expectRight();
    await service.app.scheduled(EVERY_MINUTE);
    await service.sql("update agents set is_public = true where id = any($1)", [agents.slice(0, 20)]);
    await expectRight();
    const { body } = await owner.call("PATCH", `/api/v1/agents/${agents[3]}`, { is_public: false });
    expect(body).toMatchObject({ rank: null, rank_low: null, rank_high: null });
  });

  it("stays right while runs end, agents hide and moves are folded, all at once", async () => {
    const own = await Promise.all(range(6).map(() => addAgent(owner, { endpoint: endpoint.url })));
    endpoint.answer = answersRightly;
    const work = own.map((agent_id) => owner.call("POST", "/api/v1/runs/batch", { agent_id, task_ids: core }));
    const folds = range(8).map(() => service.app.scheduled(EVERY_MINUTE));
    const hides = agents
      .slice(80, 110)
      .flatMap((id) =>
        [false, true].map((shown) => service.sql("update agents set is_public = $2 where id = $1", [id, shown])),
      );
    const recounts = range(3).map(() => service.app.scheduled(DAILY));
    await Promise.all([...work, ...folds, ...hides, ...recounts]);
    await service.settled();
    await expectRight();
    expect((await board()).filter(({ agent_id }) => own.includes(agent_id)).map(({ rank }) => rank)).not.toContain(
      null,
    );
    expect(service.logs.filter((line) => line.includes("spread of a board"))).toEqual([]);
  });

  it("is put right by the night's recount where a count was wrong, which is said as an error", async () => {
    await service.sql("update board_spread set lows = lows + 3, highs = highs - 2 where grain = 400");
    await service.sql("delete from board_spread where domain = 'math' and period = '7d' and grain = 1");
    const rows = await board();
    expect(rows).not.toEqual(counted(rows));
    await service.app.scheduled(DAILY);
    expect((await dailyStates(service)).get("recount the boards")).toMatchObject({ last_error: null });
    expect(service.logs.filter((line) => line.includes("spread of a board")).length).toBeGreaterThanOrEqual(3);
    await expectRight();
  });
});
