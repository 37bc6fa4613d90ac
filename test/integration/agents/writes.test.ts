import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";

const AGENTS = "/api/v1/agents";
const ENDPOINT = "https://agent.example.com/run";

let service: TestService;
let owner: User;

beforeAll(async () => {
  service = await startService({ overrides: { resolver: { query: () => Promise.resolve(["93.184.216.34"]) } } });
  owner = await newUser(service, { plan: "pro" });
});

afterAll(() => service.stop());

let addresses = 0;

/** Calls as the owner, or another, from an address of its own, so that no limit is met here. */
function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}, by = owner) {
  addresses += 1;
  const own = {
    authorization: `Bearer ${by.token}`,
    "cf-connecting-ip": `172.22.${addresses >> 8}.${addresses & 255}`,
  };
  return caller(service, own).call(method, path, body, headers);
}

const create = (fields: object = {}, headers: Record<string, string> = {}, by = owner) =>
  call("POST", AGENTS, { name: randomUUID(), ...fields }, headers, by);

async function made(fields: object = {}, by = owner): Promise<string> {
  const answer = await create(fields, {}, by);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}

const patch = (id: string, body: object) => call("PATCH", `${AGENTS}/${id}`, body);

describe("creation", () => {
  it("gives a mock without an endpoint, and a live agent with one, at its Location", async () => {
    const mock = await create();
    expect(mock.body).toMatchObject({ connection_mode: "mock", has_endpoint: false, endpoint: null, is_public: true });
    const live = await create({ endpoint: "https://Agent.Example.COM:443/run" });
    expect(live.body).toMatchObject({ connection_mode: "http_endpoint", has_endpoint: true, endpoint: ENDPOINT });
    expect(live.headers.get("location")).toBe(`${AGENTS}/${live.body.id}`);
    expect((await call("GET", live.headers.get("location") ?? "")).body).toEqual(live.body);
  });

  it.each(["customer_llm", "provider_assistant"])("is 410 in a retired mode: %s", async (mode) => {
    const answer = await create({ connection_mode: mode });
    expect([answer.status, answer.body.code]).toEqual([410, "provider_custody_retired"]);
  });

  it("needs an endpoint for the mode http_endpoint", async () => {
    const answer = await create({ connection_mode: "http_endpoint" });
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, "/endpoint"]);
  });

  it("of one name, in any case, succeeds once of 20 at once", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => create({ name: index % 2 === 0 ? "Same Name" : " same NAME " })),
    );
    const statuses = answers.map(({ status, body }) => [status, body.code ?? ""].join(" "));
    expect(statuses.toSorted()).toEqual(["201 ", ...Array.from({ length: 19 }, () => "409 duplicate_name")]);
  });

  it("may take a name that another owner has, or that an own deleted agent had", async () => {
    const other = await newUser(service);
    const name = randomUUID();
    const id = await made({ name });
    await made({ name }, other);
    await call("DELETE", `${AGENTS}/${id}`);
    await made({ name });
  });

  it("on the free plan succeeds exactly 3 times of 20 at once, and again after a deletion", async () => {
    const free = await newUser(service);
    const answers = await Promise.all(Array.from({ length: 20 }, () => create({}, {}, free)));
    const [first] = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(17);
    for (const { status, body } of refused) {
      expect([status, body]).toMatchObject([402, { code: "quota_exceeded", limit: 3, used: 3, resets_at: null }]);
    }
    expect((await call("DELETE", `${AGENTS}/${first?.body.id}`, undefined, {}, free)).status).toBe(204);
    await made({}, free);
    const back = await call("PATCH", `${AGENTS}/${first?.body.id}`, { is_active: true }, {}, free);
    expect([back.status, back.body.code, back.body.limit, back.body.used]).toEqual([402, "quota_exceeded", 3, 3]);
  });

  it("tells how many there are where a smaller plan allows fewer, also to one that is activated again", async () => {
    const fallen = await newUser(service, { plan: "pro" });
    const ids = await Promise.all(Array.from({ length: 6 }, () => made({}, fallen)));
    expect((await call("DELETE", `${AGENTS}/${ids[0]}`, undefined, {}, fallen)).status).toBe(204);
    await service.sql("update users set plan = 'free' where id = $1", [fallen.id]);
    const answers = [
      await create({}, {}, fallen),
      await call("PATCH", `${AGENTS}/${ids[0]}`, { is_active: true }, {}, fallen),
    ];
    for (const { status, body } of answers)
      expect([status, body]).toMatchObject([402, { code: "quota_exceeded", limit: 3, used: 5, resets_at: null }]);
  });
});

describe("a change", () => {
  it("touches what is given and nothing else", async () => {
    const id = await made({ endpoint: ENDPOINT, description: "old", declared_configuration: { model: "m" } });
    const before = (await call("GET", `${AGENTS}/${id}`)).body;
    expect((await patch(id, {})).body).toEqual({ ...before, updated_at: expect.any(String) });
    const changed = {
      name: "Renamed",
      description: "",
      is_public: false,
      allow_trial: true,
      publish_answers: true,
      agent_protocol: "a2a",
    };
    expect((await patch(id, changed)).body).toEqual({ ...before, ...changed, updated_at: expect.any(String) });
  });

  it("with null empties what may be empty", async () => {
    const root = await made();
    const urls = { provider_url: "https://provider.example.com/", manifest_url: "https://m.example.com/" };
    const id = await made({ ...urls, variant_of: root, declared_configuration: { model: "m" } });
    const empty = {
      provider_url: null,
      manifest_url: null,
      variant_of: null,
      declared_configuration: null,
      endpoint: null,
    };
    const answer = await patch(id, empty);
    expect([answer.status, answer.body]).toMatchObject([200, empty]);
  });

  it.each([
    "name",
    "description",
    "connection_mode",
    "agent_protocol",
    "is_public",
    "allow_trial",
    "publish_answers",
    "is_active",
    "clear_customer_llm_key",
  ])("with null for what must have a value is 422: %s", async (field) => {
    const answer = await patch(await made(), { [field]: null });
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, `/${field}`]);
  });

  it("of the workspace is none: team_id is no field of it", async () => {
    const answer = await patch(await made(), { team_id: randomUUID() });
    expect([answer.status, answer.body.code]).toEqual([422, "unrecognized_field"]);
  });

  it("connects a mock by an endpoint, and cannot take a live agent's away", async () => {
    const id = await made();
    expect((await patch(id, { connection_mode: "http_endpoint" })).status).toBe(422);
    expect((await patch(id, { endpoint: ENDPOINT })).body).toMatchObject({
      connection_mode: "http_endpoint",
      has_endpoint: true,
    });
    const taken = await patch(id, { endpoint: null });
    expect([taken.status, taken.body.errors[0].pointer]).toEqual([422, "/endpoint"]);
    expect((await patch(id, { connection_mode: "mock", endpoint: null })).body).toMatchObject({
      has_endpoint: false,
      endpoint: null,
    });
  });

  it("to a name that is taken is 409, also by activation", async () => {
    const name = randomUUID();
    const gone = await made({ name });
    await call("DELETE", `${AGENTS}/${gone}`);
    const holder = await made({ name: name.toUpperCase() });
    const other = await made();
    for (const [id, body] of [
      [other, { name }],
      [gone, { is_active: true }],
    ] as const) {
      const answer = await patch(id, body);
      expect([answer.status, answer.body.code]).toEqual([409, "duplicate_name"]);
    }
    expect((await patch(holder, { name })).status, "the case of its own name").toBe(200);
  });
});

describe("an agent of a retired mode", () => {
  it.each(["customer_llm", "provider_assistant"])(
    "is 410 until it gave the key up, then connects again: %s",
    async (mode) => {
      const id = await made();
      await service.sql("update agents set connection_mode = $2, customer_llm_provider = 'acme' where id = $1", [
        id,
        mode,
      ]);
      const read = () => call("GET", `${AGENTS}/${id}`);
      expect((await read()).body).toMatchObject({
        connection_mode: mode,
        connection_retired: true,
        has_endpoint: false,
      });
      for (const body of [
        { endpoint: ENDPOINT },
        { connection_mode: "http_endpoint", endpoint: ENDPOINT },
        { connection_mode: "mock" },
        { connection_mode: mode },
        { description: "renamed" },
        { is_public: false, clear_customer_llm_key: false },
        {},
      ]) {
        const answer = await patch(id, body);
        expect([answer.status, answer.body.code]).toEqual([410, "provider_custody_retired"]);
      }
      const run = await call("POST", "/api/v1/runs/batch", { agent_id: id });
      expect([run.status, run.body.code]).toEqual([410, "provider_custody_retired"]);
      const cleared = await patch(id, { clear_customer_llm_key: true });
      expect(cleared.body).toMatchObject({
        connection_retired: false,
        customer_llm_provider: null,
        has_endpoint: false,
      });
      const live = await patch(id, { connection_mode: "http_endpoint", endpoint: ENDPOINT });
      expect(live.body).toMatchObject({ connection_mode: "http_endpoint", has_endpoint: true });
    },
  );

  it("comes back in one change too, by its endpoint alone, and a deletion discards what was stored", async () => {
    const [back, again, gone] = [await made(), await made(), await made()];
    await service.sql(
      "update agents set connection_mode = 'customer_llm', customer_llm_provider = 'acme' where id = any($1)",
      [[back, again, gone]],
    );
    const connection = { clear_customer_llm_key: true, endpoint: ENDPOINT };
    for (const live of [
      await patch(back, { ...connection, connection_mode: "http_endpoint" }),
      await patch(again, connection),
    ])
      expect(live.body).toMatchObject({ has_endpoint: true, customer_llm_provider: null });
    for (const _ of ["once", "again"]) expect((await call("DELETE", `${AGENTS}/${gone}`)).status).toBe(204);
    expect((await call("GET", `${AGENTS}/${gone}`)).body).toMatchObject({
      is_active: false,
      customer_llm_provider: null,
    });
  });
});
