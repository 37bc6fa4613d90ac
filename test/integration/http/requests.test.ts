import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";

const AGENTS = "/api/v1/agents";
const MIB = 1024 * 1024;

let service: TestService;
let user: User;
let addresses = 0;

beforeAll(async () => {
  service = await startService();
  user = await newUser(service, { plan: "pro" });
});

afterAll(() => service.stop());

/** Calls as the user, from an address of its own, so that no limit is met here. */
function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer<Body>> {
  addresses += 1;
  const address = { "cf-connecting-ip": `172.19.${addresses >> 8}.${addresses & 255}` };
  return caller(service, { authorization: `Bearer ${user.token}`, ...address }).call(method, path, body, headers);
}

interface Body {
  code: string;
  detail: string;
  request_id: string;
  errors: { in: string; pointer: string; code: string; message: string }[];
}

const findings = ({ body }: Answer<Body>) => body.errors.map(({ in: where, pointer, code }) => [where, pointer, code]);

const asSet = (found: string[][]) => new Set(found.map((finding) => finding.join(" ")));

/** The names of the headers that the service sets, without those of the connection. */
const ownHeaders = ({ headers }: Answer<Body>) =>
  [...headers.keys()].filter((name) => !["connection", "keep-alive", "content-length"].includes(name));

describe("the request id", () => {
  it.each(["a", "A-z_0.9", "x".repeat(64)])("is kept when it is well-formed: %s", async (id) => {
    const answer = await call("GET", "/nowhere", undefined, { "x-request-id": id });
    expect([answer.headers.get("x-request-id"), answer.body.request_id]).toEqual([id, id]);
  });

  it.each(["", "x".repeat(65), "a b", "a/b", "é", '"', "a,b"])("is replaced when it is not: %j", async (id) => {
    const answer = await call("GET", "/healthz", undefined, { "x-request-id": id });
    expect(answer.headers.get("x-request-id")).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  it("is new for each request that brings none", async () => {
    const ids = await Promise.all(
      [1, 2, 3].map(async () => (await call("GET", "/healthz")).headers.get("x-request-id")),
    );
    expect(new Set(ids).size).toBe(3);
  });
});

describe("a problem", () => {
  it("is RFC 9457 with a code, and never kept by a cache", async () => {
    const answer = await call("GET", "/nowhere", undefined, { "x-request-id": "r1" });
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.body).toEqual({
      type: `${service.url}/docs/problems#not_found`,
      title: "Not found",
      status: 404,
      detail: expect.stringMatching(/./),
      code: "not_found",
      request_id: "r1",
    });
  });

  it.each([
    "/api",
    "/api/v1",
    "/api/v1/agents/",
    "/api/v2/agents",
    "/API/v1/agents",
    "//api/v1/agents",
    "/api/v1/agents/x/y",
  ])("is 404 at a path where there is nothing: %s", async (path) => {
    const answers = await Promise.all(["GET", "POST", "OPTIONS"].map((method) => call(method, path)));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
  });

  it.each([
    ["PUT", AGENTS, "GET, HEAD, POST"],
    ["DELETE", AGENTS, "GET, HEAD, POST"],
    ["OPTIONS", AGENTS, "GET, HEAD, POST"],
    ["PUT", `${AGENTS}/${crypto.randomUUID()}`, "GET, HEAD, PATCH, DELETE"],
    ["GET", "/api/v1/auth/login", "POST"],
    ["DELETE", "/api/v1/agents/bulk", "POST"],
    ["HEAD", "/api/v1/runs/batch", "POST"],
    ["HEAD", "/api/v1/auth/login", "POST"],
    ["POST", "/healthz", "GET, HEAD"],
    ["PATCH", "/.well-known/jwks.json", "GET, HEAD"],
    ["PROPFIND", AGENTS, "GET, HEAD, POST"],
  ])("is 405 for a method that is not allowed, and names those that are: %s %s", async (method, path, allow) => {
    const answer = await call(method, path);
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, allow]);
    if (method !== "HEAD") expect(answer.body.code).toBe("method_not_allowed");
  });

  it("has no body where HEAD was asked, and the headers of GET", async () => {
    for (const path of ["/healthz", AGENTS, "/api/v1/suites", "/nowhere"]) {
      const [get, head] = [await call("GET", path), await call("HEAD", path)];
      expect([head.status, head.text]).toEqual([get.status, ""]);
      expect(ownHeaders(head)).toEqual(ownHeaders(get));
      expect(head.headers.get("etag")).toBe(get.headers.get("etag"));
    }
  });
});

describe("a body", () => {
  const send = (body: unknown, type = "application/json", headers: Record<string, string> = {}) =>
    call("POST", AGENTS, body, { "content-type": type, ...headers });

  it.each([
    "application/json",
    "application/json; charset=utf-8",
    "Application/JSON",
    "application/vnd.api+json",
    "application/json;charset=UTF-8",
  ])("is taken as JSON: %s", async (type) => {
    expect((await send(JSON.stringify({ name: crypto.randomUUID() }), type)).status).toBe(201);
  });

  it.each(["text/plain", "application/xml", "application/jsonp", "multipart/form-data; boundary=x", "", "text/json"])(
    "of another type is 415: %j",
    async (type) => {
      const answer = await send('{"name":"x"}', type);
      expect([answer.status, answer.body.code]).toEqual([415, "unsupported_media_type"]);
    },
  );

  it.each(["", "{", "{'name':'x'}", '{"name":"x",}', "name=x", "undefined", "NaN", '{"name":"x"}{}', '"\t"'])(
    "that is no JSON is 400 malformed_json: %j",
    async (text) => {
      const answer = await send(text);
      expect([answer.status, answer.body.code]).toEqual([400, "malformed_json"]);
    },
  );

  it.each([
    ["in Latin-1", "application/json; charset=iso-8859-1", Buffer.from('{"name":"caf\u00e9"}', "latin1")],
    ["cut within a character", "application/json", Buffer.from('{"name":"\u00e9"}').subarray(0, 10)],
  ])("that is not UTF-8 is refused, not kept with other characters: %s", async (_what, type, bytes) => {
    const answer = await send(bytes, type);
    expect([answer.status, answer.body.code]).toEqual([400, "malformed_json"]);
    expect(answer.body.detail).toMatch(/UTF-8/);
  });

  it("may begin with the mark of UTF-8, and is not decompressed", async () => {
    const text = JSON.stringify({ name: crypto.randomUUID() });
    expect((await send(`\ufeff${text}`)).status).toBe(201);
    const packed = await send(gzipSync(text), "application/json", { "content-encoding": "gzip" });
    expect([packed.status, packed.body.code]).toEqual([415, "unsupported_media_type"]);
    expect(packed.body.detail).toMatch(/Content-Encoding/);
    expect(packed.headers.get("accept-encoding")).toBe("identity");
  });

  it.each(["null", "[]", '"text"', "1", "true"])("that is no object is 422 at its root: %s", async (text) => {
    const answer = await send(text);
    expect([answer.status, findings(answer)]).toEqual([422, [["body", "", "invalid_type"]]]);
  });

  it("of more than 1 MiB is 413, whether its length is told or not", async () => {
    const body = (bytes: number) => `{"jws":"${"x".repeat(bytes - 10)}"}`;
    const chunked = (text: string) =>
      fetch(`${service.url}/api/v1/evidence/verify`, {
        method: "POST",
        headers: { "content-type": "application/json", "cf-connecting-ip": "172.20.0.1" },
        body: new Blob([text]).stream(),
        duplex: "half",
      });
    const whole = (text: string) => call("POST", "/api/v1/evidence/verify", text);
    for (const post of [chunked, whole]) {
      const [fits, over] = [await post(body(MIB)), await post(body(MIB + 1))];
      expect([fits.status, over.status]).toEqual([422, 413]);
    }
    expect((await whole(body(MIB + 1))).body.code).toBe("payload_too_large");
  });
});

describe("the findings of a 422", () => {
  it.each<[string, unknown, string, [string, string][]]>([
    ["a missing field", {}, "validation_failed", [["/name", "missing_field"]]],
    ["a wrong type", { name: 1 }, "validation_failed", [["/name", "invalid_type"]]],
    ["null for a string", { name: null }, "validation_failed", [["/name", "invalid_type"]]],
    [
      "a value out of its list",
      { name: "x", agent_protocol: "soap" },
      "validation_failed",
      [["/agent_protocol", "invalid_value"]],
    ],
    ["too long a text", { name: "x".repeat(121) }, "validation_failed", [["/name", "too_big"]]],
    ["an empty text", { name: "  " }, "validation_failed", [["/name", "too_small"]]],
    ["an unknown field", { name: "x", nmae: 1 }, "unrecognized_field", [["/nmae", "unrecognized_field"]]],
    [
      "unknown fields",
      { name: "x", a: 1, b: 2 },
      "unrecognized_field",
      [
        ["/a", "unrecognized_field"],
        ["/b", "unrecognized_field"],
      ],
    ],
    [
      "a field whose name needs escaping",
      { name: "x", "a/b~c": 1 },
      "unrecognized_field",
      [["/a~1b~0c", "unrecognized_field"]],
    ],
    [
      "several at once",
      { name: 1, variant_of: "x", extra: 1 },
      "validation_failed",
      [
        ["/name", "invalid_type"],
        ["/variant_of", "invalid_format"],
        ["/extra", "unrecognized_field"],
      ],
    ],
  ])("point at %s", async (_, body, code, expected) => {
    const answer = await call("POST", AGENTS, body);
    expect([answer.status, answer.body.code]).toEqual([422, code]);
    expect(findings(answer)).toHaveLength(expected.length);
    expect(asSet(findings(answer))).toEqual(asSet(expected.map((finding) => ["body", ...finding])));
    for (const { message } of answer.body.errors) expect(message).toMatch(/./);
  });

  it("name a field that would change an object's prototype", async () => {
    const answer = await call("POST", AGENTS, '{"name":"x","__proto__":{"is_public":false}}');
    expect([answer.status, findings(answer)]).toEqual([422, [["body", "/__proto__", "unrecognized_field"]]]);
  });

  it("reach into nested objects", async () => {
    const task = { agent_id: "not-an-id", task_ids: ["not-an-id"] };
    const answer = await call("POST", "/api/v1/runs/batch", task);
    expect(answer.body.errors.map(({ pointer }) => pointer)).toEqual(["/agent_id", "/task_ids/0"]);
  });

  it("point into the path for an id that is none", async () => {
    for (const id of ["1", "not-a-uuid", "00000000-0000-0000-0000-00000000000g", "%00", "%F0%28"]) {
      const answer = await call("GET", `${AGENTS}/${id}`);
      expect([answer.status, findings(answer)]).toEqual([422, [["path", "/agent_id", "invalid_format"]]]);
    }
  });

  it("name both of two parameters that exclude each other", async () => {
    const team = crypto.randomUUID();
    const answer = await call("GET", `${AGENTS}?scope=personal&team_id=${team}`);
    expect([answer.status, answer.body.code]).toEqual([422, "conflicting_parameters"]);
    expect(findings(answer)).toEqual([
      ["query", "/scope", "conflicting_parameters"],
      ["query", "/team_id", "conflicting_parameters"],
    ]);
  });

  it.each<[string, string, string, string]>([
    ["U+0000", String.raw`{"name":"a\u0000b"}`, "/name", "invalid_text"],
    ["a lone surrogate", String.raw`{"name":"a\ud800"}`, "/name", "invalid_text"],
    ["a surrogate pair the wrong way round", String.raw`{"name":"\udc00\ud800"}`, "/name", "invalid_text"],
    [
      "U+0000 deep inside",
      String.raw`{"name":"x","declared_configuration":{"a":[{"b":"\u0000"}]}}`,
      "/declared_configuration/a/0/b",
      "invalid_text",
    ],
    [
      "a number beyond every double",
      '{"name":"x","declared_configuration":{"a":-1e999}}',
      "/declared_configuration/a",
      "invalid_number",
    ],
    [
      "65 levels",
      `{"name":"x","declared_configuration":${'{"a":'.repeat(64)}1${"}".repeat(64)}}`,
      `/declared_configuration${"/a".repeat(63)}`,
      "too_deep",
    ],
    ["50,001 values", `{"name":"x","declared_configuration":{"a":[${"0,".repeat(49_998)}0]}}`, "", "too_big"],
  ])("refuse what can't be stored: %s", async (_, body, pointer, code) => {
    const answer = await call("POST", AGENTS, body);
    expect([answer.status, findings(answer)]).toEqual([422, [["body", pointer, code]]]);
  });

  it("refuse U+0000 in a field's name", async () => {
    const answer = await call("POST", AGENTS, String.raw`{"name":"x","declared_configuration":{"a\u0000":1}}`);
    expect([answer.status, answer.body.code]).toEqual([422, "validation_failed"]);
    expect(answer.body.errors[0]?.code).toBe("invalid_text");
  });

  it.each([
    ["objects", '{"a":', "}"],
    ["arrays", "[", "]"],
  ])("refuse nesting as deep as 1 MiB allows: %s", async (_, open, close) => {
    const levels = Math.floor((MIB - 100) / (open.length + close.length));
    const answer = await call(
      "POST",
      AGENTS,
      `{"name":"x","declared_configuration":{"a":${open.repeat(levels)}1${close.repeat(levels)}}}`,
    );
    expect([answer.status, answer.body.errors[0]?.code]).toEqual([422, "too_deep"]);
  });

  it("take the deepest nesting that is allowed, and give it back", async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(63)}1${"}".repeat(63)}`);
    const answer = await call("POST", AGENTS, { name: "deep", declared_configuration: deep });
    expect([answer.status, (answer.body as unknown as Record<string, unknown>)["declared_configuration"]]).toEqual([
      201,
      deep,
    ]);
  });
});
