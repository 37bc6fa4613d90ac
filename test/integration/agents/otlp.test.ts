import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { scopeOf } from "../../../shared/telemetry/span.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { attributesOf, type OtlpSpan, spanOf } from "../../unit/telemetry/otlp.ts";
import {
  addRunRow,
  type Export,
  fieldsOf,
  keptSpans,
  newSender,
  PROTOBUF,
  send,
  type Sender,
  spansOf,
  traceOf,
} from "./otlp-support.ts";
import { range, tally } from "../runs/support.ts";

const HOUR = 3_600_000;

let service: TestService;
let owner: User;
let sender: Sender;
let run: string;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "enterprise" });
});

beforeEach(async () => {
  sender = await newSender(owner);
  run = await addRunRow(service, sender.agent);
});

afterAll(() => service.stop());

interface PartialSuccess {
  rejectedSpans: string;
  errorMessage: string;
}

const partialSuccess = ({ body }: Export): PartialSuccess | undefined =>
  (JSON.parse(body.toString()) as { partialSuccess?: PartialSuccess }).partialSuccess;

describe("an export", () => {
  it.each([
    { json: false, gzip: false },
    { json: false, gzip: true },
    { json: true, gzip: false },
    { json: true, gzip: true },
  ])("is kept and answered in its own encoding: %o", async (options) => {
    const root = spanOf({ traceId: traceOf(run), parentSpanId: traceOf(run).slice(16), name: "plan" });
    const child = spanOf({
      traceId: traceOf(run),
      parentSpanId: root.spanId,
      name: "chat gpt-4o",
      startTimeUnixNano: "1764000000123000000",
      endTimeUnixNano: "1764000000623500000",
      attributes: attributesOf({
        "gen_ai.operation.name": "chat",
        "gen_ai.system": "openai",
        "gen_ai.response.model": "gpt-4o",
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 3,
        "gen_ai.usage.cost": 0.0025,
        "error.type": "timeout",
      }),
    });
    const answer = await send(service, sender, [root, child], options);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe(options.json ? "application/json" : PROTOBUF["content-type"]);
    expect(answer.body.toString()).toBe(options.json ? "{}" : "");
    const rows = await service.sql("select * from spans where run_id = $1 order by started_at", [run]);
    const common = {
      run_id: run,
      agent_id: sender.agent,
      scope: scopeOf("scope-secret"),
      received_at: expect.any(Date) as Date,
    };
    const none = {
      operation: null,
      provider: null,
      model: null,
      input_tokens: null,
      output_tokens: null,
      cost_usd: null,
    };
    expect(rows).toEqual([
      {
        ...common,
        ...none,
        span_id: root.spanId,
        parent_span_id: traceOf(run).slice(16),
        kind: "other",
        name: "plan",
        failed: false,
        started_at: new Date(1_764_000_000_000),
        duration_ms: 1000,
      },
      {
        ...common,
        span_id: child.spanId,
        parent_span_id: root.spanId,
        kind: "model",
        operation: "chat",
        name: "chat gpt-4o",
        provider: "openai",
        model: "gpt-4o",
        input_tokens: 12,
        output_tokens: 3,
        cost_usd: 0.0025,
        failed: true,
        started_at: new Date(1_764_000_000_123),
        duration_ms: 500.5,
      },
    ]);
  });

  it("notes when its agent was heard of, even if it has nothing for us", async () => {
    const heard = async () =>
      (await service.sql("select last_received_at from otlp_tokens where agent_id = $1", [sender.agent]))[0];
    expect(await heard()).toEqual({ last_received_at: null });
    expect((await send(service, sender, [])).status).toBe(200);
    expect(await heard()).toEqual({ last_received_at: expect.any(Date) as Date });
  });

  it("keeps spans of its agent's real runs up to a day after their end, and drops others without a word", async () => {
    const ago = (ms: number) => ({ endedAt: new Date(Date.now() - ms) });
    const stranger = await newSender(await newUser(service));
    const sibling = await newSender(owner);
    const kept = [run, await addRunRow(service, sender.agent, ago(23.9 * HOUR))];
    const dropped = [
      await addRunRow(service, sender.agent, ago(24.1 * HOUR)),
      await addRunRow(service, sender.agent, { simulated: true }),
      await addRunRow(service, stranger.agent),
      await addRunRow(service, sibling.agent),
      "01938e7a-0000-7000-8000-000000000009",
      "4bf92f35-77b3-4da6-a3ce-929d0e0e4736",
    ];
    const answer = await send(
      service,
      sender,
      [...kept, ...dropped].flatMap((id) => spansOf(id, 1)),
      { json: true },
    );
    expect([answer.status, answer.body.toString()]).toEqual([200, "{}"]);
    for (const id of kept) expect(await keptSpans(service, id)).toBe(1);
    for (const id of dropped) expect(await keptSpans(service, id)).toBe(0);
  });

  it("keeps a span once, as it came first, however often and side by side it is sent", async () => {
    const [first, ...others] = spansOf(run, 50) as [OtlpSpan, ...OtlpSpan[]];
    await send(service, sender, [first]);
    const again = [{ ...first, name: "changed" }, ...others, ...others];
    const answers = await Promise.all(range(6).map((n) => send(service, sender, again, { json: n % 2 === 0 })));
    expect(tally(answers)).toEqual({ 200: 6 });
    expect(await keptSpans(service, run)).toBe(50);
    const [row] = await service.sql("select name from spans where span_id = $1", [first.spanId]);
    expect(row).toEqual({ name: "a span" });
  });
});

describe("partial success", () => {
  const malformed = [
    spanOf({ traceId: "0".repeat(32) }),
    spanOf({ spanId: "ab" }),
    spanOf({ startTimeUnixNano: "2", endTimeUnixNano: "1" }),
  ];

  it("counts malformed spans and keeps the others", async () => {
    const answer = await send(service, sender, [...malformed, ...spansOf(run, 2)], { json: true });
    expect(answer.status).toBe(200);
    expect(partialSuccess(answer)).toEqual({
      rejectedSpans: "3",
      errorMessage: expect.stringMatching(/^3 malformed: /) as string,
    });
    expect(await keptSpans(service, run)).toBe(2);
  });

  it("says the same in protobuf", async () => {
    const { status, body } = await send(service, sender, malformed);
    expect(status).toBe(200);
    const partial = fieldsOf(body)[1];
    expect(fieldsOf(Buffer.from(String(partial), "latin1"))).toEqual({
      1: 3,
      2: expect.stringMatching(/^3 malformed: /) as string,
    });
  });

  it("counts what is beyond 2,000 spans of a run, exactly under parallel exports, and no duplicate", async () => {
    const sent = range(4).map(() => spansOf(run, 600));
    const answers = await Promise.all(sent.map((spans) => send(service, sender, spans, { json: true })));
    const rejected = answers.reduce((sum, answer) => sum + Number(partialSuccess(answer)?.rejectedSpans ?? 0), 0);
    expect(rejected).toBe(400);
    expect(await keptSpans(service, run)).toBe(2000);
    const rows = await service.sql<{ span_id: string }>("select span_id from spans where run_id = $1", [run]);
    const kept = new Set(rows.map(({ span_id }) => span_id));
    const there = sent.flat().filter(({ spanId }) => kept.has(spanId));
    expect(partialSuccess(await send(service, sender, there, { json: true }))).toBeUndefined();
    const more = await send(service, sender, [...there.slice(0, 5), ...spansOf(run, 7)], { json: true });
    expect(partialSuccess(more)?.errorMessage).toBe("7 beyond the 2000 that are kept of one run");
  });

  it("takes 10,000 spans of runs in one round trip to the database and one to Redis, and no more spans", async () => {
    const ids = await Promise.all(range(6).map(() => addRunRow(service, sender.agent)));
    const spans = ids.flatMap((id) => spansOf(id, 1700));
    await send(service, sender, []);
    const before = { db: service.counters.db.requests, redis: service.counters.redis.requests };
    const answer = await send(service, sender, spans.slice(0, 10_003), { json: true, gzip: true });
    expect(partialSuccess(answer)).toEqual({ rejectedSpans: "3", errorMessage: "3 beyond the 10000 of one request" });
    expect(service.counters.db.requests - before.db).toBe(1);
    expect(service.counters.redis.requests - before.redis).toBeLessThanOrEqual(1);
    const [total] = await service.sql("select count(*)::integer as kept from spans where agent_id = $1", [
      sender.agent,
    ]);
    expect(total).toEqual({ kept: 10_000 });
  });
});

describe("spans", () => {
  const age = (id: string, days: number) =>
    service.sql("update spans set received_at = now() - make_interval(days => $2) where run_id = $1", [id, days]);

  it("are kept for 30 days, and go in pieces, however many they are", async () => {
    const young = await addRunRow(service, sender.agent);
    await send(service, sender, [...spansOf(run, 3), ...spansOf(young, 3)]);
    await service.sql(
      `insert into spans (run_id, span_id, agent_id, kind, name, started_at, duration_ms)
       select $1, to_char(n, 'FM0000000000000000'), $2, 'other', 'old', now(), 0 from generate_series(1, 6000) n`,
      [run, sender.agent],
    );
    await age(run, 31);
    await age(young, 29);
    await service.app.scheduled(DAILY);
    expect([await keptSpans(service, run), await keptSpans(service, young)]).toEqual([0, 3]);
  });

  it("go with the account of their agent's owner, even from runs that stay, and the token goes, too", async () => {
    const leaving = await newSender(await newUser(service));
    const left = await addRunRow(service, leaving.agent);
    await send(service, leaving, spansOf(left, 3));
    await send(service, sender, spansOf(run, 1));
    await service.sql("update runs set counted = true, status = 'completed', finalized_at = now() where id = $1", [
      left,
    ]);
    await service.sql("update users set deletion_scheduled_for = now() - interval '1 day' where id = $1", [
      leaving.owner.id,
    ]);
    await service.app.scheduled(DAILY);
    expect(await service.sql("select id from runs where id = $1", [left])).toEqual([{ id: left }]);
    expect([await keptSpans(service, left), await keptSpans(service, run)]).toEqual([0, 1]);
    expect((await send(service, leaving, [])).status).toBe(401);
  });
});
