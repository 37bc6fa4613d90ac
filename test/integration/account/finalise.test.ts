import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { cookiesOf } from "../../stack/cookies.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { insertVersion } from "../agents/telemetry-support.ts";
import { dailyStates } from "../operations/daily-support.ts";
import { addAgent, addRun, addSuite, range, startAgent, type TestSuite } from "../runs/support.ts";
import { heldUp, holdUp, SOMEBODY_WAITS } from "./holding-up.ts";

const DAILY = "17 3 * * *";
const DELETION = "/api/v1/users/me/deletion";
const DAY = 86_400_000;

let service: TestService;
let endpoint: Consumer;
let suite: TestSuite;
let user: User;
/** Ahead of the machine's clock by this, in milliseconds. */
let ahead = 0;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(Date.now() + ahead) } });
  endpoint = await startAgent();
  suite = await addSuite(service, 2);
});

afterAll(async () => {
  await service.stop();
  await endpoint.stop();
});

beforeEach(async () => {
  ahead = 0;
  service.faults.set({ service: "redis", mode: "none" });
  service.faults.set({ service: "db", mode: "none" });
  user = await newUser(service, { plan: "pro", verified: true });
});

/** Lets the grace of an account's deletion elapse, and the daily work be done. */
async function finalise(...who: User[]): Promise<void> {
  for (const one of who) {
    const { status, text } = await one.call("POST", DELETION, { password: PASSWORD });
    if (status !== 202) throw new Error(text);
  }
  ahead = 14 * DAY + 1000;
  await service.app.scheduled(DAILY);
}

const count = async (text: string, params: unknown[] = [user.id]): Promise<number> =>
  (await service.sql<{ n: number }>(`select count(*)::int as n from ${text}`, params))[0]?.n ?? -1;

/** Every text of the database that contains `needle`, by table. */
async function tablesWith(needle: string): Promise<string[]> {
  const tables = await service.sql<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  const hits: string[] = [];
  for (const { name } of tables)
    if ((await count(`"${name}" t where strpos(lower(t::text), lower($1)) > 0`, [needle])) > 0) hits.push(name);
  return hits.toSorted();
}

it("an account is closed beside a submission of its own: neither waits for the other in a circle", async () => {
  await user.call("POST", DELETION, { password: PASSWORD });
  ahead = 14 * DAY - 60_000;
  const { body } = await caller(service).call("POST", "/api/v1/auth/login", { email: user.email, password: PASSWORD });
  Object.assign(user, caller(service, { authorization: `Bearer ${body.access_token}` }));
  const [agent, [task = ""]] = [await addAgent(user), suite.tasks];
  await addRun(user, agent, task);
  await service.settled();
  // The submission has taken its allowance, and comes to the account only once the closing is done, or waits for it.
  const until = `${SOMEBODY_WAITS} or not exists (select from users where id = '${user.id}' and email not like 'Deleted-%')`;
  const letGo = await holdUp(service, { on: "insert on screening_sessions", until });
  const submitted = user.call("POST", "/api/v1/runs/batch", { agent_id: agent, task_ids: [task] });
  await heldUp(service);
  ahead = 14 * DAY + 1000;
  await service.app.scheduled(DAILY);
  expect((await submitted).status).toBe(200);
  await letGo();
  expect(await count("pg_stat_database where datname = current_database() and deadlocks > 0", [])).toBe(0);
  expect(await count("users where id = $1 and email like 'Deleted-%' and deletion_scheduled_for is null")).toBe(1);
  expect(await count("allowances where owner = $1", [user.id])).toBe(0);
});

describe("a deleted account", () => {
  it("is gone: neither its password, nor session, refresh credential or key lets anybody in", async () => {
    const { body } = await user.call("POST", "/api/v1/api-keys", { name: "k", scope: "read" });
    const byKey = caller(service, { "x-api-key": body.key });
    expect((await byKey.call("GET", "/api/v1/auth/me")).status).toBe(200);
    await user.call("POST", DELETION, { password: PASSWORD });
    ahead = 14 * DAY - 1000;
    const credentials = { email: user.email, password: PASSWORD };
    const signIn = () => caller(service).call("POST", "/api/v1/auth/login", credentials);
    const device = await signIn();
    const bearer = caller(service, { authorization: `Bearer ${device.body.access_token}` });
    expect((await bearer.call("GET", "/api/v1/auth/me")).status).toBe(200);
    ahead = 14 * DAY + 1000;
    await service.app.scheduled(DAILY);
    expect((await bearer.call("GET", "/api/v1/auth/me")).status).toBe(401);
    expect((await bearer.call("DELETE", DELETION)).status, "it is too late").toBe(401);
    expect((await byKey.call("GET", "/api/v1/auth/me")).status).toBe(401);
    expect((await signIn()).status).toBe(401);
    const cookie = `service_refresh=${cookiesOf(device)["service_refresh"]?.value}`;
    const refreshed = { cookie, origin: service.url };
    expect((await caller(service).call("POST", "/api/v1/auth/refresh", undefined, refreshed)).status).toBe(401);
    const again = await newUser(service, { email: user.email });
    expect(again.id, "the address is free").not.toBe(user.id);
  });

  it("leaves no row but the nameless one, and no trace of its email", async () => {
    await user.call("PATCH", "/api/v1/auth/me", { username: `gone-${user.id.slice(-6)}` });
    await user.call("POST", "/api/v1/api-keys", { name: "k", scope: "read" }, { "idempotency-key": user.id });
    await service.sql(
      "insert into identities (provider, provider_user_id, user_id) values ('dev', $1::text, $1::uuid)",
      [user.id],
    );
    await service.sql(
      `insert into device_authorizations (device_hash, user_code_hash, client_name, network, interval_seconds, user_id, expires_at)
        values ('d', 'u', 'n', 'n', 5, $1, '2099-01-01')`,
      [user.id],
    );
    await addRun(user, await addAgent(user, { is_public: false }), suite.tasks[0] ?? "");
    await service.settled();
    await finalise(user);
    ahead += DAY;
    await service.app.scheduled(DAILY);
    expect(await tablesWith(user.email)).toEqual([]);
    expect(await tablesWith(`gone-${user.id.slice(-6)}`)).toEqual([]);
    expect(await tablesWith(user.id)).toEqual(["users"]);
    const [row] = await service.sql("select * from users where id = $1", [user.id]);
    expect(row).toMatchObject({
      email: `Deleted-${user.id}@deleted.invalid`,
      username: null,
      password_hash: null,
      email_verified: false,
      plan: "free",
      deletion_scheduled_for: null,
    });
  });

  it("leaves public agents with counted runs and their evidence, unnamed, off and without what only the owner saw", async () => {
    const auth_header = { name: "X-Key", value: "a secret" };
    const open = await addAgent(user, {
      name: "My proud agent",
      description: "of mine",
      endpoint: endpoint.url,
      auth_header,
    });
    const secret = await addAgent(user, { endpoint: endpoint.url, is_public: false });
    const idle = await addAgent(user, { endpoint: endpoint.url });
    // Told to a subscription that was deleted since.
    await service.sql("insert into webhook_events (type, agent_id, body) values ('run.completed', $1, $2)", [
      open,
      `{"told": "${user.id}"}`,
    ]);
    const variant = await addAgent(user, { endpoint: endpoint.url, variant_of: idle });
    const mock = await addAgent(user);
    const [first = "", second = ""] = suite.tasks;
    const counted = await addRun(user, open, first);
    const uncounted = await addRun(user, open, second, { private: true });
    for (const agent of [secret, variant, mock]) await addRun(user, agent, first);
    await service.settled();
    const jws = await service.sql("select run_id, jws from run_evidence where run_id = $1", [counted]);
    expect(jws).toHaveLength(1);
    const made = { models: [`model-${user.id}`], tools: [`tool-${user.id}`] };
    await insertVersion(service, open, 1, 1, made);
    await insertVersion(service, open, 2, null, made);
    await finalise(user);
    expect(await count("webhook_events where agent_id = $1", [open]), "events").toBe(0);
    expect(await tablesWith(`tool-${user.id}`), "what it was made of, in private runs too").toEqual([]);
    const agents = await service.sql("select * from agents where user_id = $1 order by id", [user.id]);
    expect(agents.map((agent) => (agent as { id: string }).id).toSorted()).toEqual([open, variant].toSorted());
    for (const agent of agents) {
      expect(agent).toMatchObject({
        name: "Deleted agent",
        description: "",
        endpoint: null,
        auth_header: null,
        is_active: false,
        variant_of: null,
      });
    }
    expect(await service.sql("select run_id, jws from run_evidence where run_id = $1", [counted])).toEqual(jws);
    expect(await count("runs where id = $1", [uncounted])).toBe(0);
    const [run] = await service.sql("select * from runs where id = $1", [counted]);
    expect(run).toMatchObject({ counted: true, passed: true, user_id: null, explanation: null, paid_owner: null });
    expect(await count("run_exchanges where run_id = $1", [counted])).toBe(0);
    expect((await caller(service).call("GET", `/api/v1/agents/${open}`)).status).toBe(404);
    const board = await caller(service).call("GET", "/api/v1/leaderboard?page_size=100");
    expect(board.body.items.filter(({ agent_id: id }: { agent_id: string }) => [open, variant].includes(id))).toEqual(
      [],
    );
  });

  it("leaves what belongs to others: agents of their workspaces, and runs of their agents without a name", async () => {
    const host = await newUser(service, { plan: "team" });
    const [team] = await service.sql<{ id: string }>(
      "insert into teams (name, owner_id) values ('Host', $1) returning id",
      [host.id],
    );
    for (const [id, role] of [
      [host.id, "owner"],
      [user.id, "editor"],
    ])
      await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, $3)", [team?.id, id, role]);
    const shared = await addAgent(user, { name: "Shared", team_id: team?.id });
    const { body: key } = await user.call("POST", "/api/v1/api-keys", { name: "k", scope: "write" });
    const run = await addRun(caller(service, { "x-api-key": key.key }), shared, suite.tasks[0] ?? "");
    await service.settled();
    expect(await tablesWith(key.id)).toEqual(expect.arrayContaining(["run_days", "runs"]));
    await finalise(user);
    expect(await tablesWith(key.id)).toEqual([]);
    ahead = 0;
    expect((await host.call("GET", `/api/v1/agents/${shared}`)).body).toMatchObject({
      name: "Shared",
      is_active: true,
    });
    expect((await host.call("GET", `/api/v1/runs/${run}`)).status).toBe(200);
    expect(await count("team_members where user_id = $1")).toBe(0);
    expect(await count("runs where user_id = $1")).toBe(0);
  });

  it("is not named by the runs that it paid of agents that are others' by now", async () => {
    const host = await newUser(service, { plan: "team" });
    const { body: team } = await host.call("POST", "/api/v1/teams", { name: "Host" });
    await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, 'editor')", [
      team.id,
      user.id,
    ]);
    const [first = ""] = suite.tasks;
    const [tried, moved] = [await addAgent(host, { allow_trial: true }), await addAgent(user)];
    const runs = [await addRun(user, tried, first), await addRun(user, moved, first)];
    const transfer = `/api/v1/agents/${moved}/transfer-to-workspace`;
    expect((await user.call("POST", transfer, { team_id: team.id })).status).toBe(200);
    const paid = await addRun(user, moved, first);
    await service.settled();
    expect(await count("runs where paid_owner = $1"), "it paid").toBe(2);
    await finalise(user);
    ahead += DAY;
    await service.app.scheduled(DAILY);
    expect(await tablesWith(user.id), "who made the agent of the workspace").toEqual(["agents", "users"]);
    const kept = "select paid_kind, paid_owner from runs where id = any ($1) order by id";
    expect(await service.sql(kept, [[...runs, paid]])).toEqual([
      ...runs.map(() => ({ paid_kind: null, paid_owner: null })),
      { paid_kind: "team", paid_owner: team.id },
    ]);
  });

  it("takes a workspace of its own along", async () => {
    const [team] = await service.sql<{ id: string }>(
      "insert into teams (name, owner_id) values ('Solo', $1) returning id",
      [user.id],
    );
    const members = "insert into team_members (team_id, user_id, role) values ($1, $2, 'owner')";
    await service.sql(members, [team?.id, user.id]);
    await service.sql("update users set plan = 'team' where id = $1", [user.id]);
    const agent = await addAgent(user, { team_id: team?.id });
    await finalise(user);
    expect(await count("teams where owner_id = $1")).toBe(0);
    expect(await count("agents where id = $1", [agent])).toBe(0);
  });
});

describe("the finalizer", () => {
  it("waits while the account owns a workspace that others have joined since", async () => {
    const other = await newUser(service);
    await user.call("POST", DELETION, { password: PASSWORD });
    const [team] = await service.sql<{ id: string }>(
      "insert into teams (name, owner_id) values ('Late', $1) returning id",
      [user.id],
    );
    for (const id of [user.id, other.id])
      await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, 'editor')", [team?.id, id]);
    ahead = 14 * DAY + 1000;
    await service.app.scheduled(DAILY);
    const email = "users where id = $1 and email like '%@example.test'";
    expect(await count(email)).toBe(1);
    await service.sql("update teams set owner_id = $1 where id = $2", [other.id, team?.id]);
    await service.app.scheduled(DAILY);
    expect(await count(email)).toBe(0);
  });

  it("does the same once when it runs several times at once, beside restores", async () => {
    const others = [await newUser(service), await newUser(service)];
    for (const one of [user, ...others]) await one.call("POST", DELETION, { password: PASSWORD });
    ahead = 14 * DAY - 1000;
    const { body } = await caller(service).call("POST", "/api/v1/auth/login", {
      email: user.email,
      password: PASSWORD,
    });
    const undecided = caller(service, { authorization: `Bearer ${body.access_token}` });
    ahead = 14 * DAY + 1000;
    const [restored] = await Promise.all([
      undecided.call("DELETE", DELETION),
      ...range(4).map(() => service.app.scheduled(DAILY)),
    ]);
    const gone = "users where id = $1 and email like 'Deleted-%' and deletion_scheduled_for is null";
    for (const { id } of others) expect(await count(gone, [id])).toBe(1);
    expect(await count(gone)).toBe(restored.status === 200 ? 0 : 1);
    expect(service.logs.some((line) => line.includes("account not deleted"))).toBe(false);
  });

  it("holds no account up by one that fails, and goes on with that one where it stopped", async () => {
    const next = await newUser(service);
    await addRun(user, await addAgent(user), suite.tasks[0] ?? "");
    await service.settled();
    await service.sql(`create function refuse() returns trigger language plpgsql as $$
      begin if old.user_id = '${user.id}' then raise exception 'refused'; end if; return old; end $$`);
    await service.sql("create trigger refuse before delete on agents for each row execute function refuse()");
    await finalise(user, next);
    const done = "users where id = $1 and email like 'Deleted-%' and deletion_scheduled_for is null";
    expect([await count(done), await count(done, [next.id])]).toEqual([0, 1]);
    expect(await count("users where id = $1 and email like 'Deleted-%'"), "it is closed").toBe(1);
    expect(service.logs.filter((line) => line.includes("account not deleted"))).toHaveLength(1);
    const daily = async () => (await dailyStates(service)).get("delete accounts")?.last_error ?? null;
    expect(await daily()).toContain("P0001");
    await service.sql("drop trigger refuse on agents");
    await service.app.scheduled(DAILY);
    expect([await count(done), await count("agents where user_id = $1"), await daily()]).toEqual([1, 0, null]);
  });

  it("keeps tokens of before refused when Redis was away, once it is back", async () => {
    await user.call("POST", DELETION, { password: PASSWORD });
    ahead = 14 * DAY - 1000;
    const { body } = await caller(service).call("POST", "/api/v1/auth/login", {
      email: user.email,
      password: PASSWORD,
    });
    ahead = 14 * DAY + 1000;
    // Whether the deletion was taken back is asked before, and told.
    service.faults.set({ service: "redis", mode: "down", body: "deny:" });
    await service.app.scheduled(DAILY);
    service.faults.set({ service: "redis", mode: "none" });
    await service.app.scheduled("* * * * *");
    const bearer = caller(service, { authorization: `Bearer ${body.access_token}` });
    expect((await bearer.call("GET", "/api/v1/auth/me")).status).toBe(401);
  });
});
