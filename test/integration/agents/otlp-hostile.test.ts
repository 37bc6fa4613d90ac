import { gzipSync } from "node:zlib";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import * as fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
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
import {
  addRunRow,
  fieldsOf,
  JSON_TYPE,
  keptSpans,
  newSender,
  post,
  PROTOBUF,
  send,
  type Sender,
  spansOf,
  traceOf,
} from "./otlp-support.ts";

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

  it("of no possible form costs no look-up but the count of its address", async () => {
    const { db, redis } = service.counters.snapshot();
    for (const authorization of ["Bearer otlp_x", "Bearer nonsense"])
      expect((await post(service, "{}", { ...JSON_TYPE, authorization })).status).toBe(401);
    const after = service.counters.snapshot();
    expect([after.db.requests - db.requests, after.redis.requests - redis.requests]).toEqual([0, 2]);
  });

  it("is not held up while Redis is down", async () => {
    service.faults.set({ service: "redis", mode: "down" });
    expect((await send(service, sender, spansOf(run, 1))).status).toBe(200);
    service.faults.set({ service: "redis", mode: "none" });
    expect(await keptSpans(service, run)).toBe(1);
  });
});

/** A request in protobuf with so many empty spans, of two bytes each. */
function protobufOf(count: number): Uint8Array<ArrayBuffer> {
  const spans = Buffer.alloc(2 * count);
  for (let at = 0; at < spans.length; at += 2) spans[at] = 0x12;
  const scope = new BinaryWriter().uint32(0x12).bytes(spans).finish();
  return Uint8Array.from(new BinaryWriter().uint32(0x0a).bytes(scope).finish());
}

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

  const objects = (count: number) => Array(count).fill("{}").join(",");
  const MANY: [what: string, type: Record<string, string>, sent: string | Uint8Array<ArrayBuffer>][] = [
    ["two million spans in protobuf", PROTOBUF, protobufOf(2_000_000)],
    ["a hundred thousand and one", PROTOBUF, protobufOf(100_001)],
    ["as many in JSON", JSON_TYPE, `{"resourceSpans":[{"scopeSpans":[{"spans":[${objects(100_001)}]}]}]}`],
    ["a million and more resources", JSON_TYPE, `{"resourceSpans":[${objects(1_390_000)}]}`],
    ["a million and more lists", JSON_TYPE, `{"other":[${Array(1_390_000).fill("[]").join(",")}]}`],
  ];

  // Some kilobytes in gzip: read whole, they take more memory than an isolate has, and every request in it ends.
  it.each(MANY)("is refused for %s, before they are all in memory", async (_what, type, sent) => {
    const headers = { ...sender.headers, ...type, "content-encoding": "gzip" };
    const { status, body } = await post(service, gzipSync(sent), headers);
    expect([status, body.toString()]).toEqual([400, expect.stringContaining("ExportTraceServiceRequest")]);
  });

  it("counts empty spans as malformed up to there", async () => {
    const answer = await post(service, protobufOf(100_000), { ...sender.headers, ...PROTOBUF });
    expect([answer.status, answer.body.toString()]).toEqual([200, expect.stringContaining("100000 malformed")]);
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
