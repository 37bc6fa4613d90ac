import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { forgetAllowances } from "../../../shared/allowances/forget.ts";
import { forgetProviderEvents } from "../../../shared/billing/forget.ts";
import { rescueCertifications, resumeCertifications } from "../../../shared/certification/resume.ts";
import type { Piece } from "../../../shared/db/pieces.ts";
import { forgetResults } from "../../../shared/db/results.ts";
import { forgetDevices } from "../../../shared/identity/device/forget.ts";
import { forgetEnded, forgetMarks, forgetReplaced, forgetTokens } from "../../../shared/identity/sessions/forget.ts";
import { forgetNotices } from "../../../shared/mail/forget.ts";
import type { Context } from "../../../shared/platform/context.ts";
import { reap } from "../../../shared/runs/reap.ts";
import { forgetAddresses } from "../../../shared/runs/forget-addresses.ts";
import { rescueRuns } from "../../../shared/runs/rescue.ts";
import { settleForgotten } from "../../../shared/runs/settle.ts";
import { forgetSpans } from "../../../shared/telemetry/forget.ts";
import { forgetDeliveries, forgetRemoved } from "../../../shared/webhooks/forget.ts";
import { rescueDeliveries } from "../../../shared/webhooks/rescue.ts";
import { inBulk } from "../../stack/bulk.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { fetched, type Recorder, startRecorder } from "../http/plans-support.ts";
import { connect } from "./kept-support.ts";
import { contextOf } from "../runs/run-events-support.ts";

/** Rows that a piece has nothing to do with, and rows that it has, more than it takes. */
const IDLE = 15_000;
const DUE = 5500;
/** How many rows a piece deletes. */
const PIECE = 5000;

let service: TestService;
let recorder: Recorder;
let ctx: Context;
/** The tables whose reads are counted, and the most rows of one that a statement read. */
let counted: readonly string[] = [];
let most: Record<string, number> = {};

beforeAll(async () => {
  recorder = await startRecorder(async (statement) => {
    for (const table of counted) most[table] = Math.max(most[table] ?? 0, await fetched(service, statement, table));
  });
  service = await startService({ settings: { NEON_LOCAL_PROXY: recorder.url } });
  ctx = contextOf(service, () => new Date());
});

afterAll(async () => {
  await service.stop();
  await recorder.close();
});

/** Ids by their kind and number. */
const numbered = (kind: number, n = "n") => `('0000000${kind}-0000-7000-8000-' || lpad((${n})::text, 12, '0'))::uuid`;

/** What every run has, as `filled` takes it. */
const RUN = {
  id: numbered(1),
  agent_id: numbered(2, "1"),
  task_id: numbered(3, "1"),
  trigger: "'manual'",
  domain: "'math'",
  scope: "'personal'",
};

/** SQL: so many rows of a table, each of them as `values` (SQL by `n`, their number) has it. */
function filled(table: string, from: number, count: number, values: Readonly<Record<string, string>>): string {
  const names = Object.keys(values).join(", ");
  return `insert into ${table} (${names}) select ${Object.values(values).join(", ")}
    from generate_series(${from + 1}, ${from + count}) n`;
}

/** Fills tables anew with what these statements say. */
async function fill(tables: readonly string[], ...statements: readonly string[]): Promise<void> {
  await service.sql(inBulk(tables, [`truncate ${tables.join(", ")} cascade`, ...statements].join(";\n")));
  await service.sql(`analyze ${tables.join(", ")}`);
}

/** The most rows of each of these tables that a statement of `work` read. */
async function read(tables: readonly string[], work: () => Promise<unknown>): Promise<Record<string, number>> {
  [counted, most] = [tables, {}];
  await work();
  counted = [];
  return most;
}

const count = async (text: string) =>
  (await service.sql<{ n: number }>(`select count(*)::int as n from ${text}`))[0]?.n ?? -1;

const OLD = "'2020-01-01'";
const HASH = "md5(n::text)";

/** What is deleted piece by piece: the rows that stay, by the column that decides, and how that is in those that go. */
const FORGOTTEN: Record<
  string,
  [
    table: string,
    work: (ctx: Context, cursor: string | null) => Promise<Piece>,
    column: string,
    due: string,
    values: Record<string, string>,
  ]
> = {
  "results of idempotent requests": [
    "idempotency_keys",
    forgetResults,
    "expires_at",
    OLD,
    { caller: "'c'", key: "n", fingerprint: "'f'", result: "'{}'", expires_at: "'2100-01-01'" },
  ],
  "events of the payment provider": [
    "provider_events",
    forgetProviderEvents,
    "done_at",
    OLD,
    { id: "n", type: "'t'", done_at: "now()" },
  ],
  allowances: [
    "allowances",
    forgetAllowances,
    "period",
    "'2020-01'",
    { kind: "'team'", owner: "n", period: "'2100-01'", used: "1" },
  ],
  "allowances of addresses": [
    "allowances",
    forgetAllowances,
    "period",
    "to_char(now() - interval '1 day', 'YYYY-MM-DD')",
    { kind: "'trial_address'", owner: "n", period: "'2100-01-01'", used: "1" },
  ],
  "mailed tokens": [
    "email_tokens",
    forgetTokens,
    "expires_at",
    OLD,
    { token_hash: "n", user_id: numbered(1, "1"), purpose: "'verify_email'", email: "'e'", expires_at: "'2100-01-01'" },
  ],
  "marks of sign-ins": [
    "sign_in_marks",
    forgetMarks,
    "last_seen_at",
    OLD,
    { user_id: numbered(1), kind: "'network'", mark: "n", last_seen_at: "now()" },
  ],
  "replaced credentials": [
    "refresh_tokens",
    forgetReplaced,
    "replaced_at",
    OLD,
    { token_hash: "n", session_id: numbered(1), replaced_at: "now()" },
  ],
  spans: [
    "spans",
    forgetSpans,
    "received_at",
    OLD,
    {
      run_id: numbered(1),
      span_id: "n",
      agent_id: numbered(2),
      kind: "'tool'",
      name: "'s'",
      started_at: "now()",
      duration_ms: "1",
      received_at: "now()",
    },
  ],
  notices: [
    "notices",
    forgetNotices,
    "created_at",
    OLD,
    { user_id: numbered(1), notice: "'n'", about: "n", created_at: "now()" },
  ],
  "codes of programs": [
    "device_authorizations",
    forgetDevices,
    "expires_at",
    OLD,
    {
      device_hash: HASH,
      user_code_hash: HASH,
      client_name: "'c'",
      network: "'n'",
      interval_seconds: "5",
      expires_at: "'2100-01-01'",
    },
  ],
  "attempts to deliver": [
    "webhook_deliveries",
    forgetDeliveries,
    "id",
    numbered(1),
    { id: "uuidv7()", webhook_id: numbered(2, "n % 100"), event_id: numbered(3), attempt: "1", status: "'succeeded'" },
  ],
  "events that nobody was told of any more": [
    "webhook_events",
    (context) => forgetDeliveries(context, "events 00000000-0000-0000-0000-000000000000"),
    "id",
    numbered(1),
    { id: "uuidv7()", type: "'t'", body: "'{}'" },
  ],
  "sessions that ended": [
    "sessions",
    (context) => forgetEnded(context, "emptied"),
    "expires_at",
    OLD,
    { id: numbered(1), user_id: numbered(2), expires_at: "'2100-01-01'" },
  ],
};

describe("a piece that forgets reads no more rows than it deletes, however many stay:", () => {
  it.each(Object.entries(FORGOTTEN))("%s", async (_name, [table, work, column, due, values]) => {
    await fill([table], filled(table, 0, IDLE, values), filled(table, IDLE, DUE, { ...values, [column]: due }));
    const rows = await read([table], () => work(ctx, null));
    expect(await count(table)).toBe(IDLE + DUE - PIECE);
    // Each is found, and deleted where it lies.
    expect(rows[table]).toBeLessThanOrEqual(2 * PIECE + 50);
  });

  it("the hashes of addresses that asked for trials", async () => {
    const run = {
      id: numbered(1),
      agent_id: numbered(2),
      task_id: numbered(3),
      trigger: "'trial'",
      domain: "'math'",
      scope: "'personal'",
      paid_kind: "'trial_address'",
      paid_owner: "'hash'",
      paid_period: "'2100-01-01'",
    };
    await fill(
      ["runs"],
      filled("runs", 0, IDLE, run),
      filled("runs", IDLE, DUE, { ...run, paid_period: "'2020-01-01'" }),
    );
    const rows = await read(["runs"], () => forgetAddresses(ctx));
    expect(await count("runs where paid_owner is null")).toBe(PIECE);
    expect(rows["runs"]).toBeLessThanOrEqual(2 * PIECE + 50);
  });

  it("the log of subscriptions that are gone", async () => {
    const attempt = { webhook_id: numbered(2, "n % 50"), event_id: numbered(3), attempt: "1", status: "'succeeded'" };
    await fill(
      ["webhook_deliveries", "removed_webhooks"],
      filled("webhook_deliveries", 0, IDLE, attempt),
      filled("webhook_deliveries", IDLE, DUE, { ...attempt, webhook_id: numbered(1, "1") }),
      filled("removed_webhooks", 0, IDLE, { id: numbered(1), removed_at: "now() + n * interval '1 second'" }),
    );
    const tables = ["webhook_deliveries", "removed_webhooks"];
    const rows = await read(tables, () => forgetRemoved(ctx));
    expect(await count("webhook_deliveries")).toBe(IDLE);
    expect(Math.max(...tables.map((table) => rows[table] ?? 0))).toBeLessThanOrEqual(2 * PIECE + 50);
  });
});

describe("what was lost is found again by reading few rows:", () => {
  it("an attempt to deliver, behind all that a deleted subscription had", async () => {
    const waiting = { event_id: numbered(3), attempt: "1", next_attempt_at: "now() - interval '2 days'" };
    await fill(
      ["webhooks", "webhook_events", "webhook_deliveries", "outbox"],
      filled("webhook_deliveries", 0, IDLE, { ...waiting, webhook_id: numbered(1, "1") }),
      filled("webhooks", 1, 1, {
        id: numbered(1),
        user_id: numbered(2),
        url: "'https://a.example'",
        event_types: "'{}'",
      }),
      filled("webhook_deliveries", IDLE, 2, {
        ...waiting,
        webhook_id: numbered(1, "2"),
        next_attempt_at: "now() - interval '1 day'",
      }),
    );
    const rows = await read(["webhook_deliveries"], () => rescueDeliveries(ctx));
    expect(await count("outbox where consumer = 'deliver-due'")).toBe(1);
    expect(rows["webhook_deliveries"]).toBeLessThanOrEqual(20);
  });

  it("a certification without a credential, among a great many that have theirs", async () => {
    const done = { agent_id: numbered(1), status: "'certified'", price_usd: "39", eu_waiver_at: "now()" };
    await fill(
      ["agents", "certifications"],
      filled("agents", 0, IDLE + 3, { id: numbered(1), user_id: numbered(2), name: "n", connection_mode: "'mock'" }),
      filled("certifications", 0, IDLE, { ...done, id: numbered(4), jws: "'signed'" }),
      filled("certifications", IDLE, 3, { ...done, id: numbered(4), jws: "null" }),
    );
    let piece: Piece | undefined;
    const rows = await read(["certifications"], async () => (piece = await rescueCertifications(ctx, null)));
    expect(piece?.next).toBeNull();
    expect(rows["certifications"]).toBeLessThanOrEqual(20);
  });

  it("a paused certification that can go on, behind a great many that can't, which are looked at in turns", async () => {
    const paused = { agent_id: numbered(1), status: "'paused_quota'", price_usd: "39", eu_waiver_at: "now()" };
    await fill(
      ["agents", "certifications"],
      filled("agents", 0, IDLE, { id: numbered(1), user_id: numbered(2), name: "n", connection_mode: "'mock'" }),
      filled("certifications", 0, IDLE, { ...paused, id: numbered(4) }),
    );
    await service.sql(`update agents set connection_mode = 'http_endpoint', endpoint = 'https://a.example/'
      where id = ${numbered(1, "1200")}`);
    await service.sql(`update certifications set runs_included = 5 where id = ${numbered(4, "1200")}`);
    const rows = await read(["certifications", "agents"], async () => {
      for (let minute = 0; minute < 3; minute += 1) await resumeCertifications(ctx);
    });
    expect(await service.sql("select id from certifications where status <> 'paused_quota'")).toHaveLength(1);
    expect(Math.max(...Object.values(rows))).toBeLessThanOrEqual(520);
  });

  it("a session that was never settled, among others, behind one that is under way with a great many runs", async () => {
    const run = {
      ...RUN,
      status: "'completed'",
      screening_session_id: numbered(4, "1"),
      canary: "null",
    };
    const underWay = 3000;
    await fill(
      ["runs", "held_results"],
      filled("runs", 0, underWay, run),
      filled("runs", underWay, 1, { ...run, status: "'running'" }),
      filled("runs", underWay + 1, 2, { ...run, screening_session_id: numbered(4, "2") }),
      filled("runs", underWay + 3, IDLE, { ...run, screening_session_id: numbered(5, "n / 20"), canary: "false" }),
      filled("held_results", 0, underWay, { run_id: numbered(1), is_canary: "true" }),
      filled("held_results", underWay + 1, 2, { run_id: numbered(1), is_canary: "true" }),
    );
    const rows = await read(["runs", "held_results"], () => settleForgotten(ctx, null));
    expect(await count("held_results")).toBe(underWay);
    expect(Math.max(...Object.values(rows))).toBeLessThanOrEqual(50);
  });

  it("runs, piece by piece, among those that are under way and a great many that are over", async () => {
    const run = { ...RUN, agent_id: numbered(2, "n % 3"), created_at: OLD };
    await fill(
      ["runs", "outbox"],
      filled("runs", 0, IDLE, { ...run, status: "'completed'" }),
      filled("runs", IDLE, 1500, { ...run, created_at: "now()" }),
      filled("runs", IDLE + 1500, 300, run),
    );
    const rows = await read(["runs"], async () => {
      for (let next: string | null | undefined; next !== null; ) ({ next } = await rescueRuns(ctx, next ?? null));
    });
    expect(await service.sql("select count(distinct id)::int as n from outbox where consumer = 'dispatch'")).toEqual([
      { n: 300 },
    ]);
    expect(rows["runs"]).toBeLessThanOrEqual(2000);
  });
});

it("the reaper locks the agents alone whose runs it gives up", async () => {
  const run = {
    ...RUN,
    status: "'running'",
    attempt: "1",
    started_at: "now()",
    lease_token: numbered(4),
    lease_expires_at: "now() - interval '1 hour'",
  };
  const aBatch = 200;
  await fill(
    ["agents", "runs", "outbox"],
    filled("agents", 0, 2, { id: numbered(2), user_id: numbered(5), name: "n", connection_mode: "'mock'" }),
    filled("runs", 0, aBatch, run),
    // Its turn comes with the next piece.
    filled("runs", aBatch, 1, {
      ...run,
      agent_id: numbered(2, "2"),
      attempt: "5",
      lease_expires_at: "now() - interval '1 minute'",
    }),
  );
  const { client } = await connect(service);
  try {
    await client.query(`begin; select from agents where id = ${numbered(2, "2")} for update`);
    const reaped = reap(ctx);
    await vi.waitFor(async () => expect(await count("runs where lease_token is null")).toBe(aBatch), 10_000);
    await client.query("rollback");
    expect(await reaped).toBe(aBatch + 1);
  } finally {
    await client.end();
  }
  expect(await service.sql("select attempt, failure_code from runs where status <> 'running'")).toEqual([
    { attempt: 5, failure_code: "service_error" },
  ]);
});
