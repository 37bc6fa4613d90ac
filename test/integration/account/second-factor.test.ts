import { encode } from "uqr";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeAt, stepAt } from "../../../shared/identity/second-factor/totp.ts";
import { type Answer, caller, newUser, PASSWORD, type User, stranger } from "../../stack/client.ts";
import { cookiesOf } from "../../stack/cookies.ts";
import { tokenOf } from "../../stack/mailbox.ts";
import { newVisitor, visitorOf } from "../../stack/visitor.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { range } from "../runs/support.ts";

const TOTP = "/api/v1/users/me/totp";
const LOGIN = "/api/v1/auth/login";
const SECOND = "/api/v1/auth/second-factor";
const STEP = 30_000;

let service: TestService;
let now = Date.parse("2026-11-22T12:00:00.000Z");

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(now) } });
});

afterAll(() => service.stop());

const codeNow = (secret: string, steps = 0): string => codeAt(secret, stepAt(new Date(now)) + steps);
const codeOf = ({ status, body }: Answer<{ code: string }>) => [status, body.code];

interface Enrolled {
  user: User;
  secret: string;
  recovery: string[];
}

/** An account whose app is asked for, at a moment whose code was not used yet. */
async function enrolled(): Promise<Enrolled> {
  const user = await newUser(service);
  const begun = await user.call("POST", TOTP);
  expect(begun.status, begun.text).toBe(201);
  const { secret } = begun.body;
  const confirmed = await user.call("POST", `${TOTP}/confirm`, { code: codeNow(secret) });
  expect(confirmed.status, confirmed.text).toBe(200);
  now += 2 * STEP;
  return { user, secret, recovery: confirmed.body.recovery_codes };
}

const signIn = ({ email }: Pick<User, "email">, more: object = {}) =>
  stranger(service).call("POST", LOGIN, { email, password: PASSWORD, ...more });

/** The dark modules of the code that a page shows, as `x,y`. */
function darkOf(html: string): string[] {
  const path = /<path d="([^"]+)"/.exec(html)?.[1] ?? "";
  return [...path.matchAll(/M(\d+) (\d+)h(\d+)/g)].flatMap(([, x, y, length]) =>
    Array.from({ length: Number(length) }, (_, n) => `${Number(x) + n},${y}`),
  );
}

/** Those of the code for a text. */
const darkIn = (text: string): string[] =>
  encode(text, { border: 4 }).data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`${x},${y}`] : [])));

describe("a second factor", () => {
  it("is asked for once a code of the app was confirmed, and not before", async () => {
    const user = await newUser(service);
    const first = await user.call("POST", TOTP);
    const { secret, otpauth_url } = (await user.call("POST", TOTP)).body;
    expect(secret).not.toBe(first.body.secret);
    expect(new URL(otpauth_url).searchParams.get("secret")).toBe(secret);
    expect((await signIn(user)).status).toBe(200);
    for (const code of [codeNow(first.body.secret), codeNow(secret, 2), codeNow(secret, -2)]) {
      const refused = await user.call("POST", `${TOTP}/confirm`, { code });
      expect(codeOf(refused)).toEqual([401, "invalid_second_factor"]);
      expect(refused.body.detail, "there are no recovery codes yet").toMatch(
        /begin again, and give the app the new secret\.$/,
      );
    }
    const { status, body } = await user.call("POST", `${TOTP}/confirm`, { code: codeNow(secret, -1) });
    expect([status, new Set(body.recovery_codes).size]).toEqual([200, 10]);
    expect(codeOf(await signIn(user))).toEqual([401, "second_factor_required"]);
    expect(codeOf(await user.call("POST", TOTP))).toEqual([409, "second_factor_active"]);
    expect((await user.call("POST", `${TOTP}/confirm`, { code: codeNow(secret) })).status).toBe(404);
    expect((await user.call("GET", TOTP)).body).toMatchObject({ active: true, recovery_codes_left: 10 });
  });

  it("is put into force once, and taken away once, however often that is sent at once: the session goes on", async () => {
    const user = await newUser(service);
    const { secret } = (await user.call("POST", TOTP)).body;
    const sent = (method: "POST" | "DELETE", path: string, code: string) =>
      Promise.all(range(6).map(async () => (await user.call(method, path, { code })).status));
    const tally = (statuses: number[]) => statuses.toSorted((a, b) => a - b);
    expect(tally(await sent("POST", `${TOTP}/confirm`, codeNow(secret)))).toEqual([200, 404, 404, 404, 404, 404]);
    now += 2 * STEP;
    expect(tally(await sent("DELETE", TOTP, codeNow(secret)))).toEqual([204, 404, 404, 404, 404, 404]);
  });

  it("takes each code once: of sign-ins side by side with one code one gets in, in one step or in two", async () => {
    const { user, secret } = await enrolled();
    const half = await signIn(user);
    const cookie = `service_first_step=${cookiesOf(half)["service_first_step"]?.value}`;
    const code = codeNow(secret);
    const second = () => stranger(service).call("POST", SECOND, { code }, { cookie, origin: service.url });
    const answers = await Promise.all([signIn(user, { totp_code: code }), second(), signIn(user, { totp_code: code })]);
    answers.push(await second());
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401, 401, 401]);
    expect(codeOf(await signIn(user, { totp_code: codeNow(secret, -1) }))).toEqual([401, "invalid_second_factor"]);
    now += STEP;
    expect((await signIn(user, { totp_code: codeNow(secret, 1) })).status).toBe(200);
  });

  it("is replaced by a recovery code, each of which gets in once, however many use it at once", async () => {
    const { user, recovery } = await enrolled();
    const [first = "", next = ""] = recovery;
    const answers = await Promise.all([1, 2, 3].map(() => signIn(user, { recovery_code: first })));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401, 401]);
    expect((await signIn(user, { recovery_code: ` ${next.toUpperCase().replaceAll("-", " ")}` })).status).toBe(200);
    expect((await user.call("GET", TOTP)).body.recovery_codes_left).toBe(8);
  });

  it("locks the account after five wrong codes as after wrong passwords, and a right password alone clears nothing", async () => {
    const { user, secret } = await enrolled();
    const half = await signIn(user);
    const cookie = `service_first_step=${cookiesOf(half)["service_first_step"]?.value}`;
    const tries = [
      () => signIn(user, { totp_code: codeNow(secret, 5) }),
      () => signIn(user, { recovery_code: "aaaa-aaaa-aaaa-aaaa" }),
      () => stranger(service).call("POST", SECOND, { code: codeNow(secret, 5) }, { cookie, origin: service.url }),
      () => user.call("DELETE", TOTP, { code: "no code" }),
      () => signIn(user, { password: "wrong", totp_code: codeNow(secret) }),
    ];
    for (const attempt of tries) {
      expect((await attempt()).status).toBe(401);
      await service.settled();
      if (attempt !== tries.at(-1)) expect(codeOf(await signIn(user))).toEqual([401, "second_factor_required"]);
    }
    const locked = [
      await signIn(user, { totp_code: codeNow(secret) }),
      await stranger(service).call("POST", SECOND, { code: codeNow(secret) }, { cookie, origin: service.url }),
      await user.call("DELETE", TOTP, { code: codeNow(secret) }),
    ];
    expect(locked.map(codeOf)).toEqual(locked.map(() => [429, "login_locked"]));
    now += 15 * 60_000;
  });

  it("has a first step that is bound to browser, password and ten minutes", async () => {
    const { user, secret, recovery } = await enrolled();
    const cookieOf = async () => `service_first_step=${cookiesOf(await signIn(user))["service_first_step"]?.value}`;
    const second = (cookie: string | null, headers = { origin: service.url }) =>
      stranger(service).call("POST", SECOND, { code: codeNow(secret) }, { ...(cookie && { cookie }), ...headers });
    const cookie = await cookieOf();
    expect((await signIn(user)).text).not.toContain(cookie.slice(20));
    for (const bad of [null, "service_first_step=x", cookie.slice(0, -8), cookie.replace("first_step", "session")])
      expect(codeOf(await second(bad))).toEqual([400, "invalid_token"]);
    expect(codeOf(await second(cookie, { origin: "https://other.example.test" }))).toEqual([403, "cross_site_request"]);
    now += 600_000;
    expect(codeOf(await second(cookie))).toEqual([400, "invalid_token"]);
    const fresh = await cookieOf();
    await user.call("PATCH", "/api/v1/auth/me", { current_password: PASSWORD, new_password: "another good one" });
    expect(codeOf(await second(fresh))).toEqual([400, "invalid_token"]);
    const halfway = await signIn(user, { password: "another good one" });
    const last = `service_first_step=${cookiesOf(halfway)["service_first_step"]?.value}`;
    const done = await stranger(service).call(
      "POST",
      SECOND,
      { code: recovery[0] },
      { cookie: last, origin: service.url },
    );
    expect([done.status, done.body.user.id]).toEqual([200, user.id]);
    expect(cookiesOf(done)["service_first_step"]?.value).toBe("");
    expect(cookiesOf(done)["service_session"]?.value).toBe(done.body.access_token);
  });

  it("is taken away by a code, which ends the recovery codes too, and leaves API keys alone", async () => {
    const { user, secret, recovery } = await enrolled();
    const key = (await user.call("POST", "/api/v1/api-keys", { name: "k", scope: "read" })).body.key;
    expect((await caller(service, { "x-api-key": key }).call("GET", "/api/v1/auth/me")).status).toBe(200);
    const both = await Promise.all([1, 2].map(() => user.call("DELETE", TOTP, { code: codeNow(secret) })));
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).not.toEqual([204, 204]);
    expect(both.map(({ status }) => status)).toContain(204);
    expect((await user.call("DELETE", TOTP, { code: recovery[0] })).status).toBe(404);
    expect((await user.call("GET", TOTP)).body).toEqual({ active: false, confirmed_at: null, recovery_codes_left: 0 });
    expect((await signIn(user)).status).toBe(200);
    await service.settled();
    const told = service.mailbox.list(user.email).filter(({ subject }) => subject.includes("authenticator app"));
    expect(told.map(({ subject }) => subject)).toEqual([
      "The authenticator app was removed from your account",
      "An authenticator app was added to your account",
    ]);
  });

  it("outlives a reset of the password, but not one by which the owner of an address claims a stranger's account", async () => {
    const reset = async ({ user }: Enrolled) => {
      await stranger(service).call("POST", "/api/v1/auth/forgot-password", { email: user.email });
      await service.settled();
      const token = tokenOf(service.mailbox.list(user.email)[0]);
      const body = { token, new_password: PASSWORD };
      expect((await stranger(service).call("POST", "/api/v1/auth/reset-password", body)).status).toBe(200);
      return codeOf(await signIn(user));
    };
    const [known, claimed] = [await enrolled(), await enrolled()];
    await service.sql("update users set email_verified = true where id = $1", [known.user.id]);
    expect(await reset(known)).toEqual([401, "second_factor_required"]);
    expect((await reset(claimed))[0]).toBe(200);
  });

  it("is asked for by a page of its own, which has no password in it, and leads where the visitor wanted to go", async () => {
    const { user, secret } = await enrolled();
    const visitor = newVisitor(service);
    const form = await visitor.open("/sign-in?next=%2Fsettings");
    const asked = await visitor.send(form, "Sign in", { email: user.email, password: PASSWORD });
    expect([asked.url.pathname, asked.status, asked.html.includes(PASSWORD)]).toEqual(["/sign-in/code", 200, false]);
    const wrong = await visitor.send(asked, "Sign in", { code: codeNow(secret, 5) });
    expect([wrong.status, wrong.url.pathname]).toEqual([401, "/sign-in/code"]);
    const entered = await visitor.send(wrong, "Sign in", { code: codeNow(secret) });
    expect([entered.status, entered.url.pathname]).toEqual([200, "/settings"]);
  });

  it("is set up, asked for and turned off by its page, which shows each secret once and a wrong code at its field", async () => {
    const user = await newUser(service);
    const visitor = await visitorOf(service, user);
    const begun = await visitor.send(await visitor.open("/settings/second-factor"), "Set up an app");
    const address = new URL(begun.links.find(({ href }) => href.startsWith("otpauth:"))?.href ?? "");
    const secret = address.searchParams.get("secret") ?? "";
    expect([begun.html.replaceAll(" ", "").includes(secret), darkOf(begun.html)]).toEqual([true, darkIn(address.href)]);
    const wrong = await visitor.send(begun, "Turn it on", { code: codeNow(secret, 5) });
    expect([wrong.status, Object.keys(wrong.wrong)]).toEqual([401, ["code"]]);
    expect(darkOf(wrong.html)).toEqual(darkOf(begun.html));
    const on = await visitor.send(wrong, "Turn it on", { code: codeNow(secret) });
    const codes = /<textarea id="codes"[^>]*>([^<]+)</.exec(on.html)?.[1] ?? "";
    expect(codes.split("\n")).toHaveLength(10);
    const file = await fetch(on.links.find(({ text }) => text === "Download as a file")?.href ?? "");
    expect(await file.text()).toBe(`${codes}\n`);
    const again = await visitor.send(wrong, "Turn it on", { code: codeNow(secret) });
    expect(again.alerts).toEqual([expect.stringContaining("the first of two sendings")]);
    now += 2 * STEP;
    expect(codeOf(await signIn(user))).toEqual([401, "second_factor_required"]);
    const kept = await visitor.send(again, "Turn it off", { code: codeNow(secret, 5) });
    expect([kept.status, Object.keys(kept.wrong)]).toEqual([401, ["code"]]);
    const off = await visitor.send(kept, "Turn it off", { code: codes.split("\n")[0] ?? "" });
    expect([off.alerts.length, off.html.includes("Set up an app")]).toEqual([1, true]);
    expect((await signIn(user)).status).toBe(200);
  });

  it("is asked for after a sign-in by the code host, too", async () => {
    const visit = () => stranger(service).call("GET", "/api/v1/auth/codehost/callback?dev=true");
    const session = cookiesOf(await visit())["service_session"]?.value ?? "";
    const user = caller(service, { authorization: `Bearer ${session}` });
    const { secret } = (await user.call("POST", TOTP)).body;
    expect((await user.call("POST", `${TOTP}/confirm`, { code: codeNow(secret) })).status).toBe(200);
    now += 2 * STEP;
    const half = await visit();
    expect(half.headers.get("location")).toContain("?error=second_factor_required");
    expect(Object.keys(cookiesOf(half))).not.toContain("service_session");
    const cookie = `service_first_step=${cookiesOf(half)["service_first_step"]?.value}`;
    const second = (code: string) => stranger(service).call("POST", SECOND, { code }, { cookie, origin: service.url });
    expect(codeOf(await second(codeNow(secret, 5)))).toEqual([401, "invalid_second_factor"]);
    const whole = await second(codeNow(secret));
    expect([whole.status, whole.body.user.email]).toEqual([200, "developer@example.test"]);
    await service.settled();
    const events = await service.sql("select name, properties from analytics_events where user_id = $1 order by id", [
      whole.body.user.id,
    ]);
    // Neither the half sign-in nor the wrong code is one.
    expect(events).toEqual(
      ["signup_completed", "user_logged_in"].map((name) => ({ name, properties: { method: "codehost" } })),
    );
  });

  it("is no sign-in by the code host where the first step was a password", async () => {
    const { user, secret } = await enrolled();
    const cookie = `service_first_step=${cookiesOf(await signIn(user))["service_first_step"]?.value}`;
    const headers = { cookie, origin: service.url };
    expect((await stranger(service).call("POST", SECOND, { code: codeNow(secret) }, headers)).status).toBe(200);
    await service.settled();
    const events = await service.sql("select name from analytics_events where user_id = $1", [user.id]);
    expect(events).toEqual([{ name: "signup_completed" }]);
  });

  it("goes with its account", async () => {
    const { user } = await enrolled();
    const rows = () => service.sql("select from totp_factors where user_id = $1", [user.id]);
    expect((await user.call("POST", "/api/v1/users/me/deletion", { password: PASSWORD })).status).toBe(202);
    expect(await rows()).toHaveLength(1);
    now += 14 * 86_400_000 + 1000;
    await service.app.scheduled("17 3 * * *");
    expect(await rows()).toEqual([]);
  });

  it("is kept neither readable nor with its codes, and costs a sign-in without it no request to the database", async () => {
    const { user, secret, recovery } = await enrolled();
    const [row] = await service.sql("select * from totp_factors where user_id = $1", [user.id]);
    for (const text of [secret, ...recovery, ...recovery.map((code) => code.replaceAll("-", ""))])
      expect(JSON.stringify(row).toLowerCase()).not.toContain(text.toLowerCase());
    const plain = await newUser(service);
    for (const [account, more] of [
      [plain, {}],
      [user, { totp_code: codeNow(secret) }],
    ] as const) {
      await service.settled();
      service.counters.reset();
      expect((await signIn(account, more)).status).toBe(200);
      expect(service.counters.db.requests).toBe(2);
    }
  });
});
