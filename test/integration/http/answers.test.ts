import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addRun, addSuite } from "../runs/support.ts";

const AGENTS = "/api/v1/agents";
const LISTED = "https://app.example.test";

let service: TestService;
let owner: User;
let anonymous: Caller;
let agent: string;
let run: string;

beforeAll(async () => {
  service = await startService({ settings: { ALLOWED_ORIGINS: `${LISTED}, https://other.example.test` } });
  owner = await newUser(service);
  anonymous = caller(service);
  await service.sql(
    `insert into agents (user_id, name, connection_mode, created_at)
     select $1, 'agent ' || n, 'mock', now() - n * interval '1 minute' from generate_series(1, 5) n`,
    [owner.id],
  );
  agent = (await owner.call("GET", AGENTS)).body.items[0].id;
  run = await addRun(owner, agent, (await addSuite(service, 1)).tasks[0] ?? "");
  await service.settled();
});

afterAll(() => service.stop());

/** The pages that a Link header names, as rel → [page, page_size]. */
function links({ headers }: Answer): Record<string, string> {
  const found = [...(headers.get("link") ?? "").matchAll(/<([^>]+)>; rel="(\w+)"/g)];
  return Object.fromEntries(found.map(([, url = "", rel = ""]) => [rel, url.slice(service.url.length)]));
}

describe("a page of a list", () => {
  const names = ({ body }: Answer<{ items: { name: string }[] }>) => body.items.map(({ name }) => name);
  const at = (page: number, size: number) => `${AGENTS}?page=${page}&page_size=${size}`;

  it.each([
    [1, 2, ["agent 1", "agent 2"], { first: at(1, 2), next: at(2, 2), last: at(3, 2) }],
    [2, 2, ["agent 3", "agent 4"], { first: at(1, 2), prev: at(1, 2), next: at(3, 2), last: at(3, 2) }],
    [3, 2, ["agent 5"], { first: at(1, 2), prev: at(2, 2), last: at(3, 2) }],
    [4, 2, [], { first: at(1, 2), prev: at(3, 2), last: at(3, 2) }],
    [9, 2, [], { first: at(1, 2), prev: at(3, 2), last: at(3, 2) }],
    [5, 1, ["agent 5"], { first: at(1, 1), prev: at(4, 1), last: at(5, 1) }],
    [1, 5, ["agent 1", "agent 2", "agent 3", "agent 4", "agent 5"], { first: at(1, 5), last: at(1, 5) }],
    [1, 100, ["agent 1", "agent 2", "agent 3", "agent 4", "agent 5"], { first: at(1, 100), last: at(1, 100) }],
    [1_000_000_000, 100, [], { first: at(1, 100), prev: at(1, 100), last: at(1, 100) }],
  ])("has its items, the total and the links around it: page %i of size %i", async (page, size, items, expected) => {
    const answer = await owner.call("GET", at(page, size));
    expect(answer.status).toBe(200);
    expect(names(answer)).toEqual(items);
    expect(answer.body).toMatchObject({ total: 5, page, page_size: size });
    expect(Object.keys(answer.body).toSorted()).toEqual(["items", "page", "page_size", "total"]);
    expect(links(answer)).toEqual(expected);
  });

  it("is the first, of 20, unless said otherwise", async () => {
    expect((await owner.call("GET", AGENTS)).body).toMatchObject({ page: 1, page_size: 20 });
  });

  it.each(["domain=math&page_size=1", "page_size=01&domain=math&page=1"])(
    "keeps the list's other parameters in its links, however they were written: %s",
    async (query) => {
      const answer = await anonymous.call("GET", `/api/v1/tasks?${query}`);
      expect(links(answer)["next"]).toBe("/api/v1/tasks?domain=math&page=2&page_size=1");
    },
  );

  it("of an empty list links to itself alone", async () => {
    const nobody = await newUser(service);
    expect(links(await nobody.call("GET", AGENTS))).toEqual({ first: at(1, 20), last: at(1, 20) });
  });

  it.each([
    "page=0",
    "page=-1",
    "page=1.5",
    "page=x",
    "page=",
    "page=1000000001",
    "page=1e400",
    "page=1&page=2",
    "page=%00",
    "page_size=0",
    "page_size=101",
    "page_size=-1",
    "page_size=2.5",
    "page_size=all",
  ])("is 422 for an invalid number: %s", async (query) => {
    const { status, body } = await owner.call("GET", `${AGENTS}?${query}`);
    expect(status).toBe(422);
    expect(body.errors).toMatchObject([{ in: "query", pointer: `/${query.split("=", 1)[0]}` }]);
  });
});

describe("a conditional read", () => {
  const PATHS = [
    "/api/v1/tasks?page_size=1",
    "/api/v1/suites",
    "/api/v1/leaderboard",
    AGENTS,
    "/healthz",
    "/readyz",
    "/openapi.json",
    "/.well-known/jwks.json",
    "/.well-known/did.json",
    "/.well-known/http-message-signatures-directory",
    "/",
    "/docs",
    "/docs/runs",
    "/docs/guides/deploy",
    "/?period=7d",
    "/agents/AGENT",
    "/runs/RUN",
    "/log",
    "/verify",
    "/verify.js",
    "/live.js",
    "/robots.txt",
    "/sitemap.xml",
    "/favicon.svg",
    "/.well-known/security.txt",
    "/api/v1/agents/AGENT/badge.svg",
  ];

  it.each(PATHS)("answers 304 without a body to who has this very answer: %s", async (one) => {
    const path = one.replace("AGENT", agent).replace("RUN", run);
    const first = await anonymous.call("GET", path);
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^(W\/)?"[\x21\x23-\x7e]+"$/);
    for (const known of [etag, etag.replace(/^W\//, ""), `"other", ${etag}`, `W/"other",${etag}`, "*"]) {
      const again = await anonymous.call("GET", path, undefined, { "if-none-match": known });
      expect([again.status, again.text]).toEqual([304, ""]);
      for (const name of ["etag", "cache-control", "vary", "link"]) {
        expect(again.headers.get(name), name).toBe(first.headers.get(name));
      }
    }
    const other = await anonymous.call("GET", path, undefined, { "if-none-match": '"other"' });
    expect([other.status, other.text]).toEqual([200, first.text]);
  });

  it("is none of a page that goes on changing, or is its visitor's own", async () => {
    const own = { cookie: `service_session=${owner.token}` };
    for (const [path, headers] of [
      ["/status", {}],
      ["/marketplace", {}],
      [`/runs/${run}`, own],
    ] as const) {
      const answer = await anonymous.call("GET", path, undefined, headers);
      expect([answer.status, answer.headers.get("etag")]).toEqual([200, null]);
      expect(answer.headers.get("cache-control")).toBe("no-store");
    }
  });

  it("answers 200 again after what is read has changed", async () => {
    const { id } = (await owner.call("GET", AGENTS)).body.items[0];
    const path = `${AGENTS}/${id}`;
    const etag = (await anonymous.call("GET", path)).headers.get("etag") ?? "";
    expect((await anonymous.call("GET", path, undefined, { "if-none-match": etag })).status).toBe(304);
    await owner.call("PATCH", path, { description: "new" });
    const changed = await anonymous.call("GET", path, undefined, { "if-none-match": etag });
    expect([changed.status, changed.body.description]).toEqual([200, "new"]);
  });
});

describe("answers to other origins", () => {
  const from = (origin: string, method = "GET", path = AGENTS, headers: Record<string, string> = {}) =>
    anonymous.call(method, path, undefined, { origin, ...headers });
  const allowed = ({ headers }: Answer) => [
    headers.get("access-control-allow-origin"),
    headers.get("access-control-allow-credentials"),
  ];

  it("carry credentials for the service's own and the listed origins", async () => {
    for (const origin of [service.url, LISTED, "https://other.example.test"]) {
      for (const method of ["GET", "POST"]) expect(allowed(await from(origin, method))).toEqual([origin, "true"]);
    }
  });

  it.each(["https://evil.example", "null", `${LISTED}.evil.example`, "http://app.example.test", `${LISTED}:8443`])(
    "are for reading alone, without credentials, for every other: %s",
    async (origin) => {
      for (const method of ["GET", "HEAD"]) expect(allowed(await from(origin, method))).toEqual(["*", null]);
      for (const method of ["POST", "PUT", "DELETE"]) expect(allowed(await from(origin, method))).toEqual([null, null]);
    },
  );

  it("let errors be read, and name the headers that matter", async () => {
    const answer = await from(LISTED, "GET", "/nowhere");
    expect([answer.status, ...allowed(answer)]).toEqual([404, LISTED, "true"]);
    const exposed = answer.headers.get("access-control-expose-headers")?.split(", ");
    for (const name of ["ETag", "Link", "Location", "RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-Id"]) {
      expect(exposed).toContain(name);
    }
  });

  it("vary by Origin, asked from one or not", async () => {
    for (const headers of [{}, { origin: LISTED }]) {
      const answer = await anonymous.call("GET", "/api/v1/suites", undefined, headers);
      expect(answer.headers.get("vary")).toMatch(/\bOrigin\b/);
    }
  });

  it("allow a listed origin every method in a preflight, and others GET", async () => {
    const ask = {
      "access-control-request-method": "PATCH",
      "access-control-request-headers": "content-type,x-api-key",
    };
    const listed = await from(LISTED, "OPTIONS", AGENTS, ask);
    expect([listed.status, listed.text, ...allowed(listed)]).toEqual([204, "", LISTED, "true"]);
    expect(listed.headers.get("access-control-allow-methods")).toBe("GET, POST, PATCH, DELETE");
    expect(listed.headers.get("access-control-allow-headers")).toBe("content-type,x-api-key");
    const other = await from("https://evil.example", "OPTIONS", AGENTS, ask);
    expect([other.status, ...allowed(other)]).toEqual([204, "*", null]);
    expect(other.headers.get("access-control-allow-methods")).toBe("GET");
  });
});

describe("a write with the session cookie", () => {
  const write = (headers: Record<string, string>, method = "POST", path = AGENTS) =>
    anonymous.call(method, path, method === "DELETE" ? undefined : {}, {
      cookie: `service_session=${owner.token}`,
      ...headers,
    });

  it.each([
    ["another site, without an Origin", { "sec-fetch-site": "cross-site" }],
    ["a neighbour's site, without an Origin", { "sec-fetch-site": "same-site" }],
    ["another site, which also claims this one", { origin: "https://evil.example", "sec-fetch-site": "same-origin" }],
    ["another site", { origin: "https://evil.example" }],
    ["an opaque origin", { origin: "null" }],
    ["a listed host under another scheme", { origin: "http://app.example.test" }],
  ])("is 403 cross_site_request from %s", async (_, headers) => {
    for (const [method, path] of [
      ["POST", AGENTS],
      ["DELETE", `${AGENTS}/${crypto.randomUUID()}`],
      ["POST", "/api/v1/auth/logout"],
    ]) {
      const answer = await write(headers, method, path);
      expect([answer.status, answer.body.code]).toEqual([403, "cross_site_request"]);
    }
  });

  it.each<[string, () => Record<string, string>]>([
    ["the service's own origin", () => ({ origin: service.url })],
    [
      "a listed origin, which the browser calls another site",
      () => ({ origin: LISTED, "sec-fetch-site": "cross-site" }),
    ],
    ["its own page, without an Origin", () => ({ "sec-fetch-site": "same-origin" })],
    ["a client that is no browser: no Origin, no Sec-Fetch-Site", () => ({})],
  ])("passes from %s", async (_, headers) => {
    expect((await write(headers())).status).toBe(422);
  });

  it("is no matter where the token comes as a header, or where nothing is written", async () => {
    const headers = { origin: "https://evil.example" };
    expect((await write({ ...headers, authorization: `Bearer ${owner.token}` })).status).toBe(422);
    const read = await anonymous.call("GET", "/api/v1/auth/me", undefined, {
      ...headers,
      cookie: `service_session=${owner.token}`,
    });
    expect(read.status).toBe(200);
  });
});

describe("security headers", () => {
  it.each<[number, string, string, unknown, Record<string, string>]>([
    [200, "GET", AGENTS, undefined, {}],
    [204, "OPTIONS", AGENTS, undefined, { "access-control-request-method": "GET", origin: LISTED }],
    [304, "GET", "/api/v1/suites", undefined, { "if-none-match": "*" }],
    [400, "POST", "/api/v1/evidence/verify", "{", {}],
    [401, "GET", "/api/v1/auth/me", undefined, {}],
    [401, "GET", AGENTS, undefined, { authorization: "Bearer x" }],
    [404, "GET", "/nowhere", undefined, {}],
    [405, "PUT", AGENTS, undefined, {}],
    [413, "POST", "/api/v1/evidence/verify", "x".repeat(1_100_000), {}],
    [415, "POST", "/api/v1/evidence/verify", "x", { "content-type": "text/plain" }],
    [422, "GET", `${AGENTS}/x`, undefined, {}],
  ])("stand on every answer: %i", async (status, method, path, body, headers) => {
    const answer = await anonymous.call(method, path, body, headers);
    expect(answer.status).toBe(status);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
    expect(answer.headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(answer.headers.get("x-request-id")).toMatch(/./);
    expect(answer.headers.get("strict-transport-security"), "no HSTS on plain http").toBeNull();
  });
});
