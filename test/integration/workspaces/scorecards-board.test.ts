import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type * as z from "zod";
import { RANKED_ROWS } from "../../../shared/scorecards/board.ts";
import type { ScorecardBoardRow } from "../../../shared/scorecards/board-shown.ts";
import { AXES } from "../../../shared/scorecards/shown.ts";
import { TEMPLATES } from "../../../shared/scorecards/templates.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { range, unique } from "../runs/support.ts";

type BoardRow = z.output<typeof ScorecardBoardRow>;
type Axis = (typeof AXES)[number];

/** An agent's entry on a board; axes are whole thousandths, so that a score can be told exactly. */
interface Entry {
  id: string;
  domain: string;
  period: string;
  tier: number;
  composite: number;
  runs: number;
  listed: boolean;
  verified: boolean;
  axes: Record<Axis, number | null>;
}

const SCORECARDS = "/api/v1/scorecards";

let service: TestService;
let viewer: User;
let scorecard: string;
const entries: Entry[] = [];

// A congruential generator (Numerical Recipes), so that every run ranks the same board.
let seed = 7;
const upTo = (most: number): number => {
  seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32;
  return Math.floor((seed / 2 ** 32) * (most + 1));
};

beforeAll(async () => {
  service = await startService();
  viewer = await newUser(service);
  const { body } = await viewer.call("POST", SCORECARDS, { name: "Weights", weights: { cost: 1 } });
  scorecard = body.id;
  for (const n of range(60)) {
    const listed = n % 10 !== 0;
    const [domain, period] = n < 44 ? ["all", "all"] : n < 52 ? ["math", "all"] : ["all", "7d"];
    entries.push({
      id: await addAgent(listed),
      domain,
      period,
      tier: upTo(2),
      composite: upTo(10_000) / 100,
      runs: 1 + upTo(2),
      listed,
      verified: upTo(1) === 0,
      axes: {
        // Few values, so that agents tie.
        correctness: 250 * upTo(4),
        latency: maybe(500),
        cost: maybe(500),
        tool_efficiency: maybe(1),
        robustness: upTo(1000),
      },
    });
  }
  for (const entry of entries) await addEntry(entry);
});

afterAll(() => service.stop());

const maybe = (step: number): number | null => (upTo(3) === 0 ? null : step * upTo(1000 / step));

/** An agent of the viewer's, whose private ones are no more on the board than anybody's. */
async function addAgent(isPublic: boolean): Promise<string> {
  const text =
    "insert into agents (user_id, name, connection_mode, is_public) values ($1, $2, 'mock', $3) returning id";
  return (await service.sql<{ id: string }>(text, [viewer.id, unique("Agent"), isPublic]))[0]?.id ?? "";
}

async function addEntry({ id, domain, period, tier, composite, runs, listed, verified, axes }: Entry): Promise<void> {
  await service.sql(
    `insert into board_entries (agent_id, domain, period, tier, composite_score, score_variance, success_rate, reliability,
       cost_efficiency, correctness, latency, cost, tool_efficiency, robustness, runs, tasks, last_run_at, listed, verified)
     values ($1, $2, $3, $4, $5, 0.01, 0.5, 0.5, 0.5, $6, $7, $8, $9, $10, $11, 4, now(), $12, $13)`,
    [id, domain, period, tier, composite, ...AXES.map((axis) => share(axes[axis])), runs, listed, verified],
  );
}

const share = (thousandths: number | null): number | null => (thousandths === null ? null : thousandths / 1000);

/** The score by whole numbers alone: 100 × Σ parts × thousandths / 1000 / Σ parts, half up at the second decimal. */
function scoreOf({ axes }: Entry, parts: Record<Axis, number>): number {
  const sum = AXES.reduce((total, axis) => total + parts[axis], 0);
  const weighted = AXES.reduce((total, axis) => total + parts[axis] * (axes[axis] ?? 0), 0);
  return Math.floor((20 * weighted + sum) / (2 * sum)) / 100;
}

/** The board that these parts should give. */
function ranked(parts: Record<Axis, number>, domain = "all", period = "all", verifiedOnly = false) {
  return entries
    .filter((entry) => entry.domain === domain && entry.period === period && entry.listed)
    .filter((entry) => entry.verified || !verifiedOnly)
    .map((entry) => ({ ...entry, score: scoreOf(entry, parts) }))
    .toSorted((a, b) => a.tier - b.tier || b.score - a.score || b.runs - a.runs || (a.id < b.id ? -1 : 1))
    .map(({ id, tier, score, axes }, index) => ({
      agent_id: id,
      rank: tier === 0 ? index + 1 : null,
      scorecard_score: score,
      missing_axes: AXES.filter((axis) => axes[axis] === null),
    }));
}

const weigh = (values: readonly number[]): Record<Axis, number> =>
  Object.fromEntries(AXES.map((axis, index) => [axis, values[index] ?? 0])) as Record<Axis, number>;

async function board(id: string, query = ""): Promise<{ items: BoardRow[]; total: number; total_is_capped?: true }> {
  const { status, body, text } = await viewer.call("GET", `${SCORECARDS}/${id}/board?page_size=100${query}`);
  expect(status, text).toBe(200);
  return body;
}

const ownColumns = ({ agent_id, rank, scorecard_score, missing_axes }: BoardRow) => ({
  agent_id,
  rank,
  scorecard_score,
  missing_axes,
});

async function publicBoard(query = ""): Promise<{ items: BoardRow[]; total: number }> {
  return (await viewer.call("GET", `/api/v1/leaderboard?page_size=100${query}`)).body;
}

/** A digest of each table: of every row's content and of the transactions that made or locked it. */
async function digests(): Promise<Record<string, string | null>> {
  const tables = await service.sql<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  const found: Record<string, string | null> = {};
  for (const { name } of tables) {
    const [row] = await service.sql<{ digest: string | null }>(
      `select md5(string_agg(concat(t::text, t.xmin, t.xmax), '' order by t.ctid)) as digest from "${name}" t`,
    );
    found[name] = row?.digest ?? null;
  }
  return found;
}

describe("a scorecard's board", () => {
  const weightings = [
    ...AXES.map((_axis, index) => AXES.map((_other, place) => Number(place === index))),
    [1, 1, 1, 1, 1],
    [Number.MIN_VALUE, 0, 1, 0, 0],
    ...range(12).map(() => [1 + upTo(9), ...range(4).map(() => upTo(10))]),
  ];

  it.each(weightings.map((values) => [values.join(":")]))("is ranked exactly by the weights %s", async (values) => {
    const parts = weigh(values.split(":").map(Number));
    await viewer.call("PATCH", `${SCORECARDS}/${scorecard}`, { weights: parts });
    const { items, total } = await board(scorecard);
    const expected = ranked(parts);
    expect(items.map(ownColumns)).toEqual(expected);
    expect(total).toBe(expected.length);
  });

  it.each(TEMPLATES.map((template) => [template.name, template] as const))(
    "is the template's for everybody: %s",
    async (_name, { id, weights }) => {
      const parts = weigh(AXES.map((axis) => Math.round(weights[axis] * 100)));
      expect((await board(id.toUpperCase())).items.map(ownColumns)).toEqual(ranked(parts));
    },
  );

  it("shows each row as the public board does, but for its rank", async () => {
    const shown = await publicBoard();
    const byId = new Map(shown.items.map((row) => [row.agent_id, row]));
    const { items, total } = await board(scorecard);
    expect([total, items.length]).toEqual([shown.total, shown.items.length]);
    for (const row of items) {
      // Ranges of places are of the public board's order alone.
      const shared = Object.entries(byId.get(row.agent_id) ?? {}).filter(([name]) => !name.startsWith("rank_"));
      expect(row).toEqual({ ...Object.fromEntries(shared), ...ownColumns(row) });
    }
    expect(items.filter(({ missing_axes }) => missing_axes.length > 0).length).toBeGreaterThan(10);
  });

  it("is narrowed to a domain, a period and verified agents, in rows and total", async () => {
    const parts = weigh([3, 1, 1, 1, 2]);
    await viewer.call("PATCH", `${SCORECARDS}/${scorecard}`, { weights: parts });
    for (const [query, expected] of [
      ["&domain=math", ranked(parts, "math")],
      ["&period=7d", ranked(parts, "all", "7d")],
      ["&verified_only=true", ranked(parts, "all", "all", true)],
      ["&domain=safety", []],
    ] as const) {
      const { items, total } = await board(scorecard, query);
      expect(items.map(ownColumns), query).toEqual(expected);
      expect(total, query).toBe(expected.length);
    }
  });

  it("keeps order, ranks and total over its pages", async () => {
    const whole = await board(scorecard);
    const pages = [];
    for (let page = 1; page <= Math.ceil(whole.total / 7) + 1; page++) {
      const { body } = await viewer.call("GET", `${SCORECARDS}/${scorecard}/board?page=${page}&page_size=7`);
      expect(body.total).toBe(whole.total);
      pages.push(...body.items);
    }
    expect(pages).toEqual(whole.items);
  });

  it("writes nothing, takes one round trip, and leaves the public board as it is", async () => {
    const [before, shown] = [await digests(), await publicBoard()];
    const { requests } = service.counters.db;
    for (const id of [scorecard, ...TEMPLATES.map((template) => template.id)]) await board(id);
    expect(service.counters.db.requests - requests).toBe(1 + TEMPLATES.length);
    expect(await digests()).toEqual(before);
    expect(await publicBoard()).toEqual(shown);
    expect(Object.keys(before)).toContain("board_entries");
  });

  it("of more than 5,000 rows ranks the first 5,000 anew, and says so", async () => {
    const [first, last] = [await addAgent(true), await addAgent(true)];
    const common = { domain: "planning", period: "all", tier: 0, runs: 4, listed: true, verified: true };
    const axes = weigh([1000, 1000, 1000, 1000, 1000]);
    await addEntry({ ...common, id: first, composite: 60, axes });
    await addEntry({ ...common, id: last, composite: 40, axes });
    // As a replica does, without looking for the agents of so many rows.
    await service.sql(`begin; set local session_replication_role = replica;
      insert into board_entries select uuidv7(), domain, period, tier, 50, score_variance, success_rate, reliability,
        cost_efficiency, 0.5, 0.5, 0.5, 0.5, 0.5, runs, tasks, last_run_at, listed, verified
      from board_entries, generate_series(1, ${RANKED_ROWS}) where agent_id = '${first}';
      update board_totals set listed = listed + ${RANKED_ROWS} where domain = 'planning'; commit`);
    // As the server's own upkeep does after so many rows.
    await service.sql("analyze board_entries");
    const { items, total, total_is_capped } = await board(scorecard, "&domain=planning");
    expect(items.map(ownColumns)).toEqual([{ agent_id: first, rank: 1, scorecard_score: 100, missing_axes: [] }]);
    expect([total, total_is_capped]).toEqual([5000, true]);
    expect((await board(scorecard)).total_is_capped).toBeUndefined();
  });
});
