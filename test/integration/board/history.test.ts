import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAILY, EVERY_MINUTE } from "../../../functions/scheduled.ts";
import { keepDay } from "../../../shared/board/keep-day.ts";
import { canonicalBytes } from "../../../shared/platform/canonical.ts";
import { type Handler, json } from "../../stack/http.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { dailyStates } from "../operations/daily-support.ts";
import { contextOf } from "../runs/run-events-support.ts";
import { addAgent, addSuite, answersRightly, range, startAgent, type TestSuite } from "../runs/support.ts";

const DAY_MS = 86_400_000;
const HISTORY = "/api/v1/leaderboard/history";

interface DayRow {
  agent_id: string;
  rank: number;
  composite_score: number;
  runs: number;
}

let service: TestService;
let owner: User;
let anonymous: Caller;
let endpoint: Consumer;
let core: TestSuite;
let time = Date.parse("2026-11-22T03:17:00Z");

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(time) } });
  owner = await newUser(service, { plan: "enterprise" });
  anonymous = caller(service);
  endpoint = await startAgent();
  await service.sql("update tasks set is_active = false");
  core = await addSuite(service, 3, { slug: "core" });
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

const today = () => new Date(time).toISOString().slice(0, 10);
const sha256 = (bytes: string | Buffer) => createHash("sha256").update(bytes).digest("hex");

/** The log's entries of a kind, in their order. */
async function said(kind: string): Promise<Record<string, unknown>[]> {
  const rows = await service.sql<{ entry: string }>(
    "select convert_from(entry, 'UTF8') as entry from log_entries order by id",
  );
  return rows
    .map(({ entry }) => JSON.parse(entry) as Record<string, unknown>)
    .filter((entry) => entry["kind"] === kind);
}

/** A later night, in which the daily work is done; the owner signs in anew. */
async function night(days: number): Promise<void> {
  time += days * DAY_MS;
  await service.app.scheduled(DAILY);
  expect((await dailyStates(service)).get("keep the board's day")).toMatchObject({ last_error: null });
  const { body } = await anonymous.call("POST", "/api/v1/auth/login", { email: owner.email, password: PASSWORD });
  owner = { ...owner, ...caller(service, { authorization: `Bearer ${body.access_token}` }) };
}

async function screen(agent: string, task_ids: string[], answer: Handler = answersRightly): Promise<void> {
  endpoint.answer = answer;
  const { status, text } = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, task_ids });
  expect(status, text).toBe(200);
  await service.settled();
}

const wrong: Handler = () => json(200, { output: "no" });
const history = (who: Caller, agent: string, query = "") => who.call("GET", `/api/v1/agents/${agent}/history${query}`);

describe("an agent's history", () => {
  let agent: string;
  let better: string;
  let provisional: string;
  const live = () => addAgent(owner, { endpoint: endpoint.url });

  it("has today as it is now, and earlier days as the nights found them, newest first", async () => {
    [agent, better, provisional] = [await live(), await live(), await live()];
    expect((await history(anonymous, agent)).body).toEqual({ items: [] });
    await screen(agent, core.tasks, wrong);
    await screen(provisional, core.tasks.slice(0, 1));
    const { body: now } = await anonymous.call("GET", `/api/v1/agents/${agent}`);
    const { composite_score, score_low, score_high } = now;
    const first = { composite_score, score_low, score_high, rank: 1, runs: 3, score_basis: "core", simulated: false };
    service.counters.reset();
    expect((await history(anonymous, agent)).body).toEqual({ items: [{ day: today(), ...first }] });
    expect(service.counters.snapshot().db.requests).toBe(1);

    await night(0);
    const firstDay = today();
    await screen(better, core.tasks);
    expect((await history(anonymous, agent)).body.items, "today is not what the night found").toEqual([
      { day: today(), ...first, rank: 2 },
    ]);
    await night(1);
    await screen(agent, core.tasks);
    const { items } = (await history(anonymous, agent)).body;
    expect(items).toEqual([
      {
        ...first,
        day: today(),
        composite_score: expect.any(Number),
        score_low: expect.any(Number),
        score_high: expect.any(Number),
        rank: 2,
        runs: 6,
      },
      { ...first, day: firstDay },
    ]);
    expect(items[0].composite_score).toBeGreaterThan(composite_score);
    expect((await history(anonymous, provisional)).body.items).toMatchObject([
      { day: today(), rank: null, score_basis: "provisional" },
      { day: firstDay, rank: null, runs: 1 },
    ]);
  });

  it("can be narrowed to the last 7 or 30 days", async () => {
    const days = async (query: string) =>
      (await history(anonymous, agent, query)).body.items.map(({ day }: { day: string }) => day);
    const [second, first] = await days("");
    await night(6);
    expect(await days("?period=7d")).toEqual([today(), second]);
    expect(await days("")).toEqual([today(), second, first]);
    await night(22);
    expect((await days("?period=30d")).length).toBe(4);
    await night(2);
    expect((await days("?period=30d")).at(-1)).not.toBe(first);
    expect((await history(anonymous, agent, "?period=1d")).body.errors).toMatchObject([{ pointer: "/period" }]);
  });

  it("is hidden with its agent", async () => {
    await owner.call("PATCH", `/api/v1/agents/${agent}`, { is_public: false });
    expect((await history(anonymous, agent)).status).toBe(404);
    expect((await history(owner, agent)).body.items).toMatchObject([{ rank: null }, {}, {}, {}, {}]);
    await owner.call("PATCH", `/api/v1/agents/${agent}`, { is_public: true });
  });
});

describe("the board of a day", () => {
  const read = (day: string, headers = {}) => anonymous.call("GET", `${HISTORY}/${day}`, undefined, headers);

  it("is served as the bytes that the log has the digest of, for good", async () => {
    const entries = await said("board");
    expect(entries.map(({ day }) => day)).toContain(today());
    for (const { day, sha256: digest } of entries) {
      const { status, text, headers } = await read(String(day));
      expect([status, sha256(text)]).toEqual([200, digest]);
      expect(canonicalBytes(JSON.parse(text)).toString()).toBe(text);
      expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    }
    const { body, headers } = await read(today());
    const { items: shown } = (await anonymous.call("GET", "/api/v1/leaderboard")).body;
    const kept = ({
      agent_id,
      composite_score,
      rank,
      runs,
      score_high,
      score_low,
      tasks,
    }: Record<string, unknown>) => ({
      agent_id,
      composite_score,
      rank,
      runs,
      score_high,
      score_low,
      tasks,
    });
    expect(body).toEqual({
      day: today(),
      items: shown.filter(({ rank }: { rank: number | null }) => rank !== null).map(kept),
    });
    expect(body.items.length).toBe(2);
    expect((await read(today(), { "if-none-match": headers.get("etag") })).status).toBe(304);
  });

  it("does not change when the daily work is done again", async () => {
    const [before, entries] = [await read(today()), await said("board")];
    await screen(await addAgent(owner, { endpoint: endpoint.url }), core.tasks);
    await night(0);
    expect((await read(today())).text).toBe(before.text);
    expect(await said("board")).toEqual(entries);
  });

  it("is not there for a day that was not kept, and none for what is no day", async () => {
    for (const day of ["2020-02-29", "0000-01-01", "9999-12-31"]) expect((await read(day)).status).toBe(404);
    expect((await read("2026-02-30")).status).toBe(422);
    expect((await read("yesterday")).status).toBe(422);
  });

  it("of thousands has each agent at one place, however the messages come and whatever moves meanwhile", async () => {
    const count = 6000;
    await service.sql(
      `with a as (
        insert into agents (user_id, name, connection_mode) select $1, 'Ranked ' || n, 'mock'
        from generate_series(1, $2::integer) n returning id
      ) insert into board_entries (agent_id, domain, period, tier, composite_score, score_variance, success_rate, reliability,
        cost_efficiency, correctness, robustness, runs, tasks, last_run_at, listed, verified)
      select id, 'all', 'all', 0, round((random() * 100)::numeric, 1), 0, 0, 0, 0, 0, 0, random() * 3, 3, now(), true, false from a`,
      [owner.id, count],
    );
    service.broker.setChaos({ duplicate: true });
    const moving = range(40).map(() =>
      service.sql(`update board_entries set composite_score = round((random() * 100)::numeric, 1)
        where agent_id in (select id from agents where name like 'Ranked %' order by random() limit 50)`),
    );
    time += DAY_MS;
    await Promise.all([...range(3).map(() => service.app.scheduled(DAILY)), ...moving]);
    service.broker.setChaos({ duplicate: false });
    const { text } = await read(today());
    expect(await said("board")).toContainEqual({ kind: "board", day: today(), sha256: sha256(text) });
    const { items } = JSON.parse(text) as { items: DayRow[] };
    expect(items.length).toBeGreaterThanOrEqual(count);
    expect(new Set(items.map(({ agent_id }) => agent_id)).size).toBe(items.length);
    expect(items.map(({ rank }) => rank)).toEqual(items.map((_row, index) => index + 1));
    const inOrder = (a: DayRow, b: DayRow) =>
      b.composite_score - a.composite_score || b.runs - a.runs || (a.agent_id < b.agent_id ? -1 : 1);
    expect(items.toSorted(inOrder)).toEqual(items);
    const ranks = await service.sql<DayRow>(
      "select agent_id, rank from board_scores where day = $1 and is_ranked order by rank",
      [today()],
    );
    expect(ranks).toEqual(items.map(({ agent_id, rank }) => ({ agent_id, rank })));
  });
});

describe("what is kept of days", () => {
  it("is every day for 92 days, and the Mondays of all time, of however many agents; boards stay as they were", async () => {
    const published = await said("board");
    // Of the thousands more are thinned than a piece does.
    const scores = `insert into board_scores (agent_id, day, tier, composite_score, score_low, score_high, runs, tasks, is_ranked)
      select a.id, d.day, 0, 50, 40, 60, 1, 1, false from agents a, board_days d
      where d.day between $1::date - 99 and $1::date - 85 on conflict do nothing`;
    await service.sql(
      `insert into board_days (day, closed_at) select $1::date - n, now() from generate_series(85, 99) n on conflict do nothing`,
      [today()],
    );
    await service.sql(scores, [today()]);
    const [before] = await service.sql<{ agents: number }>("select count(*)::integer as agents from agents");
    expect(before?.agents).toBeGreaterThan(5000);
    await night(0);
    const kept = await service.sql<{ ago: number; monday: boolean; agents: number }>(
      `select $1::date - day as ago, extract(isodow from day) = 1 as monday, count(*)::integer as agents from board_scores
       where day between $1::date - 99 and $1::date - 85 group by day order by day desc`,
      [today()],
    );
    const days = range(15).map((n) => 85 + n);
    const isMonday = (ago: number) => new Date(time - ago * DAY_MS).getUTCDay() === 1;
    expect(days.filter((ago) => ago >= 92 && isMonday(ago))).toHaveLength(1);
    expect(kept).toEqual(
      days
        .filter((ago) => ago < 92 || isMonday(ago))
        .map((ago) => ({ ago, monday: isMonday(ago), agents: before?.agents })),
    );
    expect(await said("board")).toEqual(published);
    for (const { day, sha256: digest } of published)
      expect(sha256((await anonymous.call("GET", `${HISTORY}/${String(day)}`)).text)).toBe(digest);
  });
});

describe("a day whose copying broke off and went on a night later", () => {
  it("is not kept, since what was left of it has moved, and the day that has come by then is", async () => {
    const left = today();
    const broken = new Date(time + DAY_MS).toISOString().slice(0, 10);
    await service.sql("insert into board_days (day) values ($1)", [broken]);
    await service.sql("update daily_work set cursor = $1 where name = 'keep the board''s day'", [`${broken} after`]);
    await night(2);
    const days = (await said("board")).map(({ day }) => day);
    expect(days.slice(days.indexOf(left))).toEqual([left, today()]);
    expect((await anonymous.call("GET", `${HISTORY}/${broken}`)).status).toBe(404);
  });
});

describe("publishing the board of very many agents", () => {
  it("hashes a page at a time, none of which has more than 5,000 agents, and none of all in the database", async () => {
    const [day, pages] = ["2026-01-05", 12];
    await service.sql("insert into board_days (day, closed_at) values ($1, now())", [day]);
    await service.sql(
      `insert into board_pages (day, page, entries, body) select $1::date, n, 5000, repeat('{"page":' || n || '},', 60000) || '{}'
       from generate_series(0, $2::integer - 1) n`,
      [day, pages],
    );
    const ctx = contextOf(service, () => new Date(time));
    const cursors: string[] = [];
    for (let next: string | null = `${day} rank`; next !== null; cursors.push(next ?? "")) {
      const before = service.counters.db.requests;
      ({ next } = await keepDay(ctx, next));
      expect(service.counters.db.requests - before).toBeLessThanOrEqual(2);
    }
    expect(cursors).toHaveLength(pages + 1);
    expect(Math.max(...cursors.map((cursor) => cursor.length))).toBeLessThan(200);
    const { text } = await anonymous.call("GET", `${HISTORY}/${day}`);
    expect(text.length).toBeGreaterThan(pages * 600_000);
    expect(await said("board")).toContainEqual({ kind: "board", day, sha256: sha256(text) });
    // A piece that comes again, or late, says nothing new.
    const entries = await said("board");
    await Promise.all(
      cursors
        .slice(-4)
        .filter(Boolean)
        .map((cursor) => keepDay(ctx, cursor)),
    );
    expect(await said("board")).toEqual(entries);
  });
});

describe("what a suite consists of", () => {
  const minute = () => service.app.scheduled(EVERY_MINUTE);

  /** The digest as anybody makes it of public reads. */
  async function digest(suite: string): Promise<string> {
    time += 11_000;
    const tasks: { id: string; suite_id: string }[] = [];
    for (let page = 1, total = 1; tasks.length < total; page += 1) {
      const { body } = await anonymous.call("GET", `/api/v1/tasks?page_size=100&page=${page}`);
      tasks.push(...body.items);
      total = body.total;
    }
    const own = tasks.filter(({ suite_id: id }) => id === suite).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    return sha256(canonicalBytes(own));
  }

  it("is in the log within a minute of each change, once, by a digest over its tasks' public form", async () => {
    for (const _minute of range(3)) await minute();
    const entry = async (suite_version: number) => ({
      kind: "suite",
      suite_id: core.id,
      suite_version,
      sha256: await digest(core.id),
    });
    const known = await said("suite");
    const [suites] = await service.sql<{ n: number }>("select count(*)::integer as n from suites");
    expect(known.length).toBe(suites?.n);
    expect(known).toContainEqual(await entry(1));
    service.counters.reset();
    await minute();
    expect(await said("suite"), "a minute without a change").toEqual(known);
    const changes: [text: string, id: string | undefined, version: number][] = [
      ["update tasks set is_active = false where id = $1", core.tasks[0], 1],
      ["update tasks set reference_cost_usd = 0.5 where id = $1", core.tasks[1], 1],
      ["update suites set version = 2 where id = $1", core.id, 2],
      ["update tasks set suite_version = 2 where suite_id = $1", core.id, 2],
    ];
    for (const [text, id, version] of changes) {
      await service.sql(text, [id]);
      const before = await said("suite");
      await Promise.all(range(3).map(minute));
      expect((await said("suite")).slice(before.length)).toEqual([await entry(version)]);
    }
  });
});
