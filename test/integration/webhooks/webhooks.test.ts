import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Answer, type Caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, range, tally } from "../runs/support.ts";
import { announce, logOf, newTeam, roaming, SECRET, subscribe, WEBHOOKS } from "./support.ts";

const URL = "https://receiver.example.com/in";
const ROLES = ["owner", "admin", "editor", "runner", "member", "viewer"] as const;
const EDITORS: readonly string[] = ["owner", "admin", "editor"];
const LEAST = { url: URL, event_types: ["run.completed"] };

type Role = (typeof ROLES)[number];

let service: TestService;
let owner: Caller;
let other: Caller;
/** A workspace with a member of each role, and a private agent of it. */
let people: Record<Role, Caller>;
let team: string;
let agent: string;
/** What every name resolves to; null where the resolver fails. */
let addresses: string[] | null;
const sent: string[] = [];

beforeAll(async () => {
  service = await startService({
    overrides: {
      resolver: { query: async () => addresses ?? Promise.reject(new Error("no answer")) },
      fetch: async (input, init) => {
        const { url } = new Request(input, init);
        if (!url.includes("example.com")) return fetch(input, init);
        sent.push(url);
        return new Response("taken", { status: 200 });
      },
    },
  });
  const users = await Promise.all([
    ...ROLES.map(() => newUser(service, { plan: "team" })),
    newUser(service),
    newUser(service),
  ]);
  const [lead] = users;
  team = await newTeam(service, lead, users.slice(0, ROLES.length), ROLES);
  agent = await addAgent(lead, { team_id: team, is_public: false });
  const callers = users.map(roaming);
  people = Object.fromEntries(ROLES.map((role, index) => [role, callers[index]])) as typeof people;
  [owner, other] = callers.slice(ROLES.length) as [Caller, Caller];
});

afterAll(() => service.stop());

beforeEach(async () => {
  addresses = ["93.184.216.34"];
  sent.length = 0;
  await service.sql("delete from webhooks");
  await planned("team");
});

/** Puts every account on a plan. */
const planned = (plan: string) => service.sql("update users set plan = $1", [plan]);

describe("a subscription", () => {
  it("is shown without its secret, which is stored encrypted", async () => {
    const body = { ...LEAST, secret: SECRET, description: " CI ", event_types: ["run.failed", "regression.detected"] };
    const made = await owner.call("POST", WEBHOOKS, body);
    expect([made.status, made.headers.get("location")]).toEqual([201, `${WEBHOOKS}/${made.body.id}`]);
    expect(made.body).toEqual({
      id: expect.any(String),
      url: URL,
      event_types: ["run.failed", "regression.detected"],
      description: "CI",
      agent_id: null,
      agent_name: null,
      team_id: null,
      has_secret: true,
      is_active: true,
      disabled_reason: null,
      created_at: expect.any(String),
    });
    const shown = [
      made,
      await owner.call("GET", `${WEBHOOKS}/${made.body.id}`),
      await owner.call("PATCH", `${WEBHOOKS}/${made.body.id}`, {}),
      await owner.call("GET", WEBHOOKS),
    ];
    expect(shown.map(({ status }) => status)).toEqual([201, 200, 200, 200]);
    for (const { text } of shown) expect(text).not.toContain(SECRET);
    const [row] = await service.sql<{ row: string; secret: string }>("select w::text as row, secret from webhooks w");
    expect(row?.row).not.toContain(SECRET);
    expect(row?.secret).not.toBe(Buffer.from(SECRET).toString("base64"));
  });

  it.each<[string, object, string]>([
    ["no url", { event_types: ["run.completed"] }, "/url"],
    ["an empty list", { ...LEAST, event_types: [] }, "/event_types"],
    ["an unknown type", { ...LEAST, event_types: ["run.started"] }, "/event_types/0"],
    ["a ping", { ...LEAST, event_types: ["ping"] }, "/event_types/0"],
    ["a type twice", { ...LEAST, event_types: ["run.failed", "run.failed"] }, "/event_types"],
    ["a short secret", { ...LEAST, secret: "x".repeat(15) }, "/secret"],
    ["a long secret", { ...LEAST, secret: "x".repeat(257) }, "/secret"],
    ["a secret with a space", { ...LEAST, secret: "sixteen and more x" }, "/secret"],
    ["a long description", { ...LEAST, description: "x".repeat(501) }, "/description"],
    ["a field that is not known", { ...LEAST, team_id: randomUUID() }, "/team_id"],
  ])("is refused with %s", async (_what, body, pointer) => {
    const { status, body: problem } = await owner.call("POST", WEBHOOKS, body);
    expect([status, problem.errors.map((finding: { pointer: string }) => finding.pointer)]).toEqual([422, [pointer]]);
    expect((await owner.call("GET", WEBHOOKS)).body.total).toBe(0);
  });

  it("tells the name of its agent, for as long as that is its owner's", async () => {
    const agent_id = await addAgent(owner as User, { name: "Mine" });
    const { id } = await subscribe(owner, URL, { agent_id });
    const named = async () => (await owner.call("GET", `${WEBHOOKS}/${id}`)).body.agent_name;
    expect(await named()).toBe("Mine");
    const { id: another } = await newUser(service);
    await service.sql("update agents set user_id = $2, name = 'Theirs' where id = $1", [agent_id, another]);
    expect(await named()).toBeNull();
    await service.sql("delete from agents where id = $1", [agent_id]);
  });

  it("is changed in what is given alone, and signs or not as the secret is set", async () => {
    const { id } = await subscribe(owner, URL, { description: "old" });
    const patch = async (fields: object) => (await owner.call("PATCH", `${WEBHOOKS}/${id}`, fields)).body;
    expect(await patch({ description: null })).toMatchObject({ description: null, has_secret: true, url: URL });
    expect(await patch({ secret: null })).toMatchObject({ has_secret: false });
    expect(await patch({ secret: `${SECRET}-2` })).toMatchObject({ has_secret: true });
    const types = ["agent.score_updated"];
    const changed = { url: `${URL}/2`, event_types: types, is_active: false };
    expect(await patch(changed)).toMatchObject({ ...changed, description: null, has_secret: true });
    expect((await owner.call("PATCH", `${WEBHOOKS}/${id}`, { agent_id: randomUUID() })).body.code).toBe(
      "unrecognized_field",
    );
  });

  it("has a new secret by rotation: one that is made is shown once, a given one never", async () => {
    const { id } = await subscribe(owner, URL, { secret: undefined });
    const rotate = (body: object, key: string) =>
      owner.call("POST", `${WEBHOOKS}/${id}/rotate-secret`, body, { "idempotency-key": key });
    const [first, replay] = [await rotate({}, "one"), await rotate({}, "one")];
    expect(first.body).toMatchObject({ id, has_secret: true, secret: expect.stringMatching(/^whsec_[\w-]{43}$/) });
    expect(replay.body).toEqual({ ...first.body, secret: null });
    const given = await rotate({ secret: SECRET }, "two");
    expect([given.status, given.body.secret]).toEqual([200, null]);
    const kept = await service.sql<{ row: string }>("select k::text as row from idempotency_keys k");
    expect(kept.filter(({ row }) => row.includes(first.body.secret) || row.includes(SECRET))).toEqual([]);
  });

  it("is made once by a repeated request", async () => {
    const send = () => owner.call("POST", WEBHOOKS, LEAST, { "idempotency-key": "once" });
    const [first, second] = [await send(), await send()];
    expect(second.body).toEqual(first.body);
    expect((await owner.call("GET", WEBHOOKS)).body.total).toBe(1);
  });

  it("is listed newest first, in pages", async () => {
    const made: string[] = [];
    for (const n of range(3)) made.unshift((await subscribe(owner, `${URL}/${n}`)).id);
    const page = await owner.call("GET", `${WEBHOOKS}?page=2&page_size=2`);
    expect([page.body.total, page.body.items.map(({ id }: { id: string }) => id)]).toEqual([3, made.slice(2)]);
  });
});

describe("the URL of a subscription", () => {
  type Refusal = Answer<{ code: string; errors: { pointer: string }[] }>;
  const tries = (id: string): [string, (url: string) => Promise<Refusal>][] => [
    ["creating", (url) => owner.call("POST", WEBHOOKS, { ...LEAST, url })],
    ["changing", (url) => owner.call("PATCH", `${WEBHOOKS}/${id}`, { url })],
  ];

  it.each<[string, string, string[] | null]>([
    ["is the service's own", "own", null],
    ["is an address", "https://10.0.0.1/in", null],
    ["has a name with a private address", `${URL}/2`, ["10.0.0.1"]],
    ["has a name with a private address beside a public one", `${URL}/2`, ["93.184.216.34", "::ffff:10.0.0.1"]],
    ["has a name without an address", `${URL}/2`, []],
  ])("is refused when it is given and when it is changed where it %s", async (_what, url, resolved) => {
    const { id } = await subscribe(owner, URL);
    addresses = resolved;
    for (const [what, attempt] of tries(id)) {
      const { status, body } = await attempt(url === "own" ? `${service.url}/in` : url);
      const found = [status, body.code, body.errors?.[0]?.pointer];
      expect(found, what).toEqual([422, "endpoint_not_allowed", "/url"]);
    }
    const { body } = await owner.call("GET", WEBHOOKS);
    expect(body.items.map((item: { url: string }) => item.url)).toEqual([URL]);
  });

  it("is judged at every attempt: a name that turned private gets no packet, and the log says why", async () => {
    const id = (await subscribe(people.editor, URL, { agent_id: agent })).id;
    const ping = async () => (await people.editor.call("POST", `${WEBHOOKS}/${id}/test`)).body;
    expect(await ping()).toMatchObject({ status: "succeeded", response_status: 200, response_excerpt: "taken" });
    addresses = ["169.254.169.254"];
    const refused = {
      response_status: null,
      response_excerpt: null,
      failure_detail: expect.stringContaining("receiver.example.com has an address that is not public"),
    };
    expect(await ping()).toMatchObject({ status: "exhausted", ...refused });
    const event = await announce(service, agent);
    const attempts = (await logOf(people.viewer, id)).filter(({ event_id }) => event_id === event);
    expect(attempts).toMatchObject([
      { attempt: 2, status: "pending" },
      { attempt: 1, status: "failed", ...refused },
    ]);
    expect(sent).toEqual([URL]);
  });
});

describe("the plan's limit", () => {
  it("is kept whatever comes at once, and counts those that are off", async () => {
    await planned("pro");
    const answers = await Promise.all(
      range(14).map((n) => owner.call("POST", WEBHOOKS, { ...LEAST, is_active: n % 2 === 0 })),
    );
    expect(tally(answers)).toEqual({ 201: 10, 402: 4 });
    const refused = answers.find(({ status }) => status === 402);
    expect(refused?.body).toMatchObject({ code: "quota_exceeded", limit: 10, used: 10, resets_at: null });
    await owner.call("DELETE", `${WEBHOOKS}/${answers.find(({ status }) => status === 201)?.body.id}`);
    expect((await owner.call("POST", WEBHOOKS, LEAST)).status).toBe(201);
  });

  it.each([
    ["free", 1],
    ["pro", 10],
    ["team", 25],
    ["enterprise", 100],
  ] as const)("of the plan %s is %i, for the account and for each workspace that it includes", async (plan, limit) => {
    await planned(plan);
    const isShared = plan === "team" || plan === "enterprise";
    for (const fields of isShared ? [{}, { agent_id: agent }] : [{}]) {
      const { id } = await subscribe(people.owner, URL, fields);
      await service.sql(
        `insert into webhooks (user_id, team_id, url, event_types)
         select user_id, team_id, url, event_types from webhooks, generate_series(1, $2) where id = $1`,
        [id, limit - 2],
      );
      const rest = limit === 1 ? [402] : [201, 402];
      for (const status of rest) {
        const answer = await people.owner.call("POST", WEBHOOKS, { ...LEAST, ...fields });
        expect([answer.status, answer.body.limit]).toEqual([status, status === 402 ? limit : undefined]);
      }
    }
  });

  it("of a workspace holds for all its editors together", async () => {
    await service.sql(
      `insert into webhooks (user_id, team_id, url, event_types)
       select owner_id, id, $2, '{run.completed}' from teams, generate_series(1, 24) where id = $1`,
      [team, URL],
    );
    const creators = [people.owner, people.admin, people.editor];
    const answers = await Promise.all(creators.map((by) => by.call("POST", WEBHOOKS, { ...LEAST, agent_id: agent })));
    expect(tally(answers)).toEqual({ 201: 1, 402: 2 });
  });
});

describe("a subscription to a workspace's agent", () => {
  it("belongs to the workspace: every role sees it, editors and above make and change it", async () => {
    const body = { ...LEAST, agent_id: agent };
    for (const role of ROLES) {
      const by = people[role];
      const { id, ...made } = await subscribe(people.editor, URL, { agent_id: agent });
      expect(made).toMatchObject({ agent_id: agent, team_id: team });
      const delivery = (await people.editor.call("POST", `${WEBHOOKS}/${id}/test`)).body.id;
      const seen = [
        await by.call("GET", `${WEBHOOKS}/${id}`),
        await by.call("GET", `${WEBHOOKS}/${id}/deliveries`),
        await by.call("GET", `${WEBHOOKS}?page_size=100`),
      ];
      expect(seen.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(seen[2]?.body.items.map((item: { id: string }) => item.id)).toContain(id);
      const acts = [
        await by.call("POST", WEBHOOKS, body),
        await by.call("PATCH", `${WEBHOOKS}/${id}`, { description: role }),
        await by.call("POST", `${WEBHOOKS}/${id}/test`),
        await by.call("POST", `${WEBHOOKS}/${id}/rotate-secret`, {}),
        await by.call("POST", `${WEBHOOKS}/${id}/deliveries/${delivery}/redeliver`),
        await by.call("DELETE", `${WEBHOOKS}/${id}`),
      ];
      const expected = EDITORS.includes(role) ? [201, 200, 200, 200, 202, 204] : [403, 403, 403, 403, 403, 403];
      expect(
        acts.map(({ status }) => status),
        role,
      ).toEqual(expected);
    }
  });

  it("is 404 in every way for others, and so is what is nobody's", async () => {
    const { id } = await subscribe(people.editor, URL, { agent_id: agent });
    const delivery = (await people.editor.call("POST", `${WEBHOOKS}/${id}/test`)).body.id;
    const own = await subscribe(other, URL);
    const plain = (text: string) => text.replace(/"request_id":"[^"]+"/, "");
    const paths: [string, (id: string) => string, object?][] = [
      ["GET", (one) => one],
      ["PATCH", (one) => one, { description: "x" }],
      ["POST", (one) => `${one}/test`],
      ["POST", (one) => `${one}/rotate-secret`, {}],
      ["GET", (one) => `${one}/deliveries`],
      ["POST", (one) => `${one}/deliveries/${delivery}/redeliver`],
      ["DELETE", (one) => one],
    ];
    for (const [method, path, body] of paths) {
      const [real, none] = [
        await other.call(method, `${WEBHOOKS}/${path(id)}`, body),
        await other.call(method, `${WEBHOOKS}/${path(randomUUID())}`, body),
      ];
      expect([real.status, none.status, plain(real.text)], path("")).toEqual([404, 404, plain(none.text)]);
    }
    const foreign = await other.call("POST", `${WEBHOOKS}/${own.id}/deliveries/${delivery}/redeliver`);
    expect(foreign.status).toBe(404);
    expect((await other.call("POST", WEBHOOKS, { ...LEAST, agent_id: agent })).status).toBe(404);
  });

  it("is 403 for a public agent of somebody else", async () => {
    const open = await addAgent(owner as User);
    const answer = await other.call("POST", WEBHOOKS, { ...LEAST, agent_id: open });
    expect([answer.status, answer.body.code]).toEqual([403, "forbidden"]);
  });
});
