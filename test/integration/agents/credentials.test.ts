import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashOtlpToken, isOtlpToken } from "../../../shared/telemetry/token.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, from, range, tally, unique } from "../runs/support.ts";

const AGENTS = "/api/v1/agents";
const ENDPOINT = "https://agent.example.com/run";
const DAILY = "17 3 * * *";
const ROLES = ["viewer", "member", "runner", "editor", "admin", "owner"] as const;
type Role = (typeof ROLES)[number];

let service: TestService;
let people: Record<Role, User>;
let stranger: User;
let anonymous: Caller;
let teamId: string;
/** A workspace in which everybody is an editor. */
let openTeam: string;

beforeAll(async () => {
  service = await startService({
    overrides: {
      resolver: { query: () => Promise.resolve(["93.184.216.34"]) },
      fetch: () => Promise.reject(new Error("no packet may leave")),
    },
  });
  const users = await Promise.all([...ROLES.map(() => newPerson({ plan: "team" })), newPerson()]);
  stranger = users.pop() as User;
  people = Object.fromEntries(ROLES.map((role, index) => [role, users[index]])) as Record<Role, User>;
  anonymous = caller(service, { "cf-connecting-ip": "10.99.0.1" });
  teamId = await newTeam(people.owner, people);
  openTeam = await newTeam(people.owner);
  for (const user of [...Object.values(people), stranger]) await join(openTeam, user, "editor");
});

afterAll(async () => {
  await service.settled();
  await service.stop();
});

let calls = 0;

/** An account whose every call comes from an address of its own, so that no limit is met here. */
async function newPerson(options: Parameters<typeof newUser>[1] = {}): Promise<User> {
  const user = await newUser(service, options);
  return {
    ...user,
    call(method, path, body, headers) {
      calls += 1;
      return user.call(method, path, body, { ...from(calls), ...headers });
    },
  };
}

async function newTeam(owner: User, members: Partial<Record<Role, User>> = {}): Promise<string> {
  const [team] = await service.sql<{ id: string }>("insert into teams (name, owner_id) values ($1, $2) returning id", [
    randomUUID(),
    owner.id,
  ]);
  const id = team?.id ?? "";
  for (const [role, user] of Object.entries(members)) await join(id, user, role);
  return id;
}

const join = (team: string, user: User, role: string) =>
  service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, $3)", [team, user.id, role]);

const live = (by: User, fields: object = {}) => addAgent(by, { endpoint: ENDPOINT, ...fields });
const transfer = (by: Caller, id: string, team: string) =>
  by.call("POST", `${AGENTS}/${id}/transfer-to-workspace`, { team_id: team });
const issue = (by: Caller, id: string, headers?: Record<string, string>) =>
  by.call("POST", `${AGENTS}/${id}/otlp-token`, undefined, headers);
const revoke = (by: Caller, id: string) => by.call("DELETE", `${AGENTS}/${id}/otlp-token`);
const read = async (by: Caller, id: string) => (await by.call("GET", `${AGENTS}/${id}`)).body;

const kept = async (id: string): Promise<string | undefined> => {
  const [row] = await service.sql<{ token_hash: string }>("select token_hash from otlp_tokens where agent_id = $1", [
    id,
  ]);
  return row?.token_hash;
};

describe("who may not see an agent gets 404, who may only see it 403", () => {
  const ACTIONS: [name: string, success: number, act: (by: Caller, id: string) => ReturnType<Caller["call"]>][] = [
    ["issue a token", 200, issue],
    ["revoke it", 204, revoke],
    [
      "read what is declared",
      200,
      (by, id) => by.call("GET", `/api/v1/playbooks/declared-configurations?agent_id=${id}`),
    ],
    ["transfer it", 200, (by, id) => transfer(by, id, openTeam)],
  ];
  const EXPECTED: [who: string, of: "private" | "public", status: number | "success"][] = [
    ["viewer", "private", 403],
    ["member", "private", 403],
    ["runner", "private", 403],
    ["editor", "private", "success"],
    ["admin", "private", "success"],
    ["owner", "private", "success"],
    ["stranger", "private", 404],
    ["stranger", "public", 403],
    ["viewer", "public", 403],
    ["nobody", "private", 401],
    ["nobody", "public", 401],
  ];

  it.each(EXPECTED)("%s of a workspace's %s agent: %s", async (who, of, status) => {
    const by: Caller = who === "nobody" ? anonymous : who === "stranger" ? stranger : people[who as Role];
    const id = await live(people.editor, { team_id: teamId, is_public: of === "public" });
    const answers: [string, number][] = [];
    for (const [name, , act] of ACTIONS) answers.push([name, (await act(by, id)).status]);
    expect(answers).toEqual(ACTIONS.map(([name, success]) => [name, status === "success" ? success : status]));
    expect((await read(people.owner, id)).team_id).toBe(status === "success" ? openTeam : teamId);
  });

  it("the same is asked of the workspace that an agent goes to", async () => {
    const statuses: Record<string, number> = {};
    for (const who of ["viewer", "member", "runner", "editor", "admin", "owner", "stranger"] as const) {
      const by = who === "stranger" ? stranger : people[who];
      statuses[who] = (await transfer(by, await addAgent(by), teamId)).status;
    }
    const refused = { viewer: 403, member: 403, runner: 403, stranger: 404 };
    expect(statuses).toEqual({ ...refused, editor: 200, admin: 200, owner: 200 });
    expect((await transfer(people.owner, await addAgent(people.owner), randomUUID())).status).toBe(404);
  });
});

describe("a transfer", () => {
  it("changes the workspace alone, and nothing when it is done again", async () => {
    const { owner } = people;
    const id = await live(owner, { is_public: false, declared_configuration: { model: "m" } });
    const before = await read(owner, id);
    const moved = await transfer(owner, id, teamId);
    const changed = { team_id: teamId, workspace_activity: expect.any(Object), updated_at: expect.any(String) };
    expect([moved.status, moved.body]).toEqual([200, { ...before, ...changed }]);
    expect(moved.headers.get("cache-control")).toBe("private, no-store");
    const again = await transfer(owner, id, teamId);
    expect([again.status, again.text]).toEqual([200, moved.text]);
    expect((await read(people.viewer, id)).team_id).toBe(teamId);
  });

  it("leaves the runs, open ones too, whose they were", async () => {
    const { owner } = people;
    const id = await addAgent(owner, { is_public: false });
    const { tasks } = await addSuite(service, 1);
    const batch = await owner.call("POST", "/api/v1/runs/batch", { agent_id: id, task_ids: tasks });
    const ownership = "select user_id, team_id, paid_kind, paid_owner from runs where agent_id = $1";
    const before = await service.sql(ownership, [id]);
    expect((await transfer(owner, id, teamId)).status).toBe(200);
    await service.settled();
    expect(before).toMatchObject([{ user_id: owner.id, team_id: null }]);
    expect(await service.sql(ownership, [id])).toEqual(before);
    const run = await owner.call("GET", `/api/v1/runs/${batch.body[0].id}`);
    expect(run.body).toMatchObject({ status: "completed", scope: "personal" });
  });

  it("is refused for a name that the workspace has, and beyond its owner's plan, but not for an inactive agent", async () => {
    const boss = await newPerson({ plan: "team" });
    const small = await newTeam(boss, { owner: boss, editor: people.editor });
    const add = async (fields: object) => addAgent(people.editor, fields);
    const off = async (name: string) => {
      const id = await add({});
      expect((await people.editor.call("PATCH", `${AGENTS}/${id}`, { name, is_active: false })).status).toBe(200);
      return id;
    };
    const name = unique("Taken");
    await add({ name, team_id: small });
    const taken = await transfer(people.editor, await add({ name: name.toUpperCase() }), small);
    expect([taken.status, taken.body.code]).toEqual([409, "duplicate_name"]);
    await service.sql("update users set plan = 'free' where id = $1", [boss.id]);
    const refused = await transfer(people.editor, await add({}), small);
    expect([refused.status, refused.body]).toMatchObject([402, { code: "quota_exceeded", limit: 0, used: 1 }]);
    expect((await transfer(people.editor, await off(name.toLowerCase()), small)).status).toBe(200);
  });

  it("parts no variant from its group", async () => {
    const { owner } = people;
    const root = await addAgent(owner);
    const variant = await addAgent(owner, { variant_of: root });
    for (const id of [root, variant]) {
      const answer = await transfer(owner, id, teamId);
      expect([answer.status, answer.body.code]).toEqual([422, "invalid_variant"]);
    }
    expect((await owner.call("PATCH", `${AGENTS}/${variant}`, { variant_of: null })).status).toBe(200);
    for (const id of [root, variant]) expect((await transfer(owner, id, teamId)).status).toBe(200);
  });

  it("meets creations and other transfers without taking a name twice", async () => {
    const boss = await newPerson({ plan: "team" });
    const small = await newTeam(boss, { owner: boss });
    const movers = [people.admin, people.editor, people.runner];
    for (const by of movers) await join(small, by, "editor");
    const shared = unique("Shared");
    const ids = await Promise.all(
      movers.flatMap((by) => [addAgent(by, { name: shared }), addAgent(by)].map(async (id) => [by, await id] as const)),
    );
    const answers = await Promise.all([
      ...ids.map(([by, id]) => transfer(by, id, small)),
      ...movers.map((by) => by.call("POST", AGENTS, { name: shared.toUpperCase(), team_id: small })),
    ]);
    for (const { status, body } of answers) expect([undefined, "duplicate_name"], `${status}`).toContain(body.code);
    const names = await service.sql("select lower(name) as name from agents where team_id = $1", [small]);
    expect(names).toHaveLength(1 + movers.length);
    expect(new Set(names.map(({ name }) => name)).size).toBe(names.length);
  });

  it("crosses another the other way without an end to either's waiting", async () => {
    const [left, right] = [people.admin, people.editor];
    const [mine, theirs] = [await newTeam(left), await newTeam(right)];
    for (const by of [left, right]) for (const team of [mine, theirs]) await join(team, by, "editor");
    const [one, two] = [await addAgent(left, { team_id: mine }), await addAgent(right, { team_id: theirs })];
    for (const [to, back] of range(6).map((turn) => (turn % 2 === 0 ? [theirs, mine] : [mine, theirs]))) {
      const answers = await Promise.all([transfer(left, one, to ?? ""), transfer(right, two, back ?? "")]);
      expect(tally(answers)).toEqual({ 200: 2 });
    }
  });
});

describe("a telemetry token", () => {
  it("is shown once, kept as a hash, and told by its form", async () => {
    const { owner } = people;
    const id = await live(owner);
    expect((await read(owner, id)).has_otlp_token).toBe(false);
    const { status, body, headers } = await issue(owner, id);
    expect(status).toBe(200);
    expect(body).toEqual({
      token: expect.stringMatching(/^otlp_[0-9A-Za-z]{43}$/),
      prefix: body.token.slice(0, 13),
      endpoint: `${service.url}/api/v1/otlp`,
      created_at: expect.stringMatching(/Z$/),
      headers: { Authorization: `Bearer ${body.token}` },
    });
    expect(headers.get("cache-control")).toBe("no-store");
    expect(isOtlpToken(body.token)).toBe(true);
    expect(await kept(id)).toBe(hashOtlpToken(body.token));
    const [row] = await service.sql<{ stored: string }>(
      "select o::text as stored from otlp_tokens o where agent_id = $1",
      [id],
    );
    expect(row?.stored).not.toContain(body.token.slice(13));
    expect((await read(owner, id)).has_otlp_token).toBe(true);
    expect(await read(stranger, id)).not.toHaveProperty("has_otlp_token");
  });

  it("with any character changed, added or lost has not its form", async () => {
    const { token } = (await issue(people.owner, await live(people.owner))).body;
    const at = fc.nat({ max: token.length - 1 });
    fc.assert(
      fc.property(at, fc.stringMatching(/^[0-9A-Za-z]$/), (index, one) => {
        const changed = token.slice(0, index) + one + token.slice(index + 1);
        expect(isOtlpToken(changed)).toBe(changed === token);
        expect(isOtlpToken(token.slice(0, index) + token.slice(index + 1))).toBe(false);
        expect(isOtlpToken(token.slice(0, index) + one + token.slice(index))).toBe(false);
      }),
    );
    for (const other of ["", "otlp_", `ask_${token.slice(5)}`, token.slice(5), `${token}\n`, ` ${token}`])
      expect(isOtlpToken(other), other).toBe(false);
  });

  it("is replaced by the next: of ten made at once one works", async () => {
    const { owner } = people;
    const id = await live(owner);
    const before = (await issue(owner, id)).body.token;
    await service.sql("update otlp_tokens set last_received_at = now() where agent_id = $1", [id]);
    const answers = await Promise.all(range(10).map(() => issue(owner, id)));
    expect(tally(answers)).toEqual({ 200: 10 });
    const hashes = answers.map(({ body }) => hashOtlpToken(body.token));
    const [stored] = await service.sql("select token_hash, last_received_at from otlp_tokens where agent_id = $1", [
      id,
    ]);
    expect(hashes.filter((hash) => hash === stored?.["token_hash"])).toHaveLength(1);
    expect(hashes).not.toContain(hashOtlpToken(before));
    expect(stored?.["last_received_at"]).toBeNull();
  });

  it("is null in a replay, which makes no other", async () => {
    const { owner } = people;
    const id = await live(owner);
    const key = { "idempotency-key": randomUUID() };
    const first = await issue(owner, id, key);
    const again = await issue(owner, id, key);
    expect(again.body).toEqual({ ...first.body, token: null, headers: null });
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(await kept(id)).toBe(hashOtlpToken(first.body.token));
    const other = await issue(owner, await live(owner), key);
    expect([other.status, other.body.code]).toEqual([422, "idempotency_key_reused"]);
    const [results] = await service.sql<{ all: string }>(
      "select string_agg(result::text, '') as all from idempotency_keys",
    );
    expect(results?.all).not.toContain(first.body.token.slice(13));
  });

  it("ends when it is revoked, once or again", async () => {
    const { owner } = people;
    const id = await live(owner);
    await issue(owner, id);
    for (const _ of range(2)) expect((await revoke(owner, id)).status).toBe(204);
    expect(await kept(id)).toBeUndefined();
    expect((await read(owner, id)).has_otlp_token).toBe(false);
  });

  it("is only for an active agent with a live connection", async () => {
    const { owner } = people;
    const [mock, off, old] = [await addAgent(owner), await live(owner), await live(owner)];
    await owner.call("PATCH", `${AGENTS}/${off}`, { is_active: false });
    await service.sql("update agents set connection_mode = 'customer_llm' where id = $1", [old]);
    const codes = await Promise.all([mock, off, old].map(async (id) => (await issue(owner, id)).body.code));
    expect(codes).toEqual(["agent_not_live", "agent_inactive", "provider_custody_retired"]);
    const rows = await service.sql("select from otlp_tokens where agent_id = any($1)", [[mock, off, old]]);
    expect(rows).toEqual([]);
  });

  it("is gone for good with its agent, however deletion and issue meet", async () => {
    const { owner } = people;
    const ids = await Promise.all(range(8).map(() => live(owner)));
    const answers = await Promise.all(ids.flatMap((id) => [issue(owner, id), owner.call("DELETE", `${AGENTS}/${id}`)]));
    for (const { status } of answers) expect([200, 204, 409]).toContain(status);
    expect(await service.sql("select from otlp_tokens where agent_id = any($1)", [ids])).toEqual([]);
    const [id = ""] = ids;
    const back = await owner.call("PATCH", `${AGENTS}/${id}`, { is_active: true });
    expect(back.body).toMatchObject({ is_active: true, has_endpoint: true, has_otlp_token: false });
  });

  it("is gone when its owner's account is, though the agent stays for its evidence", async () => {
    const leaver = await newPerson();
    const id = await addAgent(leaver);
    const { tasks } = await addSuite(service, 1);
    await leaver.call("POST", "/api/v1/runs/batch", { agent_id: id, task_ids: tasks });
    await service.settled();
    await service.sql("update runs set counted = true where agent_id = $1", [id]);
    await leaver.call("PATCH", `${AGENTS}/${id}`, { endpoint: ENDPOINT });
    expect((await issue(leaver, id)).status).toBe(200);
    await service.sql("update users set deletion_scheduled_for = now() - interval '1 day' where id = $1", [leaver.id]);
    await service.app.scheduled(DAILY);
    expect(await service.sql("select name from agents where id = $1", [id])).toEqual([{ name: "Deleted agent" }]);
    expect(await kept(id)).toBeUndefined();
  });
});

describe("an agent of a retired mode", () => {
  it.each(["customer_llm", "provider_assistant"])(
    "is 410 for all that would use it, until it is connected: %s",
    async (mode) => {
      const { owner } = people;
      const id = await addAgent(owner);
      const { tasks } = await addSuite(service, 1);
      await service.sql("update agents set connection_mode = $2, customer_llm_provider = 'acme' where id = $1", [
        id,
        mode,
      ]);
      const uses = () => [
        owner.call("POST", "/api/v1/runs", { agent_id: id, task_id: tasks[0] }),
        owner.call("POST", "/api/v1/runs/batch", { agent_id: id, task_ids: tasks }),
        issue(owner, id),
      ];
      for (const { status, body } of await Promise.all(uses()))
        expect([status, body.code]).toEqual([410, "provider_custody_retired"]);
      const connection = { clear_customer_llm_key: true, connection_mode: "http_endpoint", endpoint: ENDPOINT };
      expect((await owner.call("PATCH", `${AGENTS}/${id}`, connection)).status).toBe(200);
      expect((await Promise.all(uses())).map(({ status }) => status)).toEqual([202, 200, 200]);
    },
  );
});
