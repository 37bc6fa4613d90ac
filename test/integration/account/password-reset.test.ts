import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type Answer, caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { cookiesOf } from "../../stack/cookies.ts";
import { linkOf, tokenOf } from "../../stack/mailbox.ts";
import { startService, type TestService } from "../../stack/service.ts";

const FORGOT = "/api/v1/auth/forgot-password";
const RESET = "/api/v1/auth/reset-password";
const LOGIN = "/api/v1/auth/login";
const LINK = "/api/v1/users/me/deletion/confirmation-link";
const HOUR = 3_600_000;
const START = Date.parse("2026-11-21T09:00:00.000Z");
const ME = "/api/v1/auth/me";
const TRACES = "/api/v1/otlp/v1/traces";
const ENDPOINT = "http://127.0.0.1:9/agent";
const NEW_PASSWORD = "a different horse entirely";

let service: TestService;
let clock = START;
let addresses = 0;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(clock) } });
});

beforeEach(() => {
  clock = START;
});

afterAll(() => service.stop());

/** Calls from an address of its own, so that the limit is not what the tests meet. */
function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  addresses += 1;
  return caller(service, { "cf-connecting-ip": `172.19.${addresses >> 8}.${addresses & 255}` }).call(
    "POST",
    path,
    body,
    headers,
  );
}

/** Asks for a reset and gives the token that the account's newest mail carries. */
async function forgotten(user: User): Promise<string> {
  expect((await post(FORGOT, { email: user.email })).status).toBe(202);
  await service.settled();
  const [mail] = service.mailbox.list(user.email);
  expect(mail?.subject).toBe("Reset your password");
  return tokenOf(mail);
}

const login = (user: User, password: string) => post(LOGIN, { email: user.email, password });

/** Expects the one answer to every token that does not hold. */
async function expectRefused(body: Record<string, unknown>): Promise<void> {
  const answer = await post(RESET, { new_password: NEW_PASSWORD, ...body });
  const { request_id: _id, ...rest } = answer.body;
  expect([answer.status, rest]).toEqual([
    400,
    {
      type: `${service.url}/docs/problems#invalid_token`,
      title: "The token is not valid",
      status: 400,
      code: "invalid_token",
      detail: "This link is invalid or has expired. Ask for a new one.",
    },
  ]);
}

/** The headers of a caller at an address of its own. */
const from = (n: number) => ({ "cf-connecting-ip": `172.20.${n >> 8}.${n & 255}` });

/** Takes the password away: what an account made through a code host looks like. */
async function codeHostUser(): Promise<User> {
  const user = await newUser(service);
  await service.sql("update users set password_hash = null where id = $1", [user.id]);
  await service.settled();
  return user;
}

describe("a forgotten password", () => {
  it("is answered alike for password accounts, others and nobody, and only the first get a mail", async () => {
    const [owner, guest] = [await newUser(service), await codeHostUser()];
    await service.settled();
    service.mailbox.clear();
    const emails = [owner.email, owner.email.toUpperCase(), guest.email, "nobody@example.test"];
    const answers = [];
    for (const email of emails) answers.push(await post(FORGOT, { email }));
    await service.settled();
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(202);
    expect(service.mailbox.list().map(({ to }) => to)).toEqual([owner.email, owner.email]);
    expect(linkOf(service.mailbox.list(owner.email)[0]).pathname).toBe("/reset-password");
  });

  it("costs the same statements, commands and messages whether or not there is an account", async () => {
    const [owner, guest] = [await newUser(service), await codeHostUser()];
    const work = [];
    for (const email of [owner.email, guest.email, "nobody@example.test"]) {
      await service.settled();
      service.faults.set({ service: "qstash", mode: "down" });
      service.counters.reset();
      await post(FORGOT, { email });
      await service.settled();
      const { db, redis, qstash } = service.counters.snapshot();
      const [owes] = await service.sql("delete from outbox where consumer = 'mail' returning body #> '{to}' as reader");
      work.push({ db, redis, qstash });
      expect(owes).toEqual({ reader: email === owner.email ? email : null });
    }
    service.faults.set({ service: "qstash", mode: "none" });
    expect(new Set(work.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(work[0]).toMatchObject({ db: { statements: 2, requests: 1 }, qstash: { requests: 1 } });
  });

  it("counts against the authentication bucket", async () => {
    const answer = await post(FORGOT, { email: "nobody@example.test" });
    expect(answer.headers.get("ratelimit-policy")).toBe('"minute";q=10;w=60');
  });
});

describe("a reset token", () => {
  it("sets the new password: the old one stops working", async () => {
    const user = await newUser(service);
    const answer = await post(RESET, { token: await forgotten(user), new_password: NEW_PASSWORD });
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expect((await login(user, PASSWORD)).status).toBe(401);
    expect((await login(user, NEW_PASSWORD)).status).toBe(200);
  });

  it("ends every session of the account at once, and nobody else's", async () => {
    const [user, other] = [await newUser(service), await newUser(service)];
    const device = await login(user, PASSWORD);
    const credential = cookiesOf(device)["service_refresh"]?.value ?? "";
    await post(RESET, { token: await forgotten(user), new_password: NEW_PASSWORD });
    for (const token of [user.token, device.body.access_token]) {
      const me = await caller(service).call("GET", "/api/v1/auth/me", undefined, { authorization: `Bearer ${token}` });
      expect(me.status).toBe(401);
    }
    const refreshed = await post("/api/v1/auth/refresh", undefined, {
      cookie: `service_refresh=${credential}`,
      origin: service.url,
    });
    expect(refreshed.status).toBe(401);
    expect((await other.call("GET", "/api/v1/auth/me")).status).toBe(200);
  });

  it("still sets the password and ends the sessions while Redis is down", async () => {
    const user = await newUser(service);
    const token = await forgotten(user);
    service.faults.set({ service: "redis", mode: "down" });
    const reset = await post(RESET, { token, new_password: NEW_PASSWORD });
    const me = await user.call("GET", "/api/v1/auth/me");
    service.faults.set({ service: "redis", mode: "none" });
    expect([reset.status, me.status]).toEqual([200, 401]);
    expect((await login(user, NEW_PASSWORD)).status).toBe(200);
  });

  it("clears the account's lockout", async () => {
    const user = await newUser(service);
    const token = await forgotten(user);
    for (let attempt = 0; attempt < 5; attempt += 1) await login(user, "not the password");
    expect((await login(user, PASSWORD)).status).toBe(429);
    await post(RESET, { token, new_password: NEW_PASSWORD });
    expect((await login(user, NEW_PASSWORD)).status).toBe(200);
  });

  it("works once among fifty uses at once", async () => {
    const user = await newUser(service);
    const token = await forgotten(user);
    const uses = Array.from({ length: 50 }, (_, use) => `a different horse, number ${use}`);
    const answers = await Promise.all(uses.map((new_password) => post(RESET, { token, new_password })));
    const won = uses.filter((_, use) => answers[use]?.status === 200);
    expect(won).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(49);
    expect((await login(user, won[0] ?? "")).status).toBe(200);
    await expectRefused({ token });
  });

  it("works until an hour has passed, and not at that moment", async () => {
    const [early, late] = [await newUser(service), await newUser(service)];
    const tokens = [await forgotten(early), await forgotten(late)];
    clock = START + HOUR - 1;
    expect((await post(RESET, { token: tokens[0], new_password: NEW_PASSWORD })).status).toBe(200);
    clock = START + HOUR;
    await expectRefused({ token: tokens[1] });
  });

  it("stays good beside newer ones, so that nobody who asks for them keeps the owner out, and dies once one is used", async () => {
    const user = await newUser(service);
    const [older, newer] = [await forgotten(user), await forgotten(user)];
    expect((await post(RESET, { token: older, new_password: NEW_PASSWORD })).status).toBe(200);
    await expectRefused({ token: newer });
  });

  it("is mailed five times an hour at most, however many ask for it at once, and the answer is the same", async () => {
    const user = await newUser(service);
    // All of them are held up until the last has come, so that they meet.
    const [asked] = await Promise.all([
      Promise.all(Array.from({ length: 9 }, () => post(FORGOT, { email: user.email }))),
      service.sql(`do $$ begin
        lock table email_tokens in access exclusive mode;
        while (select count(*) < 9 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock') loop
          perform pg_sleep(0.01), pg_stat_clear_snapshot();
        end loop;
      end $$`),
    ]);
    expect(new Set(asked.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    await service.settled();
    const links = () => service.mailbox.list(user.email).filter(({ subject }) => subject === "Reset your password");
    expect(links()).toHaveLength(5);
    clock += HOUR;
    await forgotten(user);
    expect(links()).toHaveLength(6);
  });

  it("outlives a password that the policy refuses", async () => {
    const user = await newUser(service, { email: "margarete@example.test" });
    const token = await forgotten(user);
    for (const new_password of [
      "short",
      "password123",
      "I am margarete indeed",
      "aB3$".repeat(40),
      "aB3$".repeat(1000),
    ]) {
      const refused = await post(RESET, { token, new_password });
      expect([refused.status, refused.body.code, refused.body.errors[0].pointer]).toEqual([
        422,
        "weak_password",
        "/new_password",
      ]);
    }
    expect((await post(RESET, { token, new_password: NEW_PASSWORD })).status).toBe(200);
  });

  it.each([
    ["unknown", { token: "x".repeat(43) }],
    ["empty", { token: "" }],
    ["left out", {}],
    ["unknown, with a weak password", { token: "x".repeat(43), new_password: "short" }],
  ])("that is %s gets the answer of a used one", (_case, body) => expectRefused(body));
});

describe("a reset of an account whose address was never verified", () => {
  /** An account with every way in that its maker could leave open, and what tells whether each still works. */
  async function squat(verified: boolean) {
    const user = await newUser(service, { plan: "team", verified });
    const { body: agent } = await user.call("POST", "/api/v1/agents", { name: "kept", endpoint: ENDPOINT });
    const { body: team } = await user.call("POST", "/api/v1/teams", { name: "kept" });
    const shared = { name: "shared", endpoint: ENDPOINT, team_id: team.id };
    const { body: teamAgent } = await user.call("POST", "/api/v1/agents", shared);
    const key = await user.call("POST", "/api/v1/api-keys", { name: "kept", scope: "write" });
    const otlp: Answer<{ token: string }>[] = [];
    for (const { id } of [agent, teamAgent]) {
      otlp.push(await user.call("POST", `/api/v1/agents/${id}/otlp-token`));
      const hook = { url: ENDPOINT, event_types: ["run.completed"], agent_id: id };
      expect((await user.call("POST", "/api/v1/webhooks", hook)).status).toBe(201);
    }
    const invited = { email: "accomplice@example.test", role: "admin" };
    expect((await user.call("POST", `/api/v1/teams/${team.id}/invitations`, invited)).status).toBe(201);
    expect([key.status, ...otlp.map(({ status }) => status)]).toEqual([201, 200, 200]);
    const byKey = async () => (await caller(service).call("GET", ME, undefined, { "x-api-key": key.body.key })).status;
    expect(await byKey(), "it works and is remembered").toBe(200);
    const traces = { resourceSpans: [] };
    const open = async () => ({
      session: (await user.call("GET", ME)).status,
      key: await byKey(),
      receivers: await Promise.all(
        otlp.map(async ({ body }) => (await post(TRACES, traces, { authorization: `Bearer ${body.token}` })).status),
      ),
    });
    return { user, team: team.id as string, open };
  }

  /** What an account has once its owner has signed in by the new password. */
  async function seenBy(user: User, team: string) {
    const { body } = await login(user, NEW_PASSWORD);
    const owner = caller(service, { authorization: `Bearer ${body.access_token}` });
    const invitations = await owner.call("GET", `/api/v1/teams/${team}/invitations`);
    return {
      verified: body.user.email_verified,
      webhooks: (await owner.call("GET", "/api/v1/webhooks?page_size=100")).body.total,
      keys: (await owner.call("GET", "/api/v1/api-keys")).body.items.map(
        ({ revoked_at }: never) => revoked_at !== null,
      ),
      invitations: invitations.body.items.map(({ status }: { status: string }) => status),
    };
  }

  it("verifies it and ends all that let its maker in, at once", async () => {
    const { user, team, open } = await squat(false);
    expect(await open()).toEqual({ session: 200, key: 200, receivers: [200, 200] });
    await post(RESET, { token: await forgotten(user), new_password: NEW_PASSWORD });
    expect(await open()).toEqual({ session: 401, key: 401, receivers: [401, 401] });
    expect(await seenBy(user, team)).toEqual({ verified: true, webhooks: 0, keys: [true], invitations: ["revoked"] });
  });

  it("that was verified ends its sessions alone", async () => {
    const { user, team, open } = await squat(true);
    await post(RESET, { token: await forgotten(user), new_password: NEW_PASSWORD });
    expect(await open()).toEqual({ session: 401, key: 200, receivers: [200, 200] });
    expect(await seenBy(user, team)).toEqual({ verified: true, webhooks: 2, keys: [false], invitations: ["pending"] });
  });

  it("leaves nothing open that is granted or signed in at the same moment", async () => {
    const user = await newUser(service, { plan: "enterprise" });
    const { body: agent } = await user.call("POST", "/api/v1/agents", { name: "kept", endpoint: ENDPOINT });
    const { body: team } = await user.call("POST", "/api/v1/teams", { name: "kept" });
    const token = await forgotten(user);
    const INVITATIONS = `/api/v1/teams/${team.id}/invitations`;
    let turn = 0;
    const grants = [
      () => user.call("POST", "/api/v1/api-keys", { name: `key ${turn}`, scope: "write" }, from(turn)),
      () => user.call("POST", `/api/v1/agents/${agent.id}/otlp-token`, undefined, from(turn)),
      () => user.call("POST", "/api/v1/webhooks", { url: ENDPOINT, event_types: ["run.failed"] }, from(turn)),
      () => user.call("POST", INVITATIONS, { email: `a${turn % 3}@example.test`, role: "admin" }, from(turn)),
      () => login(user, PASSWORD),
    ];
    const statuses = new Set<number>();
    const over = new AbortController();
    // Each goes on until the reset has been answered, so that some of them are under way whenever it happens.
    const granting = grants.map(async (grant) => {
      while (!over.signal.aborted) {
        turn += 1;
        statuses.add((await grant()).status);
      }
    });
    await vi.waitFor(() => expect(statuses).toContain(201), 10_000);
    const resetting = post(RESET, { token, new_password: NEW_PASSWORD }).finally(() => over.abort());
    expect((await resetting).status).toBe(200);
    await Promise.all(granting);
    expect(statuses).not.toContain(500);
    const [left] = await service.sql(
      `select (select count(*) from api_keys where user_id = $1 and revoked_at is null)::int as keys,
        (select count(*) from otlp_tokens where agent_id = $2)::int as receivers,
        (select count(*) from webhooks where user_id = $1)::int as webhooks,
        (select count(*) from sessions where user_id = $1 and revoked_at is null)::int as sessions,
        (select count(*) from team_invitations where team_id = $3 and revoked_at is null)::int as invitations`,
      [user.id, agent.id, team.id],
    );
    expect(left).toEqual({ keys: 0, receivers: 0, webhooks: 0, sessions: 0, invitations: 0 });
  });
});

describe("the confirmation link of a deletion", () => {
  it("is mailed to an account without a password", async () => {
    const user = await codeHostUser();
    const answer = await user.call("POST", LINK, {});
    await service.settled();
    expect(answer.status).toBe(202);
    const [mail] = service.mailbox.list(user.email);
    expect(linkOf(mail).pathname).toBe("/confirm-deletion");
    const [kept] = await service.sql<{ purpose: string; expires_at: Date }>(
      "select purpose, expires_at from email_tokens where user_id = $1 and purpose = 'confirm_deletion'",
      [user.id],
    );
    expect(kept?.expires_at.getTime()).toBe(START + HOUR);
  });

  it("is refused for an account with a password, and to nobody in particular", async () => {
    const user = await newUser(service);
    const refused = await user.call("POST", LINK, {});
    await service.settled();
    expect([refused.status, refused.body.code]).toEqual([409, "password_account"]);
    expect(service.mailbox.list(user.email)).toHaveLength(1);
    expect((await post(LINK, {})).status).toBe(401);
  });
});
