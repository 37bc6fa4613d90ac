import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  addForgottenSessions,
  addOldRows,
  addScoredAgents,
  dailyStates,
  IN_ONE_PART,
  oldRows,
} from "./daily-support.ts";
import { addAgent, addRun, addSuite, deliver, quietQueueClient, range, startAgent } from "../runs/support.ts";

const HOUR = 3_600_000;
/** Two pieces and a bit. */
const AGENTS = 450;
const RECOMPUTE = "recompute, part 1 of 4";

let service: TestService;
let owner: User;
let task: string;
let time = Date.parse("2026-11-21T03:17:00Z");

const night = () => service.app.scheduled(DAILY);
const REFUSED = "The database refused a statement (SQLSTATE P0001).";
const steppedOver = () =>
  service.logs.map((line) => JSON.parse(line)).filter(({ message }) => message.startsWith("stepped over"));
const state = async (name: string) => (await dailyStates(service)).get(name);
const at = () => new Date(time).toISOString();

beforeAll(async () => {
  quietQueueClient();
  service = await startService({ overrides: { now: () => new Date(time) } });
  owner = await newUser(service, { plan: "enterprise" });
  await service.sql("update tasks set is_active = false");
  const { tasks } = await addSuite(service, 1, { slug: "core" });
  task = tasks[0] ?? "";
  await addScoredAgents(service, owner.id, task, AGENTS, night, IN_ONE_PART);
});

beforeEach(() => {
  time += 24 * HOUR;
  service.logs.length = 0;
});

afterAll(() => service.stop());

type Hindrance = "fail" | "deadlock" | "wait";

/** Has changes of rows of a table that the condition names fail or wait, those of some kinds; returns what ends it. */
async function hinder(
  table: string,
  condition: string,
  how: Hindrance,
  kinds = "insert or delete",
): Promise<() => Promise<void>> {
  const action = {
    fail: "raise exception 'refused'",
    deadlock: "raise exception 'refused' using errcode = '40P01'",
    wait: "while exists (select from gate) loop perform pg_sleep(0.02); end loop",
  };
  await service.sql("create table gate (id integer); insert into gate values (1)");
  await service.sql(`create function hinder() returns trigger language plpgsql as $$
    declare r record := coalesce(new, old); begin if ${condition} then ${action[how]}; end if; return r; end $$`);
  await service.sql(`create trigger hinder before ${kinds} on ${table} for each row execute function hinder()`);
  return async () => {
    await service.sql(`delete from gate`);
    await service.sql(`drop trigger hinder on ${table}; drop function hinder; drop table gate`);
  };
}

describe("an item of the daily work", () => {
  it("that hangs holds no other up, and is done once it is let go", async () => {
    await addOldRows(service, owner.id, 1);
    const letGo = await hinder("email_tokens", "true", "wait");
    const done = night();
    await vi.waitFor(async () => {
      const states = [...(await dailyStates(service)).values()];
      expect(states.filter(({ last_success_at }) => last_success_at !== at()).map(({ name }) => name)).toEqual([
        "forget mailed tokens",
      ]);
    }, 10_000);
    await letGo();
    await done;
    expect(await state("forget mailed tokens")).toMatchObject({ last_success_at: at(), last_error: null });
  });

  it("that fails says so, holds no other up, is tried again, given up, and begins anew the next night", async () => {
    const before = at();
    await night();
    time += 24 * HOUR;
    await addOldRows(service, owner.id, 1);
    const mend = await hinder("email_tokens", "true", "fail");
    await night();
    const failed = { last_success_at: before, last_error: "The database refused a statement (SQLSTATE P0001)." };
    const states = [...(await dailyStates(service)).values()];
    expect(states.filter(({ last_error: error }) => error !== null)).toEqual([
      { name: "forget mailed tokens", is_late: false, ...failed },
    ]);
    expect(await oldRows(service)).toEqual({ keys: 0, events: 0, sessions: 0, devices: 0, tokens: 1 });
    await service.broker.advance(2 * HOUR);
    expect(service.logs.filter((line) => line.includes("delivery failed"))).toHaveLength(4);
    expect(service.logs.filter((line) => line.includes("message died"))).toHaveLength(1);
    await mend();
    await service.broker.advance(2 * HOUR);
    expect(await state("forget mailed tokens"), "nothing is left of that night").toMatchObject(failed);
    time += 24 * HOUR;
    await night();
    expect(await state("forget mailed tokens")).toMatchObject({ last_success_at: at(), last_error: null });
  });

  it("goes on where it failed", async () => {
    const [poison] = await service.sql<{ id: string }>("select agent_id as id from task_scores order by 1 offset 300");
    await service.sql("delete from board_entries where agent_id = $1", [poison?.id]);
    const mend = await hinder("board_entries", `r.agent_id = '${poison?.id}'`, "deadlock");
    const pieces = () =>
      service.logs
        .filter((line) => line.includes('"recomputed"'))
        .map((line) => JSON.parse(line) as { agents: number });
    await night();
    expect(pieces().map(({ agents }) => agents)).toEqual([200]);
    expect((await state(RECOMPUTE))?.last_error).toContain("40P01");
    await mend();
    await service.broker.advance(60_000);
    expect(pieces()).toMatchObject([
      { agents: 200, differed: 0 },
      { agents: 200, differed: 1 },
      { agents: 50, differed: 0 },
    ]);
    expect(await state(RECOMPUTE)).toMatchObject({ last_success_at: at(), last_error: null });
  });

  it("steps over an agent that the database always refuses, names it, and recomputes all others", async () => {
    const before = (await state(RECOMPUTE))?.last_success_at;
    const ids = await service.sql<{ id: string }>("select distinct agent_id as id from task_scores order by 1");
    const [poison, ...others] = [300, 0, 299, 301, AGENTS - 1].map((place) => ids[place]?.id);
    await service.sql("delete from board_entries where agent_id = any($1)", [[poison, ...others]]);
    const mend = await hinder("board_entries", `r.agent_id = '${poison}'`, "fail");
    for (const _night of range(2)) {
      service.logs.length = 0;
      await night();
      expect(steppedOver()).toEqual([expect.objectContaining({ agent_id: poison, level: "error" })]);
      expect(steppedOver()[0]?.detail).toContain("P0001");
      const missing = await service.sql(
        "select id from agents where user_id = $1 and id not in (select agent_id from board_entries)",
        [owner.id],
      );
      expect(missing).toEqual([{ id: poison }]);
      expect(await state(RECOMPUTE)).toMatchObject({ last_success_at: before, last_error: REFUSED });
      time += 24 * HOUR;
    }
    expect(service.logs.filter((line) => line.includes('"recomputed"')).length, "narrowing it down").toBeLessThan(30);
    await mend();
    await night();
    expect(await state(RECOMPUTE)).toMatchObject({ last_success_at: at(), last_error: null });
  });

  it.each([
    [
      "keep the board's day",
      "board_scores",
      "agent_id",
      "select count(*)::integer as n from board_scores where day = $1",
    ],
    [
      "expire certifications",
      "certifications",
      "id",
      "select count(*)::integer as n from certifications where status = 'expired' and updated_at::date = $1",
    ],
    [
      "tell of certifications that end",
      "notices",
      "about",
      "select count(*)::integer as n from notices where created_at >= $1::date - 100000",
    ],
  ])("steps over what the database always refuses, one out of 450: %s", async (name, table, column, count) => {
    const [from, until] = name === "expire certifications" ? [-2, -1] : [5, 6];
    await service.sql("delete from notices");
    await service.sql("delete from certifications");
    await service.sql("update users set muted_notices = '{certification_expiry}' where id = $1", [owner.id]);
    const certified = await service.sql<{ id: string; agent_id: string }>(
      `insert into certifications (agent_id, user_id, status, price_usd, eu_waiver_at, issued_at, jws, kid, expires_at)
       select id, user_id, 'certified', 39, now(), now(), 'signed ' || id, 'k', $2::timestamptz + random() * ($3::timestamptz - $2) from agents
       where user_id = $1 order by id returning id, agent_id`,
      [owner.id, ...[from, until].map((days) => new Date(time + days * 24 * HOUR).toISOString())],
    );
    const poison = certified[300];
    const id = { agent_id: poison?.agent_id, id: poison?.id, about: `${poison?.id}:14` }[column];
    const mend = await hinder(table, `r.${column}::text = '${id}'`, "fail", "insert or update");
    await night();
    const named = table === "board_scores" ? { agent_id: poison?.agent_id } : { certification_id: poison?.id };
    expect(steppedOver()).toEqual([expect.objectContaining(named)]);
    expect(await service.sql(count, [at().slice(0, 10)])).toEqual([{ n: AGENTS - 1 }]);
    expect((await state(name))?.last_error).toBe(REFUSED);
    await mend();
    await service.sql("delete from certifications");
  });

  it("settles all forgotten sessions but the one that fails, which the log names", async () => {
    const sessions = await addForgottenSessions(service, owner.id, task, 12);
    const poison = sessions[6];
    const mend = await hinder(
      "held_results",
      `(select screening_session_id = '${poison}' from runs where id = r.run_id)`,
      "fail",
    );
    await night();
    const failed = service.logs.map((line) => JSON.parse(line)).filter(({ screening_session_id: id }) => id === poison);
    expect(failed).toEqual([expect.objectContaining({ level: "error", message: "session not settled" })]);
    expect(failed[0]?.detail).toContain("P0001");
    expect(await service.sql("select count(*)::integer as n from held_results")).toEqual([{ n: 1 }]);
    expect((await state("settle sessions"))?.last_error).toBe(REFUSED);
    await mend();
    await night();
    expect(await state("settle sessions")).toMatchObject({ last_success_at: at(), last_error: null });
  });

  it("is done the same when every message comes twice and the trigger several times at once", async () => {
    await addOldRows(service, owner.id, 11_000);
    await service.sql("delete from board_entries where agent_id in (select agent_id from task_scores limit 250)");
    service.broker.setChaos({ duplicate: true });
    await Promise.all(range(3).map(night));
    service.broker.setChaos({ duplicate: false });
    const states = [...(await dailyStates(service)).values()];
    expect(states.filter(({ last_success_at: done, last_error }) => done !== at() || last_error !== null)).toEqual([]);
    expect(await oldRows(service)).toEqual({ keys: 0, events: 0, sessions: 0, devices: 0, tokens: 0 });
    expect(await service.sql("select distinct listed::integer from board_totals where listed > 0")).toEqual([
      { listed: AGENTS },
    ]);
    expect(await service.sql("select count(*)::integer as n from board_entries where domain = 'all'")).toEqual([
      { n: AGENTS },
    ]);
    await service.settled();
    expect(await service.sql("select from outbox where consumer = 'daily'"), "none is owed for good").toEqual([]);
  });

  it("does nothing on a message that comes when its turn is over, at the end of the night too", async () => {
    service.faults.set({ service: "qstash", mode: "down" });
    await night();
    service.faults.set({ service: "qstash", mode: "none" });
    const [owed] = await service.sql<{ body: object }>(
      "select body from outbox where consumer = 'daily' and body ->> 'name' = $1",
      [RECOMPUTE],
    );
    expect((await state(RECOMPUTE))?.last_success_at, "nothing is done while the queue is down").not.toBe(at());
    const summedUp = () => service.logs.filter((line) => line.includes('"recomputed"')).length;
    for (const _time of range(3)) expect(await deliver(service, "daily", owed?.body ?? {})).toBe(200);
    expect([summedUp(), (await state(RECOMPUTE))?.last_success_at]).toEqual([3, at()]);
    await service.sql("delete from outbox where consumer = 'daily'");
  });
});

describe("summing up anew", () => {
  it("loses nothing of a run that ends after the sum was made and before it is stored", async () => {
    const endpoint = await startAgent();
    const tester = await newUser(service, { plan: "enterprise" });
    const agent = await addAgent(tester, { endpoint: endpoint.url });
    await addRun(tester, agent, task);
    await service.settled();
    await service.sql("update task_scores set n = 5 where agent_id = $1", [agent]);
    const letGo = await hinder("task_scores", `r.agent_id = '${agent}' and r.n = 1`, "wait");
    const done = night();
    await vi.waitFor(async () => expect(await waiting("PgSleep")).toBe(1), 10_000);
    const run = await addRun(tester, agent, task);
    await vi.waitFor(async () => {
      const [{ status } = { status: "" }] = await service.sql<{ status: string }>(
        "select status from runs where id = $1",
        [run],
      );
      if (status !== "completed") expect(await waiting("transactionid")).toBe(1);
    }, 10_000);
    await letGo();
    await done;
    await service.settled();
    const cells = await service.sql("select period, n, c from task_scores where agent_id = $1 order by 1", [agent]);
    expect(cells).toEqual(["30d", "7d", "all"].map((period) => ({ period, n: 2, c: 2 })));
    const entries = await service.sql("select distinct runs from board_entries where agent_id = $1", [agent]);
    expect(entries).toEqual([{ runs: 2 }]);
    await endpoint.stop();
  });
});

/** How many statements wait for this in the service's database. */
async function waiting(event: string): Promise<number> {
  const rows = await service.sql(
    "select from pg_stat_activity where datname = current_database() and wait_event = $1 and state = 'active'",
    [event],
  );
  return rows.length;
}
