import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { createService } from "../../../functions/service.ts";
import { KEPT } from "../../../migrations/kept.ts";
import { migrate } from "../../../migrations/migrate.ts";
import { DELIVERIES } from "../../../queues/index.ts";
import { bytea } from "../../../shared/db/bytes.ts";
import { inSeries, kept, writeKept, writeSeries } from "../../../shared/db/kept.ts";
import type { Context } from "../../../shared/platform/context.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { type Recorder, startRecorder } from "../http/plans-support.ts";
import { subscribe } from "../webhooks/support.ts";
import {
  addAgent,
  addRun,
  addSuite,
  answersRightly,
  callbackIn,
  deliver,
  KEY,
  startAgent,
  type TestSuite,
} from "../runs/support.ts";
import { connect, NAMES } from "./kept-support.ts";

let service: TestService;
let recorder: Recorder;
let endpoint: Consumer;
let owner: User;
let suite: TestSuite;
let ctx: Context;

/** These functions, and those that they call. */
function withCalled(names: readonly string[]): string[] {
  const called = KEPT.filter(({ name }) => names.includes(name)).flatMap(({ definition }) =>
    NAMES.filter((name) => definition.includes(name)),
  );
  return [...new Set(called)].toSorted();
}

beforeAll(async () => {
  recorder = await startRecorder();
  service = await startService({ settings: { NEON_LOCAL_PROXY: recorder.url } });
  endpoint = await startAgent(answersRightly);
  owner = await newUser(service, { plan: "enterprise" });
  suite = await addSuite(service, 3);
  ctx = createService(service.settings, DELIVERIES, { log: () => undefined }).context({
    requestId: "test",
    addressHash: null,
    defer: () => undefined,
  });
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
  await recorder.close();
});

const functions = () =>
  service.sql<{ name: string; oid: number }>(
    String.raw`select proname as name, oid from pg_proc where proname like 'kept\_%' order by 1`,
  );

const names = async () => (await functions()).map(({ name }) => name);

/** Screens a new agent, and returns what the database says of it, without ids and times. */
async function screened(): Promise<{ found: unknown; statements: string[] }> {
  recorder.statements.length = 0;
  const agent_id = await addAgent(owner, { endpoint: endpoint.url });
  await owner.call("POST", "/api/v1/runs/batch", { agent_id, suite_id: suite.id, repeats: 2 });
  await service.settled();
  const statements = recorder.statements.map(({ query }) => query);
  const [row] = await service.sql<{ found: { runs: unknown[]; cells: unknown[] } }>(
    `select jsonb_build_object(
      'runs', (select jsonb_agg(jsonb_build_array(r.status, r.passed, r.correctness, r.counted, r.evidence_signed, r.attempt,
          r.total_cost_usd, r.axes - 'latency', e.answer, (select jsonb_agg(p.phase order by p.sequence) from run_phases p where p.run_id = r.id))
          order by r.position, r.repeat_index) from runs r join run_exchanges e on e.run_id = r.id where r.agent_id = $1),
      'cells', (select jsonb_agg(to_jsonb(s) - '{agent_id,task_id,latency,last_run_at}'::text[] order by s.task_id, s.period)
          from task_scores s where s.agent_id = $1),
      'boards', (select jsonb_agg(jsonb_build_array(b.domain, b.period, b.tier, b.composite_score, b.runs, b.score_low)
          order by b.domain, b.period) from board_entries b where b.agent_id = $1),
      'owed', (select count(*) from outbox)) as found`,
    [agent_id],
  );
  expect([row?.found.runs.length, row?.found.cells.length]).toEqual([6, 9]);
  return { found: row?.found, statements };
}

/** Has an agent report on a run by callback, and returns what the database says of it. */
async function reported(): Promise<{ found: unknown; statements: string[] }> {
  recorder.statements.length = 0;
  const later = await startAgent(() => ({ status: 202 }));
  try {
    const run = await addRun(owner, await addAgent(owner, { endpoint: later.url }), suite.tasks[0] ?? "");
    await service.settled();
    const { runId, token } = callbackIn(later.seen.at(-1)?.body);
    const body = { status: "completed", output: KEY };
    const by = { authorization: `Bearer ${token}` };
    expect((await caller(service).call("PATCH", `/api/v1/runs/${runId}`, body, by)).status).toBe(200);
    await service.settled();
    const [found] = await service.sql(
      `select r.status, r.passed, r.total_cost_usd, r.callback_hash, r.awaiting_callback, r.latency_ms > 0 as took_time, e.answer,
        convert_from(e.response, 'utf8') as response,
        (select jsonb_agg(jsonb_build_array(p.phase, p.outcome, p.metadata) order by p.sequence)
          from run_phases p where p.run_id = r.id and p.phase <> 'evidence_signed') as facts
      from runs r join run_exchanges e on e.run_id = r.id where r.id = $1`,
      [run],
    );
    expect(found).toMatchObject({ status: "completed", passed: true, callback_hash: null, awaiting_callback: false });
    return { found, statements: recorder.statements.map(({ query }) => query) };
  } finally {
    await later.stop();
  }
}

/** Settles a session that holds nothing back, and returns the statements. */
async function settled(): Promise<string[]> {
  recorder.statements.length = 0;
  expect(await deliver(service, "settle", { screening_session_id: randomUUID() })).toBe(200);
  return recorder.statements.map(({ query }) => query);
}

const calledBy = (statements: readonly string[]) =>
  [...new Set(statements.flatMap((query) => [...query.matchAll(/\bkept_\w+/g)].map(([name]) => name)))].toSorted();

describe("the statements of a run, and of the webhooks that tell of it,", () => {
  it("are each sent as a call of a function that the database has", async () => {
    expect(await names()).toEqual(NAMES);
    await subscribe(owner, endpoint.url);
    const { statements } = await screened();
    const told = await reported();
    const all = [...statements, ...told.statements, ...(await settled())];
    expect(withCalled(calledBy(all))).toEqual(NAMES);
    expect(statements.filter((query) => query.includes("claimed as (") || query.includes("open_calls"))).toEqual([]);
  });

  it("go as they are to a database that has not kept them, and come to the same", async () => {
    const told = await reported();
    const { found } = await screened();
    await service.sql(NAMES.map((name) => `drop function ${name}`).join("; "));
    const { found: without, statements } = await screened();
    expect(without).toEqual(found);
    expect((await reported()).found).toEqual(told.found);
    expect((await settled()).filter((query) => query.includes("told as ("))).toHaveLength(1);
    expect(statements.filter((query) => query.includes("claimed as (")).length).toBeGreaterThan(0);
  });

  it("are kept by the next migration, which removes what nobody sends any more; another one changes nothing", async () => {
    await service.sql(
      "create or replace function kept_claim_000000000000() returns jsonb language sql return null::jsonb",
    );
    const { url, client } = await connect(service);
    await client.end();
    await Promise.all([migrate(url), migrate(url)]);
    const after = await functions();
    expect(after.map(({ name }) => name)).toEqual(NAMES);
    await migrate(url);
    expect(await functions()).toEqual(after);
  });
});

describe("a kept statement", () => {
  const ODD = `it's "odd" \\ %I $1 $$ $kept$ ${"ä".repeat(3)}`;
  const given = { a: "text", n: "integer", yes: "boolean", json: "jsonb", bytes: "bytea", at: "timestamptz" } as const;
  const ECHO = kept("echo", given, (value) => ({
    parts: sql`with given as (select ${ODD}::text as odd, ${7}::integer as seven)`,
    select: sql`select jsonb_build_array(odd, seven, ${value("a")}, ${value("n")}, ${value("yes")}, ${value("json")},
      encode(${value("bytes")}, 'hex'), ${value("at")} at time zone 'UTC') from given`,
  }));

  it("gets every value as it was given, kept or not", async () => {
    await service.sql(ECHO.definition);
    const text = fc.oneof(
      fc.string({ unit: "binary" }).filter((value) => !value.includes("\0") && value.isWellFormed()),
      fc.constantFrom("", "null", "'", "\\", "{}", "$1", "p_a", "$kept$", " "),
    );
    const value = fc.record({
      a: fc.option(text),
      n: fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
      yes: fc.option(fc.boolean()),
      json: fc.option(fc.dictionary(text, text)),
      bytes: fc.option(fc.uint8Array({ maxLength: 50 })),
    });
    await fc.assert(
      fc.asyncProperty(value, async ({ json, bytes, ...plain }) => {
        const at = "2026-11-22T12:34:56.789";
        const values = { ...plain, json: JSON.stringify(json), bytes: bytea(bytes), at: `${at}Z` };
        const hex = bytes === null ? null : Buffer.from(bytes).toString("hex");
        const expected = [ODD, 7, plain.a, plain.n, plain.yes, json, hex, at];
        const sendable = ECHO.with(values);
        expect(await writeKept(ctx, [sendable], z.unknown())).toEqual(expected);
        expect(await writeKept(ctx, [{ ...sendable, call: sendable.plain() }], z.unknown())).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });

  it("fails as a whole with the statements before it, and with the database's own error", async () => {
    await service.sql("create table kept_marks (n integer)");
    const mark = kept("mark", { n: "integer" }, (value) => ({
      parts: sql`with marked as (insert into kept_marks select ${value("n")} returning n)`,
      select: sql`select to_jsonb(10 / n) from marked`,
    }));
    await service.sql(mark.definition);
    const both = (n: number) => writeKept(ctx, [mark.with({ n: 5 }), mark.with({ n })], z.int());
    await expect(both(0)).rejects.toThrow("division by zero");
    expect(await service.sql("select * from kept_marks")).toEqual([]);
    expect(await both(2)).toBe(2);
    expect(await service.sql("select n from kept_marks")).toEqual([{ n: 5 }, { n: 2 }]);
  });
});

describe("a series of kept statements", () => {
  const add = kept("add", { n: "integer" }, (value) => ({
    parts: sql`with added as (insert into kept_sums select ${value("n")} returning n)`,
    select: sql`select to_jsonb(n) from added`,
  }));
  const lock = kept("lock", { n: "integer" }, (value) => ({
    parts: sql`with locked as (select n from kept_sums where n = ${value("n")} for update)`,
    select: sql`select to_jsonb(min(n)) from locked`,
  }));
  const sum = kept("sum", { over: "integer" }, (value) => ({
    parts: sql`with summed as (select sum(100 / n) as sum from kept_sums where n > ${value("over")})`,
    select: sql`select to_jsonb(sum) from summed`,
  }));
  const series = inSeries("lock_add_sum", [lock, add, sum]);
  const run = (...values: Parameters<typeof series.with>[0]) =>
    writeSeries(ctx, series.with(values), [z.int(), z.int(), z.int()]);

  beforeAll(async () => {
    await service.sql("create table kept_sums (n integer)");
    await service.sql([lock, add, sum, series].map(({ definition }) => definition).join("; "));
  });

  it.each(["kept", "not kept"])("does each statement after those before it, but those left out: %s", async (how) => {
    await service.sql("truncate kept_sums");
    if (how === "not kept") await service.sql(`alter function ${series.name} rename to another`);
    try {
      expect(await run({ n: 5 }, { n: 5 }, { over: 0 })).toEqual([null, 5, 20]);
      expect(await run({ n: 5 }, null, { over: 0 })).toEqual([5, null, 20]);
      expect(await run(null, { n: 10 }, null)).toEqual([null, 10, null]);
      expect(await run(null, null, { over: 0 })).toEqual([null, null, 30]);
    } finally {
      if (how === "not kept") await service.sql(`alter function another rename to ${series.name}`);
    }
  });

  it("is done whole or not at all, in one round trip", async () => {
    await service.sql("truncate kept_sums");
    recorder.statements.length = 0;
    await expect(run(null, { n: 0 }, { over: -1 })).rejects.toMatchObject({ cause: { message: "division by zero" } });
    expect(await service.sql("select * from kept_sums")).toEqual([]);
    expect(recorder.statements.map(({ query }) => query)).toEqual([expect.stringContaining(series.name)]);
  });

  it("sees behind a lock what those who held it have committed, as a batch does", async () => {
    await service.sql("truncate kept_sums; insert into kept_sums values (1)");
    const runs = Array.from({ length: 20 }, () => run({ n: 1 }, { n: 1 }, { over: 0 }));
    const sums = (await Promise.all(runs)).map((results) => results[2]);
    expect(sums.toSorted((a, b) => (a ?? 0) - (b ?? 0))).toEqual(
      Array.from({ length: 20 }, (_one, n) => 100 * (n + 2)),
    );
  });
});
