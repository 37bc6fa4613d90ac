import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import * as z from "zod";
import { fillWorld, growingReads } from "../../bench/world.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { createCounters } from "../../stack/counters.ts";
import { createFaults } from "../../stack/faults.ts";
import { type Listening, listen } from "../../stack/http.ts";
import { startNeonFront } from "../../stack/neon/front.ts";
import { startService, type TestService } from "../../stack/service.ts";

/** Enough that no planner reads a whole table for a page. */
const SIZE = 30_000;

/** What has so many rows in this test. */
const FILLED = ["agents", "runs", "board_entries", "screening_sessions", "webhook_deliveries", "listings"];

const Statement = z.object({ query: z.string(), params: z.array(z.unknown()) });
const Plan = z.object({
  "Node Type": z.string(),
  "Relation Name": z.string().optional(),
  get Plans() {
    return z.array(Plan).optional();
  },
});
type Plan = z.output<typeof Plan>;

const IDS = { agent: randomUUID(), team: randomUUID(), webhook: randomUUID() };

let service: TestService;
let front: Listening;
let recorder: Listening;
let owner: User;
let task: string;
let statements: z.output<typeof Statement>[];

beforeAll(async () => {
  statements = [];
  const server = `postgres://postgres:postgres@127.0.0.1:${inject("postgresPort")}`;
  front = await startNeonFront({
    resolve: (name) => `${server}/${name}`,
    faults: createFaults(),
    counters: createCounters(),
  });
  recorder = await listen(async ({ headers, body }) => {
    statements.push(Statement.parse(JSON.parse(body.toString())));
    const passed = Object.entries(headers).filter(([name]) => name.startsWith("neon-"));
    const sent = Object.fromEntries(passed.map(([name, value]) => [name, String(value)]));
    const response = await fetch(`${front.url}/sql`, { method: "POST", headers: sent, body: new Uint8Array(body) });
    return { status: response.status, headers: { "content-type": "application/json" }, body: await response.text() };
  });
  service = await startService({ settings: { NEON_LOCAL_PROXY: recorder.url } });
  owner = await newUser(service, { plan: "enterprise" });
  const { id: other } = await newUser(service);
  await fillWorld((text) => service.sql(text), { owner: owner.id, other, ...IDS }, SIZE);
  const [row] = await service.sql<{ id: string }>("select id from tasks where not is_secret order by id limit 1");
  task = row?.id ?? "";
  // The isolate learns of ended sessions first.
  await owner.call("GET", "/api/v1/auth/me");
  await service.settled();
}, 120_000);

afterAll(async () => {
  await service.stop();
  await recorder.close();
  await front.close();
});

/** The tables that a plan reads from their beginning. */
function scanned(plan: Plan): string[] {
  const own = plan["Node Type"] === "Seq Scan" ? [plan["Relation Name"] ?? ""] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(scanned)];
}

const names = Object.keys(growingReads({ owner: "", other: "", ...IDS }, "", SIZE));

it.each(names)("reads no filled table from its beginning for %s", async (name) => {
  const read = growingReads({ owner: owner.id, other: "", ...IDS }, task, SIZE)[name];
  statements.length = 0;
  const { status, text } = await (read?.by === "owner" ? owner : caller(service)).call("GET", read?.path ?? "");
  expect(status, text).toBe(200);
  const found: string[] = [];
  for (const { query, params } of statements) {
    const [row] = await service.sql<{ "QUERY PLAN": unknown }>(`explain (format json) ${query}`, params);
    const [{ Plan: plan }] = z.tuple([z.object({ Plan })]).parse(row?.["QUERY PLAN"]);
    found.push(...scanned(plan));
  }
  expect(statements).toHaveLength(1);
  expect(found.filter((table) => FILLED.includes(table))).toEqual([]);
});

it("says so where a list is not counted to its end, and goes on after what was counted", async () => {
  const last = await caller(service).call("GET", "/api/v1/runs?page=50");
  expect(last.body).toMatchObject({ total: 1000, total_is_capped: true, page: 50 });
  expect(last.body.items).toHaveLength(20);
  const link = last.headers.get("link") ?? "";
  expect([link.includes('rel="next"'), link.includes('rel="last"'), link.includes("page=49")]).toEqual([
    true,
    false,
    true,
  ]);
  const next = await caller(service).call("GET", "/api/v1/runs?page=51");
  expect(next.body.items[0].id < last.body.items.at(-1).id).toBe(true);
  const counted = await owner.call("GET", `/api/v1/runs?mine=true&status=queued`);
  expect(counted.body).toEqual({ items: [], total: 0, page: 1, page_size: 20 });
  expect(counted.headers.get("link")).toContain('rel="last"');
  const all = await owner.call("GET", `/api/v1/agents`);
  expect([all.body.total, all.body.total_is_capped]).toEqual([10, undefined]);
});

it("gives the pages of the board from either end as the whole board has them", async () => {
  const rows = await service.sql<{ agent_id: string }>(`select agent_id from board_entries
    where domain = 'all' and period = 'all' and listed order by tier, composite_score desc, runs desc, agent_id`);
  const size = 70;
  const last = Math.ceil(rows.length / size);
  expect(rows.length % size).not.toBe(0);
  for (const page of [1, 2, Math.floor(last / 2), Math.ceil(last / 2) + 1, last - 1, last, last + 1, 2 * last]) {
    const { body } = await owner.call("GET", `/api/v1/leaderboard?page=${page}&page_size=${size}`);
    const shown = body.items.map(({ agent_id, rank }: { agent_id: string; rank: number }) => [agent_id, rank]);
    const from = (page - 1) * size;
    expect([page, shown]).toEqual([
      page,
      rows.slice(from, from + size).map(({ agent_id }, index) => [agent_id, from + index + 1]),
    ]);
    expect(body.total).toBe(rows.length);
  }
});
