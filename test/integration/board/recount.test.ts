import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { recount } from "../../../shared/board/recount.ts";
import { foldMoves } from "../../../shared/board/spread.ts";
import { DOMAINS } from "../../../shared/catalogue/domains.ts";
import { PERIODS } from "../../../shared/db/schema/board.ts";
import type { Context } from "../../../shared/platform/context.ts";
import { newUser } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { contextOf } from "../runs/run-events-support.ts";

/** Four pieces and a bit; on each of three boards they have an entry. */
const AGENTS = 4300;
const BOARDS = (DOMAINS.length + 1) * PERIODS.length;

let service: TestService;
let ctx: Context;
let ids: string[];

beforeAll(async () => {
  service = await startService();
  ctx = contextOf(service, () => new Date());
  const owner = await newUser(service);
  await service.sql(
    `insert into agents (user_id, name, connection_mode) select $1, 'Counted ' || n, 'mock' from generate_series(1, $2) n`,
    [owner.id, AGENTS],
  );
  await service.sql(`insert into board_entries (agent_id, domain, period, tier, composite_score, score_variance, score_low,
      score_high, success_rate, reliability, cost_efficiency, correctness, robustness, runs, tasks, last_run_at, listed, verified)
    select a.id, b.domain, b.period, 0, 50, 0, 40, 60, 0, 0, 0, 0, 0, 1, 20, now(), true, false
    from agents a cross join (values ('all', 'all'), ('math', 'all'), ('math', '7d')) b(domain, period)`);
  ids = (await service.sql<{ id: string }>("select id from agents order by id")).map(({ id }) => id);
  for (let moves = 1; moves > 0; ) {
    await foldMoves(ctx);
    moves = await count("board_moves");
  }
});

beforeEach(() => void service.logs.splice(0));

afterAll(() => service.stop());

async function count(table: string): Promise<number> {
  const [row] = await service.sql<{ n: number }>(`select count(*)::integer as n from ${table}`);
  return row?.n ?? 0;
}

/** Recounts from `cursor` on, with `between` after each piece; returns how many pieces that took. */
async function recountAll(between: (piece: number) => Promise<unknown>, cursor: string | null = null): Promise<number> {
  const { next } = await recount(ctx, cursor);
  await between(0);
  return next === null ? 1 : 1 + (await recountAll(between, next));
}

const wrong = () => service.logs.filter((line) => line.includes("the spread of a board was wrong"));

/** The places where the spread and the moves differ from the entries. */
function differing(): Promise<unknown[]> {
  const entries = `select domain, period, (composite_score * 100)::integer as score, (score_low * 100)::integer as low,
    (score_high * 100)::integer as high, 1 as listed, verified::integer as verified
    from board_entries where listed and tier = 0`;
  const moves = "select domain, period, score, low, high, -listed, -verified from board_moves";
  const sums = ["scores", "lows", "highs", "verified_lows", "verified_highs"];
  return service.sql(`select domain, period, grain, place from (
      select m.domain, m.period, g.grain, x.at / g.grain as place, x.score * listed as scores, x.low * listed as lows,
        x.high * listed as highs, x.low * verified as verified_lows, x.high * verified as verified_highs
      from (${entries} union all ${moves}) m cross join (values (1), (20), (400)) g (grain)
        cross join lateral (values (m.score, 1, 0, 0), (m.low, 0, 1, 0), (m.high, 0, 0, 1)) x (at, score, low, high)
      union all select domain, period, grain, place, ${sums.map((name) => `-${name}`).join(", ")} from board_spread) x
    group by 1, 2, 3, 4 having (${sums.map((name) => `sum(${name})`).join(", ")}) <> (0, 0, 0, 0, 0)`);
}

/** Changes entries all over the board: scores, hidden and verified agents, deleted and new ones. */
async function change(step: number): Promise<void> {
  const some = (at: number) => ids.filter((_id, place) => (place + at) % 97 === 0);
  await service.sql(
    `update board_entries set composite_score = $2::numeric, score_low = $2::numeric - 5, score_high = $2::numeric + 5
       where agent_id = any($1)`,
    [some(step), 10 + (step % 80)],
  );
  await service.sql("update agents set is_public = not is_public where id = any($1)", [some(step + 1)]);
  await service.sql("update agents set verified_state = 'verified' where id = any($1)", [some(step + 2)]);
  await service.sql("delete from board_entries where agent_id = any($1)", [some(step + 3).slice(0, 5)]);
  await service.sql("delete from agents where id = any($1)", [some(step + 4).slice(0, 2)]);
}

describe("the recount of the boards", () => {
  it("counts a thousand agents a piece, and compares a board a piece", async () => {
    const counted: number[] = [];
    const pieces = await recountAll(async () => counted.push(await total("board_counts")));
    expect(pieces).toBe(1 + Math.ceil(AGENTS / 1000) + BOARDS);
    const steps = counted.map((sum, at) => sum - (counted[at - 1] ?? 0));
    expect(steps.slice(0, 6)).toEqual([0, 3000, 3000, 3000, 3000, 3 * (AGENTS % 1000)]);
    expect(wrong()).toEqual([]);
  });

  it("finds nothing wrong, whatever moves and is folded between its pieces", async () => {
    let step = 0;
    await recountAll(async () => {
      step += 1;
      if (step > 12) return;
      await change(step);
      if (step % 3 !== 0) await foldMoves(ctx);
    });
    expect(wrong()).toEqual([]);
    expect(await differing()).toEqual([]);
    expect(await count("board_recounts")).toBe(0);
  });

  it("puts right what was wrong, beside such changes, too", async () => {
    await service.sql("update board_spread set lows = lows + 3 where domain = 'math' and grain = 20");
    await service.sql("delete from board_spread where domain = 'all' and grain = 1");
    expect(await differing()).not.toEqual([]);
    let step = 50;
    await recountAll(async () => {
      step += 1;
      if (step <= 60) await Promise.all([change(step), foldMoves(ctx)]);
    });
    expect(wrong().map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ domain: "all", period: "all" }),
      expect.objectContaining({ domain: "math", period: "all" }),
      expect.objectContaining({ domain: "math", period: "7d" }),
    ]);
    expect(await differing()).toEqual([]);
  });

  it("counts each agent once when two do it side by side, and begins anew what was broken off", async () => {
    const half = await recount(ctx, (await recount(ctx, null)).next);
    expect(half.next).toBe(`after ${await nth(1000)}`);
    let step = 100;
    const busy = async () => {
      step += 1;
      if (step <= 120) await change(step);
      await foldMoves(ctx);
    };
    const folding = () => foldMoves(ctx);
    await Promise.all([recountAll(busy), recountAll(folding), recountAll(folding, half.next)]);
    expect(wrong()).toEqual([]);
    expect(await differing()).toEqual([]);
  });
});

it("what a night moves at once, more than one statement folds, is folded by one call", async () => {
  await foldMoves(ctx);
  await service.sql(`insert into board_moves (domain, period, score, low, high, listed, verified)
    select 'all', 'all', n % 10000, n % 4000, n % 9000, d, d from generate_series(1, 45000) n, (values (1), (-1)) x(d)`);
  await foldMoves(ctx);
  expect(await count("board_moves")).toBe(0);
  expect(await differing()).toEqual([]);
}, 60_000);

/** The scores that a table of counts has in hundredths of a point. */
async function total(table: string): Promise<number> {
  const [row] = await service.sql<{ n: number }>(
    `select coalesce(sum(scores), 0)::integer as n from ${table} where grain = 1`,
  );
  return row?.n ?? 0;
}

async function nth(place: number): Promise<string | undefined> {
  const [row] = await service.sql<{ id: string }>("select id from agents order by id limit 1 offset $1", [place - 1]);
  return row?.id;
}
