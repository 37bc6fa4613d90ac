import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { ask, at, clearWeb, fetched, fetchFromWeb, manifestOf, redirect, serve, web } from "./registry-support.ts";
import { range, tally, unique } from "../runs/support.ts";

const DAILY = "17 3 * * *";
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let resolverFails = false;
let late = 0;
let service: TestService;
let user: User;

beforeAll(async () => {
  service = await startService({
    overrides: {
      now: () => new Date(Date.now() + late),
      fetch: fetchFromWeb,
      resolver: {
        query: () => (resolverFails ? Promise.reject(new Error("SERVFAIL")) : Promise.resolve(["93.184.216.34"])),
      },
    },
  });
  user = await newUser(service, { plan: "pro" });
});

beforeEach(() => {
  clearWeb();
  late = 0;
  resolverFails = false;
});

afterAll(() => service.stop());

const register = (url: string, who: User = user) => ask(who, "register", url);

describe("registering", () => {
  it("makes an agent out of the manifest", async () => {
    const manifest = manifestOf("made.example.com", { description: "Adds.", version: "2.1" });
    serve(at("made.example.com"), { ...manifest, declared_configuration: { model: "m" } });
    const { status, body, headers } = await register("https://made.example.com/");
    expect([status, body]).toMatchObject([
      201,
      {
        name: manifest.name,
        description: "Adds.",
        endpoint: manifest.endpoint,
        agent_protocol: "native",
        connection_mode: "http_endpoint",
        manifest_url: at("made.example.com"),
        registry_status: "registered",
        is_public: true,
        declared_configuration: { model: "m", version: "2.1" },
      },
    ]);
    expect(headers.get("location")).toBe(`/api/v1/agents/${body.id}`);
    expect((await user.call("GET", `/api/v1/agents/${body.id}`)).body).toEqual(body);
  });

  it("of one manifest many times at once makes one agent", async () => {
    serve(at("race.example.com"), manifestOf("race.example.com"));
    const answers = await Promise.all(range(8).map(() => register("https://race.example.com/")));
    expect(tally(answers)).toEqual({ 201: 1, 409: 7 });
    expect(answers.filter(({ status }) => status === 409).map(({ body }) => body.code)).toEqual(
      Array(7).fill("duplicate_name"),
    );
  });

  it("keeps to the plan's limit, also at once", async () => {
    const free = await newUser(service);
    for (const index of range(6)) serve(at(`quota${index}.example.com`), manifestOf(`quota${index}.example.com`));
    const answers = await Promise.all(range(6).map((index) => register(`https://quota${index}.example.com/`, free)));
    expect(tally(answers)).toEqual({ 201: 3, 402: 3 });
  });

  it("gives the first answer again for its Idempotency-Key", async () => {
    serve(at("again.example.com"), manifestOf("again.example.com"));
    const send = () => ask(user, "register", "https://again.example.com/", { "idempotency-key": "again" });
    const [first, second] = [await send(), await send()];
    expect([first.status, second.status, second.headers.get("idempotency-replayed")]).toEqual([201, 201, "true"]);
    expect(second.body).toEqual(first.body);
  });
});

describe("a registration", () => {
  const statusOf = async (id: string) =>
    (await caller(service).call("GET", `/api/v1/agents/${id}`)).body.registry_status;
  /** The daily work of another day than any before, and all that follows from it. */
  const nextDay = async () => {
    days += 1;
    late = days * DAY;
    await service.app.scheduled(DAILY);
    await service.settled();
  };
  let days = 0;
  const make = async (host: string) => {
    const manifest = manifestOf(host);
    serve(at(host), manifest);
    return { id: (await register(`https://${host}/`)).body.id as string, manifest };
  };

  it("is stale while its manifest does not answer or names another endpoint, and then a registration again", async () => {
    const { id, manifest } = await make("daily.example.com");
    const url = at("daily.example.com");
    await nextDay();
    expect(await statusOf(id)).toBe("registered");
    for (const change of [
      () => void web.delete(url),
      () => serve(url, { ...manifest, endpoint: at("daily.example.com", "/other") }),
      () => serve(url, { ...manifest, name: 1 }),
      () => redirect(url, "https://other.example.org/agent.json"),
    ]) {
      change();
      await nextDay();
      expect(await statusOf(id)).toBe("stale");
      serve(url, manifest);
      await nextDay();
      expect(await statusOf(id)).toBe("registered");
    }
  });

  it("is looked at once a day, however often the day's work is done", async () => {
    const { id } = await make("once.example.com");
    await nextDay();
    const looks = () => fetched.filter((url) => url === at("once.example.com")).length;
    const marks = () => service.sql("select manifest_checked_at from agents where id = $1", [id]);
    const before = await marks();
    late += 19 * HOUR;
    await Promise.all([service.app.scheduled(DAILY), service.app.scheduled(DAILY)]);
    await service.settled();
    expect([looks(), await marks()]).toEqual([2, before]);
    expect(await service.sql("select from outbox where consumer = 'recheck' and id = $1", [id])).toEqual([]);
  });

  it("keeps its status when our own resolver fails, and is looked at again", async () => {
    const { id } = await make("resolver.example.com");
    resolverFails = true;
    await nextDay();
    expect(await statusOf(id)).toBe("registered");
    expect(service.logs.some((line) => line.includes("delivery failed") && line.includes("recheck"))).toBe(true);
    web.clear();
    resolverFails = false;
    await nextDay();
    expect(await statusOf(id)).toBe("stale");
  });

  it("is stale at once when the endpoint is moved, until the manifest follows, and ends with its manifest", async () => {
    const { id, manifest } = await make("moved.example.com");
    const endpoint = at("moved.example.com", "/new");
    const patch = (fields: object) => user.call("PATCH", `/api/v1/agents/${id}`, fields);
    late = 0;
    expect((await patch({ description: "Same.", endpoint: manifest.endpoint })).body.registry_status).toBe(
      "registered",
    );
    expect((await patch({ endpoint })).body.registry_status).toBe("stale");
    await nextDay();
    expect(await statusOf(id)).toBe("stale");
    serve(at("moved.example.com"), { ...manifest, endpoint });
    await nextDay();
    expect(await statusOf(id)).toBe("registered");
    late = 0;
    expect((await patch({ manifest_url: null })).body.registry_status).toBe("unregistered");
    await nextDay();
    expect(await statusOf(id)).toBe("unregistered");
  });

  it("is none of a document that lies where others than the domain's owner may put one", async () => {
    const { id } = await make("forger.example.com");
    const upload = at("forum.famous.example.net", "/uploads/agent.json");
    const manifest = manifestOf("api.famous.example.net");
    const patch = (fields: object) => user.call("PATCH", `/api/v1/agents/${id}`, fields);
    late = 0;
    expect((await patch({ manifest_url: upload, endpoint: manifest.endpoint })).body.registry_status).toBe("stale");
    serve(upload, manifest);
    await nextDay();
    expect(await statusOf(id)).toBe("stale");
    for (const path of ["/.well-known/agent.json", "/.well-known/agent-card.json"]) {
      const url = at("forum.famous.example.net", path);
      late = 0;
      await patch({ manifest_url: url });
      serve(url, manifest);
      await nextDay();
      expect(await statusOf(id)).toBe("registered");
    }
  });

  it("is not judged by a look at what it was before a change that came in between", async () => {
    const { id, manifest } = await make("between.example.com");
    web.set(at("between.example.com"), () => Response.json(manifest));
    const moved = at("between.example.com", "/moved");
    let changed: Promise<unknown> | undefined;
    web.set(at("between.example.com"), () => {
      changed = service.sql("update agents set endpoint = $1, registry_status = 'stale' where id = $2", [moved, id]);
      return new Response(
        new ReadableStream({
          async start(body) {
            await changed;
            body.enqueue(new TextEncoder().encode(JSON.stringify(manifest)));
            body.close();
          },
        }),
      );
    });
    await nextDay();
    expect(changed).toBeDefined();
    expect(await statusOf(id)).toBe("stale");
  });
});

describe("an answer that is asked for again by its Idempotency-Key", () => {
  const twice = async (path: string, body: object, change: () => unknown) => {
    const headers = { "idempotency-key": randomUUID(), "cf-connecting-ip": "10.8.0.1" };
    const send = () => user.call("POST", path, body, headers);
    const first = await send();
    await change();
    const again = await send();
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.body.id).toBe(first.body.id);
    expect(again.status).toBe(first.status);
    return first.status;
  };
  const failing = () => (resolverFails = true);

  it.each([
    [
      "an agent whose endpoint can't be looked up any more",
      "/api/v1/agents",
      { endpoint: at("a.example.com", "/run") },
    ],
    [
      "a webhook whose receiver can't be looked up any more",
      "/api/v1/webhooks",
      { url: at("w.example.com", "/hook"), event_types: ["run.completed"] },
    ],
  ])("is that of before: %s", async (_what, path, body) => {
    const named = path.endsWith("agents") ? { name: unique("Again"), ...body } : body;
    expect(await twice(path, named, failing)).toBe(201);
  });

  it("is that of before: an agent whose manifest is gone", async () => {
    serve(at("gone.example.com"), manifestOf("gone.example.com"));
    expect(await twice("/api/v1/registry/register", { url: "https://gone.example.com/" }, clearWeb)).toBe(201);
  });

  it("is that of before: a key that would have ended by now", async () => {
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    expect(
      await twice("/api/v1/api-keys", { name: unique("Short"), scope: "read", expires_at }, () => (late = 120_000)),
    ).toBe(201);
  });

  it("is the refusal where nothing was answered before", async () => {
    resolverFails = true;
    const body = { name: unique("Refused"), endpoint: at("b.example.com", "/run") };
    const { status, headers } = await user.call("POST", "/api/v1/agents", body, { "idempotency-key": randomUUID() });
    expect([status, headers.get("idempotency-replayed")]).toEqual([503, null]);
  });
});
