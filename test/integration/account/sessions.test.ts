import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { cookiesOf } from "../../stack/cookies.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { from, range, tally } from "../runs/support.ts";
import { heldUp, holdUp, SOMEBODY_WAITS } from "./holding-up.ts";

const ME = "/api/v1/auth/me";
const SESSIONS = "/api/v1/auth/sessions";
const NEW_PASSWORD = "another horse battery";

let service: TestService;
let user: User;
let clock = Date.parse("2026-11-21T09:00:00.000Z");
let addresses = 0;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(clock) } });
});

afterAll(() => service.stop());

beforeEach(async () => {
  service.faults.set({ service: "redis", mode: "none" });
  user = await newUser(service);
});

interface Device {
  token: string;
  refresh: string;
}

/** Signs the user in on one more device. */
async function signIn(password = PASSWORD, userAgent = "test"): Promise<Device> {
  addresses += 1;
  const headers = { ...from(addresses), "user-agent": userAgent };
  const answer = await caller(service, headers).call("POST", "/api/v1/auth/login", { email: user.email, password });
  if (answer.status !== 200) throw new Error(answer.text);
  return { token: answer.body.access_token, refresh: cookiesOf(answer)["service_refresh"]?.value ?? "" };
}

const on = ({ token }: Device) => caller(service, { authorization: `Bearer ${token}` });
const alive = async (token: string) => (await on({ token, refresh: "" }).call("GET", ME)).status === 200;
const idOf = (token: string): string =>
  (JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as { sid: string }).sid;

async function refreshes({ refresh }: Device): Promise<boolean> {
  const headers = { cookie: `service_refresh=${refresh}`, origin: service.url };
  return (await caller(service).call("POST", "/api/v1/auth/refresh", undefined, headers)).status === 200;
}

describe("the list of sessions", () => {
  it("has the account's living ones, the one used last first, and marks this one", async () => {
    const [phone, laptop] = [await signIn(PASSWORD, "phone"), await signIn(PASSWORD, "laptop")];
    await newUser(service);
    const { status, body } = await on(phone).call("GET", SESSIONS);
    expect([status, body.total, body.items.length]).toEqual([200, 3, 3]);
    expect(body.items.map(({ id, user_agent, current }: never) => ({ id, user_agent, current }))).toEqual([
      { id: idOf(laptop.token), user_agent: "laptop", current: false },
      { id: idOf(phone.token), user_agent: "phone", current: true },
      { id: idOf(user.token), user_agent: expect.any(String), current: false },
    ]);
    expect(Object.keys(body.items[0]).toSorted()).toEqual([
      "created_at",
      "current",
      "id",
      "last_used_at",
      "user_agent",
    ]);
    await on(laptop).call("POST", "/api/v1/auth/logout");
    const left = await on(phone).call("GET", `${SESSIONS}?page_size=1&page=2`);
    expect([left.body.total, left.body.items[0].id]).toEqual([2, idOf(user.token)]);
  });

  it("leaves out a session that has expired", async () => {
    const before = clock;
    clock += 30 * 86_400_000;
    const device = await signIn();
    expect((await on(device).call("GET", SESSIONS)).body.items).toMatchObject([{ current: true }]);
    clock = before;
  });
});

describe("signing one session out", () => {
  it("ends its tokens and refresh credential at once, can be repeated, and leaves the others", async () => {
    const device = await signIn();
    const end = () => user.call("DELETE", `${SESSIONS}/${idOf(device.token)}`);
    const answer = await end();
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([204, []]);
    expect([await alive(device.token), await refreshes(device), await alive(user.token)]).toEqual([false, false, true]);
    expect((await end()).status).toBe(204);
  });

  it("clears the cookies when it is this request's own", async () => {
    const answer = await user.call("DELETE", `${SESSIONS}/${idOf(user.token).toUpperCase()}`);
    expect(answer.status).toBe(204);
    expect(Object.keys(cookiesOf(answer))).toEqual(["service_session", "service_refresh"]);
    expect(await alive(user.token)).toBe(false);
  });

  it("is 404 for another account's session, which goes on", async () => {
    const other = await newUser(service);
    for (const id of [idOf(other.token), randomUUID()]) {
      expect((await user.call("DELETE", `${SESSIONS}/${id}`)).status).toBe(404);
    }
    expect(await alive(other.token)).toBe(true);
  });

  it.each(["down", "error"] as const)("works while Redis is %s, and holds when it is back", async (mode) => {
    const device = await signIn();
    service.faults.set({ service: "redis", mode });
    expect((await user.call("DELETE", `${SESSIONS}/${idOf(device.token)}`)).status).toBe(204);
    expect(await alive(device.token)).toBe(false);
    service.faults.set({ service: "redis", mode: "none" });
    await service.app.scheduled("* * * * *");
    expect(await alive(device.token)).toBe(false);
  });
});

describe("signing out everywhere", () => {
  it("ends every session, this one included, clears the cookies, and leaves other accounts", async () => {
    const [devices, other] = [[await signIn(), await signIn()], await newUser(service)];
    const answer = await user.call("DELETE", SESSIONS);
    expect(answer.status).toBe(204);
    for (const { attributes, value } of Object.values(cookiesOf(answer))) {
      expect([value, attributes]).toEqual(["", expect.arrayContaining(["Max-Age=0"])]);
    }
    for (const device of devices) expect([await alive(device.token), await refreshes(device)]).toEqual([false, false]);
    expect([await alive(user.token), await alive(other.token)]).toEqual([false, true]);
  });

  it("leaves nothing alive when 20 come at once with refreshes", async () => {
    const device = await signIn();
    const [ends] = await Promise.all([
      Promise.all(range(20).map(() => user.call("DELETE", SESSIONS))),
      refreshes(device),
    ]);
    expect(ends.every(({ status }) => status === 204 || status === 401)).toBe(true);
    expect([await alive(device.token), await refreshes(device)]).toEqual([false, false]);
  });

  it("lets no refresh that waits for it go on, however long ago the session was used", async () => {
    const device = await signIn();
    const id = idOf(device.token);
    await service.sql("update sessions set expires_at = expires_at - interval '20 minutes' where id = $1", [id]);
    // The sign-out goes on once the refresh waits for it.
    const when = `new.id = '${id}' and old.revoked_at is null and new.revoked_at is not null`;
    const letGo = await holdUp(service, { on: "update on sessions", when, until: SOMEBODY_WAITS });
    const signedOut = user.call("DELETE", SESSIONS);
    await heldUp(service);
    const refreshed = await refreshes(device);
    expect((await signedOut).status).toBe(204);
    await letGo();
    expect(refreshed).toBe(false);
  });
});

describe("an account with more sessions than are denied at a time", () => {
  /** A program that signs in every half minute leaves more within 30 days. */
  const MANY = 51_000;
  const MINUTE = "* * * * *";

  it("has them all ended at once, and Redis told of those alone that may have an access token", async () => {
    const device = await signIn();
    await service.sql(
      `insert into sessions (user_id, created_at, last_used_at, expires_at)
       select $1, t, t, t + interval '30 days' from (
         select $2::timestamptz - interval '20 minutes' - n * interval '30 seconds' as t from generate_series(1, ${MANY}) n)`,
      [user.id, new Date(clock).toISOString()],
    );
    service.logs.length = 0;
    service.counters.reset();
    expect((await user.call("DELETE", SESSIONS)).status).toBe(204);
    await service.app.scheduled(MINUTE);
    expect(service.logs.filter((line) => /denylist|more sessions/.test(line))).toEqual([]);
    expect(service.counters.redis.commands).toBeLessThan(100);
    expect([await alive(device.token), await alive(user.token)]).toEqual([false, false]);
    const living = "select from sessions where user_id = $1 and revoked_at is null";
    expect(await service.sql(living, [user.id])).toEqual([]);
    await service.sql("delete from sessions where user_id = $1", [user.id]);
  });
});

describe("forgetting ended sessions", () => {
  it("removes what ended or expired over a day ago, and nothing else", async () => {
    const before = clock;
    const device = await signIn();
    await on(device).call("POST", "/api/v1/auth/logout");
    const rows = async () =>
      (await service.sql<{ id: string }>("select id from sessions where user_id = $1", [user.id])).length;
    clock = before + 86_400_000;
    await service.app.scheduled("17 3 * * *");
    expect(await rows()).toBe(2);
    clock += 1;
    await service.app.scheduled("17 3 * * *");
    expect(await rows()).toBe(1);
    clock = before + 31 * 86_400_000 + 60_000;
    await service.app.scheduled("17 3 * * *");
    expect(await rows()).toBe(0);
    clock = before;
  });
});

describe("changing the account", () => {
  const change = (body: object) => user.call("PATCH", ME, body);

  it("sets the username, which nobody else may have in any case", async () => {
    const name = `Ada-${user.id.slice(-8)}`;
    const answer = await change({ username: name });
    expect([answer.status, answer.body.username, answer.body.id]).toEqual([200, name, user.id]);
    expect((await user.call("GET", ME)).body).toEqual(answer.body);
    const other = await newUser(service);
    const refused = await other.call("PATCH", ME, { username: name.toUpperCase() });
    expect([refused.status, refused.body.code]).toEqual([409, "username_taken"]);
    expect((await change({ username: name.toLowerCase() })).status).toBe(200);
    expect((await change({})).body.username).toBe(name.toLowerCase());
  });

  it("sets a password against the current one, and ends every other session", async () => {
    const device = await signIn();
    const answer = await change({ current_password: PASSWORD, new_password: NEW_PASSWORD });
    expect([answer.status, answer.body.id]).toEqual([200, user.id]);
    expect([await alive(user.token), await alive(device.token), await refreshes(device)]).toEqual([true, false, false]);
    await expect(signIn(PASSWORD)).rejects.toThrow("invalid_credentials");
    expect(await alive((await signIn(NEW_PASSWORD)).token)).toBe(true);
  });

  it("voids the reset links that were mailed before", async () => {
    await service.sql(
      `insert into email_tokens (token_hash, user_id, purpose, email, expires_at)
       values ($1, $2, 'reset_password', $3, now() + interval '1 year')`,
      [randomUUID(), user.id, user.email],
    );
    await change({ current_password: PASSWORD, new_password: NEW_PASSWORD });
    const open = "select from email_tokens where user_id = $1 and purpose = 'reset_password' and used_at is null";
    expect(await service.sql(open, [user.id])).toEqual([]);
  });

  it.each([
    ["a wrong current password", { current_password: "wrong", new_password: NEW_PASSWORD }, 401, "invalid_credentials"],
    ["no current password", { new_password: NEW_PASSWORD }, 422, "validation_failed"],
    ["no new password", { current_password: PASSWORD }, 422, "validation_failed"],
    ["a weak password", { current_password: PASSWORD, new_password: "short" }, 422, "weak_password"],
    ["a long password", { current_password: PASSWORD, new_password: "aB3$".repeat(40) }, 422, "weak_password"],
    ["far too long a one", { current_password: PASSWORD, new_password: "aB3$".repeat(1000) }, 422, "weak_password"],
    ["a bad username", { username: "a b" }, 422, "validation_failed"],
    ["another field", { email: "new@example.test" }, 422, "unrecognized_field"],
  ])("is refused with %s, and changes nothing", async (_what, body, status, code) => {
    const device = await signIn();
    const answer = await change({ username: `n-${user.id.slice(-8)}`, ...body });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect([await alive(device.token), (await user.call("GET", ME)).body.username]).toEqual([true, null]);
  });

  it("counts wrong passwords as failed sign-ins", async () => {
    const guesses = await Promise.all(
      range(8).map((n) => change({ current_password: `guess ${n}`, new_password: NEW_PASSWORD })),
    );
    expect(tally(guesses)).toEqual({ 401: 5, 429: 3 });
    expect((await change({ current_password: PASSWORD, new_password: NEW_PASSWORD })).body.code).toBe("login_locked");
  });

  it("takes the same change again, in a row and at once, and looks at the new password for nobody else", async () => {
    const body = { current_password: PASSWORD, new_password: NEW_PASSWORD };
    expect(tally(await Promise.all(range(4).map(() => change(body))))).toEqual({ 200: 4 });
    const hash = () => service.sql("select password_hash from users where id = $1", [user.id]);
    const held = await hash();
    expect((await change(body)).status).toBe(200);
    expect(await hash()).toEqual(held);
    for (const other of [{ current_password: "not the former" }, { new_password: "not the one in force" }])
      expect((await change({ ...body, ...other })).body.code).toBe("invalid_credentials");
    // Another session learns nothing by the same.
    expect((await on(await signIn(NEW_PASSWORD)).call("PATCH", ME, body)).body.code).toBe("invalid_credentials");
  });

  it("refuses a password where the account has none", async () => {
    await service.sql("update users set password_hash = null where id = $1", [user.id]);
    const answer = await change({ current_password: PASSWORD, new_password: NEW_PASSWORD });
    expect([answer.status, answer.body.code]).toEqual([403, "forbidden"]);
  });

  it("lets no session live that signed in with the old password meanwhile", async () => {
    const [answer, ...devices] = await Promise.all([
      change({ current_password: PASSWORD, new_password: NEW_PASSWORD }),
      ...range(3).map(() => signIn().catch(() => null)),
    ]);
    expect(answer.status).toBe(200);
    for (const device of devices) if (device !== null) expect(await alive(device.token)).toBe(false);
  });
});
