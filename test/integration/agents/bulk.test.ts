import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { from, range } from "../runs/support.ts";

const AGENTS = "/api/v1/agents";
const ENDPOINT = "https://agent.example.com/run";
const PUBLIC = "93.184.216.34";

interface Result {
  index: number;
  status: "created" | "skipped_duplicate" | "invalid" | "quota_exceeded";
  agent_id?: string;
  errors?: { in: string; pointer: string; code: string; message: string }[];
}

let service: TestService;
let owner: User;
let other: User;
/** Workspaces: `own` of the caller, `edited` and `seen` of another owner with that right, `hidden` without one. */
let teams: Record<"own" | "edited" | "seen" | "hidden", string>;
let asked: string[] = [];
let privateHost = "10.0.0.1";

beforeAll(async () => {
  service = await startService({
    overrides: {
      fetch: () => Promise.reject(new Error("no packet may leave")),
      resolver: {
        query(hostname, type) {
          asked.push(`${type} ${hostname}`);
          return Promise.resolve([hostname === "private.example.com" ? privateHost : PUBLIC]);
        },
      },
    },
  });
  [owner, other] = await Promise.all([newUser(service, { plan: "team" }), newUser(service, { plan: "team" })]);
  teams = {
    own: await newTeam(owner, { owner }),
    edited: await newTeam(other, { owner: other, editor: owner }),
    seen: await newTeam(other, { owner: other, viewer: owner }),
    hidden: await newTeam(other, { owner: other }),
  };
});

afterAll(() => service.stop());

async function newTeam(by: User, members: Record<string, User>): Promise<string> {
  const [team] = await service.sql<{ id: string }>("insert into teams (name, owner_id) values ($1, $2) returning id", [
    randomUUID(),
    by.id,
  ]);
  for (const [role, { id }] of Object.entries(members))
    await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, $3)", [team?.id, id, role]);
  return team?.id ?? "";
}

let calls = 0;

/** Sends rows from an address of its own, so that no limit is met here. */
function bulk(rows: unknown, by = owner, headers: Record<string, string> = {}) {
  calls += 1;
  const own = { authorization: `Bearer ${by.token}`, ...from(calls) };
  return caller(service, own).call<{ results: Result[]; created: number; skipped: number; failed: number }>(
    "POST",
    `${AGENTS}/bulk`,
    { rows },
    headers,
  );
}

const held = (by: User) =>
  service.sql<{ id: string; name: string; team_id: string | null }>(
    "select id, name, team_id from agents where user_id = $1 and is_active order by id",
    [by.id],
  );

const statuses = (results: Result[]) => results.map(({ status }) => status);

describe("a row", () => {
  it("becomes the agent that its fields say, in the workspace that it names", async () => {
    const fields = {
      description: "d",
      endpoint: "https://Agent.Example.com:443/run",
      agent_protocol: "a2a",
      is_public: false,
      allow_trial: true,
      provider_url: "https://provider.example.com/",
      manifest_url: "https://m.example.com/",
      declared_configuration: { model: "m", nested: [1, { a: null }] },
      team_id: teams.edited,
    };
    const { status, body } = await bulk([{ name: `  ${"n".repeat(120)} `, ...fields }, { name: randomUUID() }]);
    expect([status, body]).toMatchObject([200, { created: 2, skipped: 0, failed: 0 }]);
    expect(body.results).toEqual(
      [0, 1].map((index) => ({ index, status: "created", agent_id: expect.any(String) as string })),
    );
    const [first, second] = body.results.map(({ agent_id }) => owner.call("GET", `${AGENTS}/${agent_id}`));
    expect((await first)?.body).toMatchObject({ ...fields, name: "n".repeat(120), endpoint: ENDPOINT });
    expect((await second)?.body).toMatchObject({
      connection_mode: "mock",
      description: "",
      agent_protocol: "native",
      is_public: true,
      allow_trial: false,
      team_id: null,
      declared_configuration: null,
    });
  });

  it("that is wrong is told so by code and pointer, and stops none of the others", async () => {
    const [mine, theirs] = await Promise.all([
      owner.call("POST", AGENTS, { name: randomUUID() }),
      other.call("POST", AGENTS, { name: randomUUID() }),
    ]);
    const variant = await owner.call("POST", AGENTS, { name: randomUUID(), variant_of: mine.body.id });
    const name = randomUUID();
    const wrong: [row: unknown, pointer: string, code: string][] = [
      [null, "", "invalid_type"],
      ["a name", "", "invalid_type"],
      [[{ name }], "", "invalid_type"],
      [{}, "/name", "missing_field"],
      [{ name: 7 }, "/name", "invalid_type"],
      [{ name: " " }, "/name", "too_small"],
      [{ name: "x".repeat(121) }, "/name", "too_big"],
      [{ name, is_active: true }, "/is_active", "unrecognized_field"],
      [{ name, errors: [] }, "/errors", "unrecognized_field"],
      [{ name, index: 0 }, "/index", "unrecognized_field"],
      [JSON.parse(`{"name": "${name}", "__proto__": {}}`), "/__proto__", "unrecognized_field"],
      [{ name, variant_of: "x" }, "/variant_of", "invalid_format"],
      [{ name, connection_mode: "customer_llm" }, "/connection_mode", "provider_custody_retired"],
      [{ name, connection_mode: "provider_assistant" }, "/connection_mode", "provider_custody_retired"],
      [{ name, connection_mode: "http_endpoint" }, "/endpoint", "validation_failed"],
      [{ name, endpoint: "http://agent.example.com/" }, "/endpoint", "endpoint_not_allowed"],
      [{ name, manifest_url: "https://private.example.com/" }, "/manifest_url", "endpoint_not_allowed"],
      [{ name, variant_of: randomUUID() }, "/variant_of", "invalid_variant"],
      [{ name, variant_of: theirs.body.id }, "/variant_of", "invalid_variant"],
      [{ name, variant_of: variant.body.id }, "/variant_of", "invalid_variant"],
      [{ name, variant_of: mine.body.id, team_id: teams.own }, "/variant_of", "invalid_variant"],
      [{ name, team_id: randomUUID() }, "/team_id", "not_found"],
      [{ name, team_id: teams.hidden }, "/team_id", "not_found"],
      [{ name, team_id: teams.seen }, "/team_id", "forbidden"],
    ];
    const rows = wrong.flatMap(([row]) => [row, { name: randomUUID(), variant_of: mine.body.id }]);
    const { body } = await bulk(rows);
    expect([body.created, body.skipped, body.failed]).toEqual([wrong.length, 0, wrong.length]);
    for (const [position, [row, pointer, code]] of wrong.entries()) {
      const { status, errors } = body.results[position * 2] as Result;
      expect([row, status, errors]).toMatchObject([row, "invalid", [{ in: "body", pointer, code }]]);
      expect(body.results[position * 2 + 1]?.status).toBe("created");
    }
    expect((await held(owner)).filter((agent) => agent.name === name)).toEqual([]);
  });
});

describe("rows", () => {
  it("are taken in their order, as if each were sent alone, whatever stands among them", async () => {
    const person = await newUser(service);
    const places = { personal: null, own: await newTeam(person, { owner: person }), edited: teams.edited };
    await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, 'editor')", [
      teams.edited,
      person.id,
    ]);
    const place = fc.constantFrom("personal", "own", "edited", "hidden" as const);
    const row = fc.record({
      name: fc.constantFrom("Ä", "ä", "b", "B ", "c", "d"),
      place,
      wrong: fc.constantFrom(false, false, false, true),
    });
    const input = fc.record({
      before: fc.uniqueArray(fc.constantFrom("ä", "b", "z"), { maxLength: 3 }),
      plan: fc.constantFrom("free", "free", "team"),
      rows: fc.array(row, { minLength: 1, maxLength: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(input, async ({ before, plan, rows }) => {
        await service.sql("delete from agents where user_id = $1", [person.id]);
        await service.sql("update users set plan = $2 where id = $1", [person.id, plan]);
        for (const name of before)
          await service.sql("insert into agents (user_id, name, connection_mode) values ($1, $2, 'mock')", [
            person.id,
            name,
          ]);
        const names: Record<string, Set<string>> = { personal: new Set(before), own: new Set(), edited: new Set() };
        const expected = rows.map(({ name, place: at, wrong }) => {
          const taken = names[at];
          if (wrong || taken === undefined) return "invalid";
          const folded = name.trim().toLowerCase();
          if (taken.has(folded)) return "skipped_duplicate";
          if (plan === "free" && taken.size >= { personal: 3, own: 0, edited: Infinity, hidden: 0 }[at])
            return "quota_exceeded";
          taken.add(folded);
          return "created";
        });
        const { body } = await bulk(
          rows.map(({ name, place: at, wrong }) => ({
            name,
            ...(at === "personal" ? {} : { team_id: at === "hidden" ? teams.hidden : places[at] }),
            ...(wrong ? { colour: "red" } : {}),
          })),
          person,
        );
        expect(statuses(body.results)).toEqual(expected);
        expect(body.results.map(({ index }) => index)).toEqual(range(rows.length));
        const count = (...which: string[]) => expected.filter((status) => which.includes(status)).length;
        expect([body.created, body.skipped, body.failed]).toEqual([
          count("created"),
          count("skipped_duplicate"),
          count("invalid", "quota_exceeded"),
        ]);
        const made = body.results.flatMap(({ agent_id: id, index }) => {
          const { name = "", place: at = "hidden" } = rows[index] ?? {};
          return id === undefined || at === "hidden" ? [] : [[id, { id, name: name.trim(), team_id: places[at] }]];
        });
        const found = (await held(person)).map((agent) => [agent.id, agent] as const);
        expect(Object.fromEntries(found)).toMatchObject(Object.fromEntries(made));
        expect(await held(person)).toHaveLength(before.length + made.length);
      }),
      { numRuns: 40 },
    );
  });

  it("of one owner never pass the quota nor take a name twice, however many requests there are at once", async () => {
    const free = await newUser(service);
    const answers = await Promise.all(
      range(8).map((turn) =>
        bulk(
          range(5).map((index) => ({ name: index % 2 === 0 ? `same ${index}` : `${turn} ${index}` })),
          free,
        ),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(range(8).map(() => 200));
    const names = (await held(free)).map(({ name }) => name);
    expect([names.length, new Set(names).size]).toEqual([3, 3]);
    expect(answers.reduce((sum, { body }) => sum + body.created, 0)).toBe(3);
  });

  it("for several workspaces in any order block no other request for good", async () => {
    const places = [teams.own, teams.edited, null];
    const answers = await Promise.all(
      range(12).map((turn) => {
        const order = turn % 2 === 0 ? places : places.toReversed();
        return bulk(
          order.map((team_id) => ({ name: `crossing ${turn % 3}`, ...(team_id === null ? {} : { team_id }) })),
        );
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(range(12).map(() => 200));
    expect(answers.reduce((sum, { body }) => sum + body.created, 0)).toBe(9);
  });

  it("of a hundred that share a host cost one question for each type of address, and one round trip", async () => {
    const rows = range(100).map((index) => ({ name: `wide ${index}`, endpoint: `${ENDPOINT}/${index}` }));
    await bulk([{ name: randomUUID() }]);
    asked = [];
    service.counters.reset();
    const { body } = await bulk(rows);
    expect(body.created).toBe(100);
    expect(asked.toSorted()).toEqual(["A agent.example.com", "AAAA agent.example.com"]);
    expect(service.counters.db.requests).toBe(1);
  });
});

it("tells which row can't be stored, and makes the others", async () => {
  const deep = `${"[".repeat(70)}${"]".repeat(70)}`;
  const bad = [
    `{"name":"\\u0000"}`,
    `{"\\ud800":{"\\u0000":1}}`,
    `{"name":"d","declared_configuration":{"x":${deep}}}`,
  ];
  const body = `{"rows":[${[...bad, JSON.stringify({ name: randomUUID() })].join(",")}]}`;
  const headers = { ...from(9001), "idempotency-key": randomUUID() };
  const { status, body: answer } = await owner.call("POST", `${AGENTS}/bulk`, body, headers);
  expect(status).toBe(200);
  expect(statuses(answer.results)).toEqual(["invalid", "invalid", "invalid", "created"]);
  const codes = answer.results.map(({ errors = [] }: Result) =>
    errors.map(({ pointer, code }) => `${pointer} ${code}`),
  );
  expect(codes.slice(0, 2)).toEqual([["/name invalid_text"], [" invalid_text"]]);
  expect(codes[2][0]).toMatch(/^\/declared_configuration\/x(\/0)+ too_deep$/);
});

describe("the whole", () => {
  it.each([
    ["without rows", {}, "/rows"],
    ["with no row", { rows: [] }, "/rows"],
    ["with 101 rows", { rows: range(101).map((index) => ({ name: `${index}` })) }, "/rows"],
    ["with rows that are no list", { rows: { 0: { name: "x" } } }, "/rows"],
    ["with another field", { rows: [{ name: "x" }], team_id: randomUUID() }, "/team_id"],
  ])("is 422 and makes nothing %s", async (_what, body, pointer) => {
    const before = await held(owner);
    const answer = await owner.call("POST", `${AGENTS}/bulk`, body, from(9000));
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, pointer]);
    expect(await held(owner)).toEqual(before);
  });

  it("is given again by its Idempotency-Key to the letter, though the reasons are gone", async () => {
    const key = { "idempotency-key": randomUUID() };
    const name = randomUUID();
    const rows = [{ name }, { name }, { name: 1 }, { name: randomUUID(), endpoint: "https://private.example.com/" }];
    const first = await bulk(rows, owner, key);
    expect(statuses(first.body.results)).toEqual(["created", "skipped_duplicate", "invalid", "invalid"]);
    privateHost = PUBLIC;
    const again = await bulk(rows, owner, key);
    privateHost = "10.0.0.1";
    expect([again.status, again.text, again.headers.get("idempotency-replayed")]).toEqual([200, first.text, "true"]);
    expect((await held(owner)).filter((agent) => agent.name === name)).toHaveLength(1);
    const reused = await bulk(rows.slice(1), owner, key);
    expect([reused.status, (reused.body as unknown as { code: string }).code]).toEqual([422, "idempotency_key_reused"]);
  });
});
