import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type Caller, caller, newUser } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";

let service: TestService;
let ahead = 0;
let addresses = 0;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(Date.now() + ahead) } });
  const { id } = await newUser(service);
  await service.sql("insert into agents (user_id, name, connection_mode) values ($1, 'agent', 'mock')", [id]);
  // The mail to the new account is no part of what is counted.
  await service.settled();
});

afterAll(() => service.stop());

/** A caller without credentials from an address of its own, which reads an isolate's memory if there is anything in it. */
function reader(): Caller {
  addresses += 1;
  return caller(service, { "cf-connecting-ip": `172.24.${addresses >> 8}.${addresses & 255}` });
}

const dbRequests = () => service.counters.snapshot().db.requests;

describe("an answer that is kept", () => {
  // What was kept before has expired.
  beforeEach(() => void (ahead += 60_000));

  it.each([
    [
      "a page of a list",
      "/api/v1/tasks",
      ["?page=1", "?page_size=20&page=1", "?page=1&page_size=20", "?page=01", "?page_size=2e1", "?pag%65=1", "?", "?&"],
    ],
    [
      "the board",
      "/api/v1/leaderboard?period=all",
      ["&verified_only=false", "&verified_only=no", "&page=1&verified_only=0", "&page_size=20"],
    ],
    ["a page for people, links to which carry marks", "/", ["?utm_source=a", "?utm_source=b", "?fbclid=1&page=1"]],
    [
      "a page for people, asked for what there can't be",
      "/",
      ["?page=0", "?domain=", "?page_size=x&period=&certified_only=", "?page=1e12&verified_only=maybe", "?domain=cook"],
    ],
  ])("is one for all spellings of what it answers: %s", async (_what, path, spellings) => {
    service.counters.reset();
    const first = await reader().call("GET", path);
    expect([first.status, dbRequests()]).toEqual([200, 1]);
    // Twice: the second time the spelling itself is known.
    for (const spelling of [...spellings, ...spellings]) {
      const again = await reader().call("GET", path + spelling);
      expect([spelling, again.status, again.text]).toEqual([spelling, 200, first.text]);
      for (const name of ["etag", "link", "cache-control", "content-type", "content-security-policy"]) {
        expect(again.headers.get(name), name).toBe(first.headers.get(name));
      }
    }
    expect(dbRequests()).toBe(1);
  });

  it("is another for another question", async () => {
    service.counters.reset();
    const paths = ["", "?page=2", "?page_size=19", "?domain=math", "?domain=coding"];
    for (const path of paths) await reader().call("GET", `/api/v1/tasks${path}`);
    expect(dbRequests()).toBe(paths.length);
  });

  it("is found for an id in capitals", async () => {
    const { body } = await reader().call("GET", "/api/v1/tasks?page_size=1");
    const path = `/api/v1/tasks/${body.items[0].id}`;
    service.counters.reset();
    const texts = [path, path.replace(/[^/]+$/, (id) => id.toUpperCase())].map(
      async (one) => (await reader().call("GET", one)).body.id,
    );
    expect(new Set(await Promise.all(texts)).size).toBe(1);
    await reader().call(
      "GET",
      path.replace(/[^/]+$/, (id) => id.toUpperCase()),
    );
    expect(dbRequests()).toBeLessThanOrEqual(2);
  });

  it("does not hide that a question is wrong", async () => {
    await reader().call("GET", "/api/v1/tasks");
    for (const [query, code] of [
      ["?utm_source=a", "unrecognized_parameter"],
      ["?page=0", "validation_failed"],
    ]) {
      for (let round = 0; round < 2; round += 1) {
        expect(await reader().call("GET", `/api/v1/tasks${query}`)).toMatchObject({ status: 422, body: { code } });
      }
    }
  });
});

describe("a change of the catalogue", () => {
  it("shows at once in all that tells of tasks: lists, pages, and how the field does at them", async () => {
    ahead += 60_000;
    const operator = await newUser(service, { email: "admin@example.test", verified: true });
    const [suite] = (await reader().call("GET", "/api/v1/suites")).body.items;
    const tasks = (await reader().call("GET", `/api/v1/tasks?suite_id=${suite.id}`)).body;
    const { id } = tasks.items[0];
    const paths = [`/api/v1/suites/${suite.id}/field`, `/suites/${suite.slug}`, `/tasks/${id}`, "/suites"];
    const read = () => Promise.all(paths.map(async (path) => (await reader().call("GET", path)).text));
    const before = await read();
    expect((await operator.call("POST", `/api/v1/tasks/${id}/retire`)).body.was_active).toBe(true);
    const [field, list, task, suites] = await read();
    expect([field?.includes(id), list?.includes(id), task?.includes(">retired<")]).toEqual([false, false, true]);
    expect(suites).not.toBe(before[3]);
    const title = "As new as can be";
    const body = { title, domain: "math", prompt: "6 times 7?", grader: { type: "exact" }, expected_output: "42" };
    expect((await operator.call("POST", "/api/v1/tasks", { ...body, suite_id: suite.id })).status).toBe(201);
    expect((await read())[1]).toContain(title);
  });
});

describe("an answer that many ask for at once", () => {
  const MANY = 40;
  const path = "/api/v1/leaderboard?period=all";
  const askAll = (asked = path, headers: Record<string, string> = {}) =>
    Promise.all(Array.from({ length: MANY }, () => reader().call("GET", asked, undefined, headers)));
  const hang = () => service.faults.set({ service: "db", mode: "hang", count: 1 });
  const lift = () => service.faults.set({ service: "db", mode: "none" });

  beforeEach(() => {
    ahead += 60_000;
    service.counters.reset();
  });

  it("is made once", async () => {
    const answers = await askAll();
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect([answers[0]?.status, dbRequests()]).toEqual([200, 1]);
    // Each of them is counted by itself.
    for (const { headers } of answers) expect(headers.get("ratelimit")).toMatch(/^"minute";r=299;/);
  });

  it.each([path, "/"])("is made once, and kept, where all of them have it already: %s", async (asked) => {
    const etag = (await reader().call("GET", asked)).headers.get("etag") ?? "";
    for (const age of [60_000, 9500]) {
      ahead += age;
      service.counters.reset();
      const answers = await askAll(asked, { "if-none-match": etag });
      const shown = answers.map(({ status, text, headers }) => `${status} ${text} ${headers.get("etag")}`);
      expect([...new Set(shown)]).toEqual([`304  ${etag}`]);
      expect((await reader().call("GET", asked)).status).toBe(200);
      expect(dbRequests()).toBe(1);
    }
  });

  it("is made anew by one of them before it expires, and shown to the others meanwhile", async () => {
    await reader().call("GET", path);
    ahead += 8000;
    await askAll();
    expect(dbRequests()).toBe(1);
    // At the beginning of the last second: the rest of it is for a machine that is slow to ask.
    ahead += 1050;
    hang();
    const renewing = reader().call("GET", path);
    await vi.waitFor(() => expect(dbRequests()).toBe(2), 10_000);
    await askAll();
    expect(dbRequests()).toBe(2);
    lift();
    expect((await renewing).status).toBe(200);
    ahead += 8000;
    await askAll();
    expect(dbRequests()).toBe(2);
  });

  it("is made by each of them where the first could not make it", async () => {
    service.faults.set({ service: "db", mode: "error", count: 1 });
    const statuses = (await askAll()).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 200)).toEqual([503]);
    expect(dbRequests()).toBeLessThanOrEqual(MANY);
  });

  it("does not hold up who asks for another one, nor who asks after a change", async () => {
    const owner = await newUser(service);
    const { body: agent } = await owner.call("POST", "/api/v1/agents", { name: "agent", connection_mode: "mock" });
    await service.settled();
    service.counters.reset();
    hang();
    const first = reader().call("GET", path);
    await vi.waitFor(() => expect(dbRequests()).toBe(1), 10_000);
    expect((await reader().call("GET", `${path}&page=2`)).status).toBe(200);
    expect((await owner.call("PATCH", `/api/v1/agents/${agent.id}`, { name: "renamed" })).status).toBe(200);
    service.counters.reset();
    expect((await askAll()).map(({ status }) => status)).toEqual(Array(MANY).fill(200));
    expect(dbRequests()).toBe(1);
    lift();
    expect((await first).status).toBe(200);
  });
});

describe("a parameter that is not known", () => {
  it.each([
    ["/api/v1/agents?page_sice=5", ["page_sice", "page_size"]],
    ["/api/v1/runs?state=queued", ["state", "status"]],
    ["/api/v1/leaderboard?verified=true", ["verified", "verified_only"]],
    ["/api/v1/certify/diagnostic?x=1", ["x", "no query parameters"]],
  ])("is 422 that says what may be meant: %s", async (path, words) => {
    const { status, body } = await reader().call("GET", path);
    expect([status, body.code]).toEqual([422, "unrecognized_parameter"]);
    for (const word of words) expect(body.detail).toContain(word);
  });

  it("is no matter beside the API", async () => {
    for (const path of ["/", "/docs", "/openapi.json", "/healthz", "/.well-known/jwks.json"])
      expect((await reader().call("GET", `${path}?utm_source=a`)).status, path).toBe(200);
    const query = { query: "{ leaderboard { items { name } } }" };
    expect((await reader().call("POST", "/graphql?utm_source=a", query)).status).toBe(200);
  });
});
