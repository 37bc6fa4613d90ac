import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { NEON } from "../../stack/limits.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, startAgent, type TestSuite } from "../runs/support.ts";
import { subscribe } from "../webhooks/support.ts";
import { connect, NAMES } from "./kept-support.ts";

let service: TestService;
let endpoint: Consumer;
let owner: User;
let suite: TestSuite;

beforeAll(async () => {
  service = await startService();
  endpoint = await startAgent();
  owner = await newUser(service, { plan: "enterprise" });
  suite = await addSuite(service, 3);
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

const addLive = (by = owner) => addAgent(by, { endpoint: endpoint.url });

/** A kept statement by its label, and what it is given. */
type Call = readonly [label: string, ...values: unknown[]];

/** What `end` is given of a run that nothing follows from. */
function ending(id: string | undefined): object {
  const flags = { counted: false, is_held: false, is_canary: false };
  const counts = { evidence_priced_call_count: 0, evidence_unpriced_call_count: 0, evidence_total_call_count: 0 };
  const cost = {
    evidence_cost_source: "unavailable",
    evidence_cost_partial: false,
    evidence_cost_floor_applied: false,
  };
  return { id, status: "completed", ...flags, ...cost, ...counts, facts: [] };
}

/** The function that keeps the statement of this label. */
const nameOf = (label: string) => NAMES.find((name) => new RegExp(`^kept_${label}_[0-9a-f]+$`).test(name));

/** SQL: inserts 3,000 copies of a row with other values (SQL; `n` is which copy it is). */
function copies(table: string, row: string, values: Readonly<Record<string, string>>): string {
  const others = Object.entries(values).map(([name, value]) => `'${name}', ${value}`);
  return `insert into ${table}
    select copy.* from (select to_jsonb(t) as json from ${table} t where ${row} limit 1) cross join generate_series(1, 3000) n
      cross join lateral jsonb_populate_record(null::${table}, json || jsonb_build_object(
        'id', '00000000-0000-7000-8000-' || lpad(n::text, 12, '0'), ${others.join(", ")})) as copy
    returning *`;
}

/** Makes calls one after the other and takes them back; returns those that read more than a few rows of a table. */
async function readMuch(
  client: Client,
  table: string,
  calls: readonly Call[],
): Promise<[label: string, rows: number][]> {
  const read = async () => {
    const { rows } = await client.query<{ n: number }>(
      "select (seq_tup_read + idx_tup_fetch)::integer as n from pg_stat_xact_user_tables where relname = $1",
      [table],
    );
    return rows[0]?.n ?? Number.NaN;
  };
  const reads: [string, number][] = [];
  await client.query("begin");
  try {
    for (const [label, ...values] of calls) {
      const before = await read();
      const { rows } = await client.query<{ result: { result: unknown } }>(
        `select ${nameOf(label)}(${values.map((_value, n) => `$${n + 1}`).join(", ")}) as result`,
        values,
      );
      // What does nothing reads nothing either.
      expect([null, 0], label).not.toContain(rows[0]?.result.result);
      reads.push([label, (await read()) - before]);
    }
  } finally {
    await client.query("rollback");
  }
  return reads.filter(([, rows]) => rows > 10);
}

describe("the statements that the database keeps", () => {
  it("are planned once by a connection, whatever it is cleaned of between two requests", async () => {
    const { client } = await connect(service);
    try {
      for (let n = 0; n < 2; n += 1) {
        await client.query(`select ${nameOf("claim")}(null)`);
        await client.query(NEON.reset);
      }
      const { rows } = await client.query<{ plans: number }>(
        "select count(*)::integer as plans from pg_backend_memory_contexts where name = 'CachedPlan' and ident like '%, free as (%'",
      );
      expect(rows).toEqual([{ plans: 1 }]);
    } finally {
      await client.end();
    }
  });

  it("read the rows of their run by key, however few there seemed to be when they were planned", async () => {
    await owner.call("POST", "/api/v1/runs/batch", { agent_id: await addLive(), suite_id: suite.id, repeats: 2 });
    await service.settled();
    const { client } = await connect(service);
    try {
      await client.query("analyze runs");
      const { rows } = await client.query<{ id: string; agent_id: string }>(
        copies("runs", "status in ('completed', 'failed')", {
          status: "case n % 2 when 0 then 'queued' else 'running' end",
          attempt: "0",
          answered_at: "null",
          finalized_at: "null",
          counted: "false",
          evidence_signed: "false",
        }),
      );
      const [id, agent] = [rows[1501]?.id, rows[1501]?.agent_id];
      const [lease, at] = [crypto.randomUUID(), new Date().toISOString()];
      const times = { at, sent: at, deadline: at, latency_ms: 5 };
      const bytes = { request: "\\x00", request_salt: "\\x00", response: "\\x00", response_salt: "\\x00" };
      const life: Call[] = [
        ["claim", JSON.stringify([{ run: id, lease, callback_hash: "x", epoch: "x", at }])],
        ["lock_called", JSON.stringify([id])],
        ["take_report", id, at, false, false, null, "\\x00", "\\x00", null, "[]", "x"],
        [
          "keep_answers",
          JSON.stringify([{ run: id, lease, waiting: false, ...times, ...bytes, answer: "{}", facts: [] }]),
        ],
        ["load_answered", JSON.stringify([id])],
        ["lock_agents", JSON.stringify([agent])],
        ["end", JSON.stringify([ending(id)]), at],
      ];
      expect(await readMuch(client, "runs", life)).toEqual([]);
    } finally {
      await client.query("delete from runs where status in ('queued', 'running')");
      await client.end();
    }
  });

  it("find the subscriptions of an event, and an attempt, among those of others", async () => {
    const agent_id = await addLive();
    const { id: webhook } = await subscribe(owner, endpoint.url, {
      event_types: ["run.completed", "allowance.exhausted"],
    });
    const [other, unheard] = [await newUser(service), await newUser(service, { plan: "pro" })];
    const theirs = await addLive(unheard);
    const run = await addRun(unheard, theirs, suite.tasks[0] ?? "");
    await service.settled();
    const { client } = await connect(service);
    try {
      await client.query("update runs set status = 'running', finalized_at = null where id = $1", [run]);
      await client.query("analyze webhooks, webhook_deliveries");
      await client.query(copies("webhooks", `id = '${webhook}'`, { user_id: `'${other.id}'` }));
      const [body, created_at] = ["{}", new Date().toISOString()];
      const event = { id: crypto.randomUUID(), type: "run.completed", agent_id, body, created_at };
      const held = { holder_kind: "user", holder_id: owner.id, body, created_at };
      const events = [event, { id: crypto.randomUUID(), type: "allowance.exhausted", ...held }];
      const told: Call[] = [
        ["end", JSON.stringify([ending(run)]), created_at],
        ["announce", JSON.stringify(events), created_at],
      ];
      expect(await readMuch(client, "webhooks", told)).toEqual([]);

      await client.query("insert into webhook_events (id, type, body) values ($1, 'run.completed', '{}')", [event.id]);
      await client.query(
        `insert into webhook_deliveries (webhook_id, event_id, attempt, next_attempt_at)
          select $1, $2, n, now() from generate_series(1, 3000) n`,
        [webhook, event.id],
      );
      const [lease, id] = [crypto.randomUUID(), crypto.randomUUID()];
      await client.query(
        `insert into webhook_deliveries (id, webhook_id, event_id, attempt, lease_token) values ($1, $2, $3, 0, $4)`,
        [id, webhook, event.id, lease],
      );
      const success = { id, lease, status: 200, duration_ms: 5, excerpt: "", sent_at: created_at };
      const recorded: Call[] = [["record_successes", JSON.stringify([success])]];
      expect(await readMuch(client, "webhook_deliveries", recorded)).toEqual([]);
    } finally {
      await client.query("delete from webhook_events");
      await client.query("delete from webhooks where id = $1 or user_id = $2", [webhook, other.id]);
      await client.end();
    }
  });
});
