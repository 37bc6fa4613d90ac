import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import * as fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { newCredential } from "../../../shared/platform/credential.ts";
import { MEANINGS } from "../../../shared/telemetry/conventions.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  anySpan,
  attributesOf,
  jsonRequest,
  type OtlpSpan,
  protobufRequest,
  spanOf,
} from "../../unit/telemetry/otlp.ts";
import { addRunRow, type Export, keptSpans, newSender, post, send, type Sender, traceOf } from "./otlp-support.ts";
import { range, tally } from "../runs/support.ts";

const HOUR = 3_600_000;
const PROTOBUF = { "content-type": "application/x-protobuf" };
const JSON_TYPE = { "content-type": "application/json" };

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

const spansOf = (id: string, count: number): OtlpSpan[] => range(count).map(() => spanOf({ traceId: traceOf(id) }));

interface PartialSuccess {
  rejectedSpans: string;
  errorMessage: string;
}

const partialSuccess = ({ body }: Export): PartialSuccess | undefined =>
  (JSON.parse(body.toString()) as { partialSuccess?: PartialSuccess }).partialSuccess;

/** The fields of a protobuf message: numbers, and texts of what is delimited by its length. */
function fieldsOf(bytes: Uint8Array): Record<number, number | string> {
  const reader = new BinaryReader(bytes);
  const fields: Record<number, number | string> = {};
  while (reader.pos < bytes.length) {
    const [field, wire] = reader.tag();
    fields[field] = wire === WireType.Varint ? reader.uint32() : Buffer.from(reader.bytes()).toString("latin1");
  }
  return fields;
}

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
    const common = { run_id: run, agent_id: sender.agent, received_at: expect.any(Date) as Date };
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

describe("the receiver's credential", () => {
  it("is refused in the same words whatever is wrong with it, and alone opens nothing else", async () => {
    const revoked = await newSender(owner);
    expect((await revoked.owner.call("DELETE", `/api/v1/agents/${revoked.agent}/otlp-token`)).status).toBe(204);
    const rotated = await newSender(owner);
    const rotation = await rotated.owner.call("POST", `/api/v1/agents/${rotated.agent}/otlp-token`);
    const last = sender.token.endsWith("0") ? "1" : "0";
    const headers: Record<string, string>[] = [
      {},
      { authorization: "" },
      { authorization: "Bearer" },
      { authorization: sender.token },
      { authorization: `Basic ${sender.token}` },
      { authorization: `Bearer ${sender.token}0` },
      { authorization: `Bearer ${sender.token.slice(0, -1)}${last}` },
      { authorization: `Bearer ${newCredential("otlp_")}` },
      { authorization: `Bearer ${sender.owner.token}` },
      { authorization: `Bearer run_${"x".repeat(43)}` },
      { "x-api-key": sender.token },
      revoked.headers,
      rotated.headers,
    ];
    const spans = protobufRequest(spansOf(run, 1));
    const refusals = new Set<string>();
    for (const one of headers) {
      const { status, headers: own, body } = await post(service, spans, { ...PROTOBUF, ...one });
      refusals.add([status, own.get("www-authenticate"), body.toString("hex")].join(" "));
    }
    expect([...refusals]).toEqual([expect.stringMatching(/^401 Bearer error="invalid_token" 0810/)]);
    expect(await keptSpans(service, run)).toBe(0);
    expect((await send(service, { headers: rotation.body.headers }, [])).status).toBe(200);
    expect((await caller(service, sender.headers).call("GET", "/api/v1/auth/me")).status).toBe(401);
  });

  it("of no possible form costs no look-up", async () => {
    const before = { db: service.counters.db.requests, redis: service.counters.redis.requests };
    for (const authorization of ["Bearer otlp_x", "Bearer nonsense"])
      expect((await post(service, "{}", { ...JSON_TYPE, authorization })).status).toBe(401);
    expect({ db: service.counters.db.requests, redis: service.counters.redis.requests }).toEqual(before);
  });

  it("is not held up while Redis is down", async () => {
    service.faults.set({ service: "redis", mode: "down" });
    expect((await send(service, sender, spansOf(run, 1))).status).toBe(200);
    service.faults.set({ service: "redis", mode: "none" });
    expect(await keptSpans(service, run)).toBe(1);
  });
});

describe("a body that can't be read", () => {
  const oversized = Buffer.alloc(4 * 1024 * 1024 + 1, " ");

  it.each<[number, string, Record<string, string>, string | Uint8Array<ArrayBuffer>]>([
    [400, "malformed_json", JSON_TYPE, "{"],
    [400, "malformed_otlp", JSON_TYPE, "[]"],
    [400, "malformed_otlp", { ...JSON_TYPE, "content-encoding": "gzip" }, "{}"],
    [413, "payload_too_large", JSON_TYPE, oversized],
    [415, "unsupported_media_type", { ...JSON_TYPE, "content-encoding": "br" }, "{}"],
    [415, "unsupported_media_type", { "content-type": "text/plain" }, "{}"],
    [415, "unsupported_media_type", { "content-type": "application/protobuf" }, "{}"],
  ])("is refused with %i %s for %j", async (status, code, headers, body) => {
    const answer = await post(service, body, { ...sender.headers, ...headers });
    expect(answer.status).toBe(status);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(JSON.parse(answer.body.toString())).toMatchObject({ code });
    if (headers["content-encoding"] === "br") expect(answer.headers.get("accept-encoding")).toBe("gzip, identity");
  });

  it("is refused with a google.rpc.Status where it was protobuf", async () => {
    const answer = await post(service, new Uint8Array([0xff]), { ...sender.headers, ...PROTOBUF });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([400, PROTOBUF["content-type"]]);
    expect(fieldsOf(answer.body)).toEqual({ 1: 3, 2: expect.stringContaining("ExportTraceServiceRequest") as string });
  });

  it("never breaks the receiver, whatever its bytes are", async () => {
    const good = [protobufRequest(spansOf(run, 2)), new TextEncoder().encode(jsonRequest(spansOf(run, 2)))];
    const mangled = fc
      .tuple(fc.constantFrom(...good), fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(255))
      .map(([body, where, byte]) => {
        const at = Math.floor(where * (body.length - 1));
        return byte % 2 === 0 ? body.subarray(0, at) : body.with(at, byte);
      });
    const bytes = fc.oneof(mangled, fc.uint8Array({ maxLength: 40 }));
    const type = fc.constantFrom("application/x-protobuf", "application/json", "application/json; charset=utf-16");
    await fc.assert(
      fc.asyncProperty(bytes, type, fc.constantFrom("identity", "gzip"), async (body, contentType, encoding) => {
        const headers = { ...sender.headers, "content-type": contentType, "content-encoding": encoding };
        expect([200, 400]).toContain((await post(service, new Uint8Array(body), headers)).status);
      }),
      { numRuns: 40 },
    );
  });
});

describe("what a span says beside what is kept", () => {
  const SECRET = "zq7leak";

  it("is found nowhere in the database and in no log, whatever it is", async () => {
    const hide = (text: string) => `${SECRET} ${text}`;
    const hidden = (attributes: OtlpSpan["attributes"] = []) =>
      attributes.map(({ key, value }) => ({
        key: hide(key),
        value: { arrayValue: { values: [{ stringValue: SECRET }, value] } },
      }));
    const told = attributesOf({
      "gen_ai.input.messages": SECRET,
      "gen_ai.output.messages": SECRET,
      "gen_ai.system_instructions": SECRET,
      "gen_ai.tool.call.arguments": SECRET,
      "gen_ai.tool.call.result": SECRET,
      "gen_ai.tool.description": SECRET,
      "input.value": SECRET,
      "llm.input_messages.0.message.content": SECRET,
      "traceloop.entity.input": SECRET,
      "ai.toolCall.args": SECRET,
      "db.query.text": SECRET,
      "exception.message": SECRET,
    });
    const spans = fc.array(anySpan([...MEANINGS.keys()]), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(spans, fc.boolean(), async (any, json) => {
        const sent = any.map((span) => ({
          ...span,
          ...spanOf({ traceId: traceOf(run), name: span.name }),
          attributes: [...told, ...hidden(span.attributes), ...(span.attributes ?? [])],
          events: [{ name: SECRET, attributes: told }],
          links: [{ ...spanOf(), attributes: told }],
          status: { code: 2, message: SECRET },
        }));
        expect((await send(service, sender, sent, { json })).status).toBe(200);
      }),
      { numRuns: 15 },
    );
    expect(await keptSpans(service, run)).toBeGreaterThanOrEqual(15);
    const leaks = await service.sql(
      `select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'
       and position($1 in query_to_xml(format('select * from %I', table_name), true, false, '')::text) > 0`,
      [SECRET],
    );
    expect(leaks).toEqual([]);
    expect(service.logs.filter((line) => line.includes(SECRET))).toEqual([]);
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
