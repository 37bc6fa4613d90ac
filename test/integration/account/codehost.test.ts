import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { codeHostMode } from "../../../shared/identity/code-host/code-host.ts";
import { parseEnv } from "../../../shared/platform/env.ts";
import { caller, newUser, PASSWORD } from "../../stack/client.ts";
import { cookiesOf } from "../../stack/cookies.ts";
import { type GitHub, type GitHubPart, type GitHubUser, startGitHub } from "../../stack/github.ts";
import { tokenOf } from "../../stack/mailbox.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { heldUp, holdUp, SOMEBODY_WAITS } from "./holding-up.ts";

const BEGIN = "/api/v1/auth/codehost";
const CALLBACK = "/api/v1/auth/codehost/callback";
const FRONTEND = "https://app.example.test/base";
const APP = { clientId: "client", clientSecret: "secret" };

let github: GitHub;
let service: TestService;
let people = 0;

beforeAll(async () => {
  github = await startGitHub(APP);
  service = await startService({
    settings: {
      FRONTEND_URL: FRONTEND,
      GITHUB_BASE: github.url,
      GITHUB_CLIENT_ID: APP.clientId,
      GITHUB_CLIENT_SECRET: APP.clientSecret,
    },
  });
});

beforeEach(() => github.breakPart(null));

afterAll(async () => {
  await service.stop();
  await github.close();
});

/** Somebody at the code host, with one verified primary address unless told otherwise. */
function person(emails?: GitHubUser["emails"]): GitHubUser {
  people += 1;
  return { id: people, emails: emails ?? [{ email: `Hub${people}@Example.test`, primary: true, verified: true }] };
}

/** One visit of a path by a browser that has this cookie, without following where it leads. */
function visit(target: TestService, path: string, secret?: string) {
  const browser = caller(target, { "cf-connecting-ip": `172.21.0.${people % 250}` });
  return browser.call("GET", path, undefined, secret === undefined ? {} : { cookie: `service_codehost=${secret}` });
}

/** What the browser holds after the first step, and where the code host sends it back to. */
async function begun(): Promise<{ secret: string; back: string }> {
  const start = await visit(service, BEGIN);
  expect(start.status).toBe(302);
  const authorized = await fetch(start.headers.get("location") ?? "", { redirect: "manual" });
  const back = new URL(authorized.headers.get("location") ?? "");
  return { secret: cookiesOf(start)["service_codehost"]?.value ?? "", back: back.pathname + back.search };
}

/** The whole way of a browser whose user is `user` at the code host. */
async function signIn(user: GitHubUser | null) {
  github.signIn(user);
  const { secret, back } = await begun();
  return visit(service, back, secret);
}

/** The account that an answer of the callback signed in. */
async function accountOf(answer: Awaited<ReturnType<typeof visit>>, target: TestService = service) {
  expect([answer.status, answer.headers.get("location")]).toEqual([
    302,
    `${target.settings["FRONTEND_URL"]}/auth/callback`,
  ]);
  const { service_session: session } = cookiesOf(answer);
  const me = await caller(target).call("GET", "/api/v1/auth/me", undefined, {
    cookie: `service_session=${session?.value}`,
  });
  expect(me.status).toBe(200);
  return me.body;
}

/** Expects that nobody was signed in, and that the frontend is told why. */
function expectFailure(answer: Awaited<ReturnType<typeof visit>>, code: string): void {
  expect([answer.status, answer.headers.get("location")]).toEqual([302, `${FRONTEND}/auth/callback?error=${code}`]);
  expect(Object.keys(cookiesOf(answer))).not.toContain("service_session");
}

async function eventsOf(userId: string) {
  await service.settled();
  const events = await service.sql<{ name: string; properties: object }>(
    "select name, properties from analytics_events where user_id = $1 order by occurred_at",
    [userId],
  );
  return events.map(({ name, properties }) => [name, properties]);
}

describe("beginning at the code host", () => {
  it("asks for the address alone, with PKCE and a state, and binds them to the browser", async () => {
    const start = await visit(service, BEGIN);
    const url = new URL(start.headers.get("location") ?? "");
    expect(url.origin + url.pathname).toBe(`${github.url}/login/oauth/authorize`);
    const { state, code_challenge, ...rest } = Object.fromEntries(url.searchParams);
    expect(rest).toEqual({
      response_type: "code",
      client_id: APP.clientId,
      redirect_uri: `${service.url}${CALLBACK}`,
      scope: "user:email",
      code_challenge_method: "S256",
    });
    const cookie = cookiesOf(start)["service_codehost"];
    expect(cookie?.attributes).toEqual(["HttpOnly", "Max-Age=600", `Path=${BEGIN}`, "SameSite=Lax"]);
    expect(new Set([state, code_challenge, cookie?.value]).size).toBe(3);
    expect(start.headers.get("cache-control")).toBe("no-store");
  });

  it("takes a new secret each time", async () => {
    const [one, two] = [await visit(service, BEGIN), await visit(service, BEGIN)];
    expect(one.headers.get("location")).not.toBe(two.headers.get("location"));
  });
});

describe("coming back from the code host", () => {
  it("makes an account without a password and signs it in, without a token in the URL", async () => {
    const user = person();
    const answer = await signIn(user);
    const account = await accountOf(answer);
    expect(account).toMatchObject({ email: `hub${user.id}@example.test`, email_verified: true, has_password: false });
    expect(await eventsOf(account.id)).toEqual([["signup_completed", { method: "codehost" }]]);
    expect(cookiesOf(answer)["service_codehost"]).toMatchObject({ value: "" });
    expect(cookiesOf(answer)["service_refresh"]?.value).toMatch(/^[\w-]{43}$/);
  });

  it("minds no other address that somebody has there, nor a primary one of an account that is linked", async () => {
    const other = { email: "ada@münchen.example", primary: false, verified: true };
    const user = person([{ email: "ada@example.test", primary: true, verified: true }, other]);
    const { id } = await accountOf(await signIn(user));
    expect((await accountOf(await signIn({ ...user, emails: [{ ...other, primary: true }] }))).id).toBe(id);
  });

  it("finds the account again by the provider's user id, whatever became of the address", async () => {
    const user = person();
    const first = await accountOf(await signIn(user));
    const moved = await accountOf(
      await signIn({ ...user, emails: [{ email: "moved@example.test", primary: true, verified: true }] }),
    );
    const hidden = await accountOf(await signIn({ ...user, emails: [] }));
    expect([moved.id, hidden.id, moved.email]).toEqual([first.id, first.id, first.email]);
    expect((await eventsOf(first.id)).map(([name]) => name)).toEqual([
      "signup_completed",
      "user_logged_in",
      "user_logged_in",
    ]);
  });

  it("links an account whose verified address it is, and leaves its password and sessions alone", async () => {
    const user = person();
    const owner = await newUser(service, { email: `hub${user.id}@example.test`, verified: true });
    const account = await accountOf(await signIn(user));
    expect(account).toMatchObject({ id: owner.id, has_password: true, email_verified: true });
    expect((await owner.call("GET", "/api/v1/auth/me")).status).toBe(200);
  });

  it("takes an account from whoever made it for an address that was never verified", async () => {
    const user = person();
    const email = `hub${user.id}@example.test`;
    const squatter = await newUser(service, { email });
    const key = await squatter.call("POST", "/api/v1/api-keys", { name: "kept", scope: "read" });
    expect(key.status).toBe(201);
    const byKey = () => caller(service).call("GET", "/api/v1/auth/me", undefined, { "x-api-key": key.body.key });
    expect((await byKey()).status).toBe(200);
    const hook = { url: "http://127.0.0.1:9/hook", event_types: ["run.completed"] };
    expect((await squatter.call("POST", "/api/v1/webhooks", hook)).status).toBe(201);
    const change = { email: `evil${user.id}@example.test`, password: PASSWORD };
    expect((await squatter.call("POST", "/api/v1/users/me/email", change)).status).toBe(202);
    expect((await squatter.call("POST", "/api/v1/users/me/deletion", { password: PASSWORD })).status).toBe(202);
    await service.settled();
    const [mail] = service.mailbox.list(change.email);
    const account = await accountOf(await signIn(user));
    expect(account).toMatchObject({ id: squatter.id, has_password: false, email_verified: true });
    expect(account.deletion_scheduled_for).toBeNull();
    const token = tokenOf(mail);
    const confirmed = await caller(service).call("POST", "/api/v1/auth/confirm-email", { token });
    expect([confirmed.status, confirmed.body.code]).toEqual([400, "invalid_token"]);
    expect(await service.sql("select from webhooks where user_id = $1", [squatter.id])).toEqual([]);
    expect((await squatter.call("GET", "/api/v1/auth/me")).status).toBe(401);
    expect((await byKey()).status).toBe(401);
    const login = await caller(service).call("POST", "/api/v1/auth/login", { email, password: PASSWORD });
    expect(login.status).toBe(401);
  });

  it("makes one account of twenty first sign-ins at once", async () => {
    github.signIn(person());
    const browsers = await Promise.all(Array.from({ length: 20 }, begun));
    const answers = await Promise.all(browsers.map(({ back, secret }) => visit(service, back, secret)));
    const accounts = await Promise.all(answers.map((answer) => accountOf(answer)));
    expect(new Set(accounts.map(({ id }) => id)).size).toBe(1);
  });

  it("finds the account that came to be while its own was being made", async () => {
    await service.sql(`create function overtake() returns trigger language plpgsql as $$ begin
      if pg_trigger_depth() = 1 then insert into users (email, email_verified) values (new.email, true); end if;
      return new; end $$`);
    await service.sql("create trigger overtake before insert on users for each row execute function overtake()");
    const user = person();
    const account = await accountOf(await signIn(user));
    await service.sql("drop function overtake cascade");
    expect(account.email).toBe(`hub${user.id}@example.test`);
    expect((await eventsOf(account.id)).map(([name]) => name)).toEqual(["user_logged_in"]);
  });

  it("comes into no account that is being deleted at this moment, and links nothing to it", async () => {
    const user = person();
    const { id } = await accountOf(await signIn(user));
    await service.sql("update users set deletion_scheduled_for = now() - interval '1 hour' where id = $1", [id]);
    await service.sql("delete from sign_in_marks where user_id = $1", [id]);
    // The deletion goes on once the sign-in waits for it.
    const when = "new.email like 'Deleted-%'";
    const letGo = await holdUp(service, { on: "update on users", when, until: SOMEBODY_WAITS });
    const deletion = service.app.scheduled("17 3 * * *");
    await heldUp(service);
    const moved = [{ email: `again${user.id}@example.test`, primary: true, verified: true }];
    const account = await accountOf(await signIn({ ...user, emails: moved }));
    await deletion;
    await letGo();
    expect(account.email).toBe(moved[0]?.email);
    expect(await service.sql("select from identities where user_id = $1", [id])).toEqual([]);
  });

  it("finds a primary address that comes after many others", async () => {
    const others = Array.from({ length: 40 }, (_, n) => ({
      email: `other${n}@example.test`,
      primary: false,
      verified: true,
    }));
    const last = { email: "fortieth@example.test", primary: true, verified: true };
    expect((await accountOf(await signIn(person([...others, last])))).email).toBe(last.email);
  });

  it.each<[string, GitHubUser["emails"]]>([
    ["no address", []],
    ["a primary address that is not verified", [{ email: "victim@example.test", primary: true, verified: false }]],
    ["one that is another's once it is stored", [{ email: "ａda@example.test", primary: true, verified: true }]],
    ["a verified address that is not primary", [{ email: "victim@example.test", primary: false, verified: true }]],
  ])("makes no account for %s", async (_case, emails) => {
    expectFailure(await signIn(person(emails)), "email_not_verified");
  });

  it("tells that the user refused", async () => expectFailure(await signIn(null), "access_denied"));

  it("tells an error that is not the user's as the code host's", async () => {
    const { back, secret } = await begun();
    const state = new URLSearchParams(back.split("?")[1]).get("state");
    const answer = await visit(service, `${CALLBACK}?error=application_suspended&state=${state}`, secret);
    expectFailure(answer, "code_host_unavailable");
  });

  it("takes an answer from the browser that began alone, and once", async () => {
    github.signIn(person());
    const [mine, theirs] = [await begun(), await begun()];
    expectFailure(await visit(service, theirs.back, mine.secret), "invalid_state");
    expectFailure(await visit(service, mine.back), "invalid_state");
    expectFailure(await visit(service, mine.back.replace(/state=[^&]*/, "state="), mine.secret), "invalid_state");
    expectFailure(await visit(service, `${CALLBACK}?error=access_denied`, mine.secret), "invalid_state");
    expectFailure(await visit(service, CALLBACK), "invalid_state");
    expectFailure(await visit(service, `${CALLBACK}?dev=true`), "invalid_state");
    await accountOf(await visit(service, mine.back, mine.secret));
    expectFailure(await visit(service, mine.back, mine.secret), "code_host_unavailable");
  });

  it.each<[GitHubPart]>([["token"], ["user"], ["emails"]])(
    "tells that the code host does not work when its %s does not, and logs no secret",
    async (part) => {
      github.breakPart(part);
      const seen = service.logs.length;
      expectFailure(await signIn(person()), "code_host_unavailable");
      const lines = service.logs.slice(seen).join("\n");
      expect(lines).toContain("code host sign-in failed");
      expect(lines).not.toMatch(/gho_|code_verifier|secret/);
    },
  );

  it("tells that our own part does not answer", async () => {
    github.signIn(person());
    const { back, secret } = await begun();
    service.faults.set({ service: "db", mode: "error" });
    const answer = await visit(service, back, secret);
    service.faults.set({ service: "db", mode: "none" });
    expectFailure(answer, "dependency_unavailable");
  });
});

describe("without the code host's settings", () => {
  it("signs a fixed user in by the dev callback", async () => {
    const dev = await startService();
    const start = await visit(dev, BEGIN);
    expect([start.status, start.headers.get("location")]).toEqual([302, `${dev.url}${CALLBACK}?dev=true`]);
    const [first, second] = [await visit(dev, `${CALLBACK}?dev=true`), await visit(dev, `${CALLBACK}?dev=true`)];
    const [one, two] = [await accountOf(first, dev), await accountOf(second, dev)];
    expect([one.id, one.email, one.email_verified]).toEqual([two.id, "developer@example.test", true]);
    const bare = await visit(dev, CALLBACK);
    expect(bare.headers.get("location")).toBe(`${dev.url}/auth/callback?error=invalid_state`);
    await dev.stop();
  });

  it("is switched off where only half of them are there: 503, and nobody gets in by the dev callback", async () => {
    const half = await startService({ settings: { GITHUB_CLIENT_ID: APP.clientId } });
    const start = await visit(half, BEGIN);
    expect([start.status, start.body.code]).toEqual([503, "code_host_not_configured"]);
    const back = await visit(half, `${CALLBACK}?dev=true`);
    expect(back.headers.get("location")).toBe(`${half.url}/auth/callback?error=code_host_not_configured`);
    expect(cookiesOf(back)).toEqual({});
    await half.stop();
  });

  it.each<[string, Record<string, string>, string]>([
    ["production", {}, "off"],
    ["production", { GITHUB_CLIENT_ID: "a" }, "off"],
    ["production", { GITHUB_CLIENT_ID: "a", GITHUB_CLIENT_SECRET: "b" }, "github"],
    ["development", {}, "dev"],
    ["test", { GITHUB_CLIENT_SECRET: "b" }, "dev"],
    ["development", { GITHUB_CLIENT_ID: "a", GITHUB_CLIENT_SECRET: "b" }, "github"],
  ])("in %s with %j is %s", (environment, given, mode) => {
    const { NEON_LOCAL_PROXY: _proxy, RESEND_API_BASE: _mail, GITHUB_BASE: _hub, ...settings } = service.settings;
    const { GITHUB_CLIENT_ID: _id, GITHUB_CLIENT_SECRET: _secret, ...bare } = settings;
    const addresses = { BASE_URL: "https://api.example.test", DNS_RESOLVER_URL: "https://dns.example.test/dns-query" };
    const env = parseEnv({ ...bare, ...addresses, ENVIRONMENT: environment, ...given });
    expect(codeHostMode({ env })).toBe(mode);
  });
});
