import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Application, createApplication } from "../../../functions/app.ts";
import { newUser, PASSWORD, stranger, type User } from "../../stack/client.ts";
import { cookiesOf } from "../../stack/cookies.ts";
import { startService, type TestService } from "../../stack/service.ts";

const REGISTER = "/api/v1/auth/register";
const LOGIN = "/api/v1/auth/login";
const ME = "/api/v1/auth/me";

const COOKIES = {
  service_session: ["HttpOnly", "Max-Age=2592000", "Path=/", "SameSite=Lax"],
  service_refresh: ["HttpOnly", "Max-Age=2592000", "Path=/api/v1/auth/refresh", "SameSite=Lax"],
};

const USER_FIELDS = [
  "id email username email_verified plan arena_run_count monthly_run_count monthly_run_limit agent_count team_count",
  "charges_enabled payouts_enabled is_admin has_password deletion_scheduled_for created_at",
].flatMap((line) => line.split(" "));

let service: TestService;
let user: User;
let addresses = 0;

beforeAll(async () => {
  service = await startService({ settings: { ADMIN_EMAILS: "boss@example.test" } });
  user = await newUser(service, { email: "first@example.test" });
});

afterAll(() => service.stop());

/** Signs in to an application of its own beside the service, which has no server. */
async function signInTo(app: Application, base: string, email: string): Promise<Response> {
  addresses += 1;
  const headers = { "content-type": "application/json", "cf-connecting-ip": `172.16.0.${addresses}` };
  const body = JSON.stringify({ email, password: PASSWORD });
  const execution = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} };
  return app.fetch(new Request(base + LOGIN, { method: "POST", headers, body }), {}, execution);
}

describe("registration", () => {
  it("answers 201 with a bearer token of 900 seconds and the account, and sets both cookies", async () => {
    const answer = await stranger(service).call("POST", REGISTER, {
      email: "New.Person@Example.TEST",
      password: PASSWORD,
      username: "New-Person",
    });
    expect(answer.status).toBe(201);
    const { access_token: token, user: account, ...rest } = answer.body;
    expect(rest).toEqual({ token_type: "bearer", expires_in: 900 });
    expect(account).toMatchObject({ email: "new.person@example.test", username: "New-Person", email_verified: false });
    expect(Object.keys(account).toSorted()).toEqual(USER_FIELDS.toSorted());
    const cookies = cookiesOf(answer);
    expect(Object.keys(cookies).toSorted()).toEqual(Object.keys(COOKIES).toSorted());
    expect(cookies["service_session"]).toEqual({ value: token, attributes: COOKIES.service_session });
    expect(cookies["service_refresh"]?.attributes).toEqual(COOKIES.service_refresh);
    expect(cookies["service_refresh"]?.value).toMatch(/^[\w-]{43}$/);
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  // Behind a proxy that ends TLS the service may believe itself to be http.
  it.each([
    ["https://service.example", true],
    ["http://service.example", true],
    ["http://192.0.2.7:8787", true],
    ["http://127.0.0.1.example", true],
    ["https://127.0.0.1:8787", true],
    ["http://127.0.0.1:8787", false],
    ["http://localhost:8787", false],
    ["http://[::1]:8787", false],
  ])("makes both cookies Secure everywhere but as http on loopback: %s", async (base, secure) => {
    const app = createApplication({ ...service.settings, BASE_URL: base }, { log: () => undefined });
    const response = await signInTo(app, base, user.email);
    expect(response.status).toBe(200);
    const cookies = cookiesOf(response);
    for (const [name, attributes] of Object.entries(COOKIES)) {
      expect(cookies[name]?.attributes).toEqual([...attributes, ...(secure ? ["Secure"] : [])].toSorted());
    }
    const told = response.headers.get("strict-transport-security");
    expect(told).toBe(base.startsWith("https:") ? "max-age=31536000" : null);
  });

  it.each([
    ["the same email", "first@example.test"],
    ["another case", "FIRST@Example.Test"],
    ["full-width letters", "ｆｉｒｓｔ@example.test"],
    ["a ligature", "ﬁrst@example.test"],
    ["surrounding space", " first@example.test "],
  ])("refuses an email that is taken with 409: %s", async (_, email) => {
    const answer = await stranger(service).call("POST", REGISTER, { email, password: PASSWORD });
    expect([answer.status, answer.body.code]).toEqual([409, "email_taken"]);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  it("makes one account of several registrations of one email at once", async () => {
    const answers = await Promise.all(
      ["once@example.test", "Once@example.test", "ONCE@EXAMPLE.TEST", "once@Example.test"].map((email) =>
        stranger(service).call("POST", REGISTER, { email, password: PASSWORD }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === "email_taken")).toHaveLength(3);
    expect(await service.sql("select from users where email = 'once@example.test'")).toHaveLength(1);
  });

  it("refuses a username that is taken, in any case", async () => {
    const username = "Some-Name";
    const [first, second] = [
      await stranger(service).call("POST", REGISTER, { email: "name1@example.test", password: PASSWORD, username }),
      await stranger(service).call("POST", REGISTER, {
        email: "name2@example.test",
        password: PASSWORD,
        username: "some-NAME",
      }),
    ];
    expect([first.status, second.status, second.body.code]).toEqual([201, 409, "username_taken"]);
    expect(await service.sql("select from users where email = 'name2@example.test'")).toEqual([]);
  });

  it.each([
    ["9 characters", "aB3$eF6&h"],
    ["9 characters of two UTF-16 units", "🦊🐻🐼🐨🐯🦁🐮🐷🐸"],
    ["129 characters", "aB3$".repeat(32) + "x"],
    ["1,001 characters", "aB3$".repeat(250) + "x"],
    ["half a million characters", "aB3$".repeat(125_000)],
    ["a common one", "1234567890"],
    ["a common one in another case", "QwErTyUiOp"],
    ["a common one in full-width digits", "１２３４５６７８９０"],
    ["the email's name inside", "my-Somebody-Else-99"],
  ])("refuses a weak password with 422 weak_password: %s", async (_, password) => {
    const answer = await stranger(service).call("POST", REGISTER, { email: "somebody-else@example.test", password });
    expect([answer.status, answer.body.code]).toEqual([422, "weak_password"]);
    expect(answer.body.errors).toMatchObject([{ in: "body", pointer: "/password", code: "weak_password" }]);
  });

  it.each([10, 128])("takes a password of %i characters", async (length) => {
    const password = "Zx9~🦊kQ7".repeat(20);
    const answer = await stranger(service).call("POST", REGISTER, {
      email: `length${length}@example.test`,
      password: Array.from(password).slice(0, length).join(""),
    });
    expect(answer.status).toBe(201);
  });

  it.each(["", "no-at-sign", "@example.test", "two@@example.test", "a b@example.test", `${"x".repeat(250)}@a.test`])(
    "refuses what is no email address with a finding at /email: %j",
    async (email) => {
      const answer = await stranger(service).call("POST", REGISTER, { email, password: PASSWORD });
      expect(answer.status).toBe(422);
      expect(answer.body.errors).toMatchObject([{ in: "body", pointer: "/email" }]);
    },
  );
});

describe("sign-in", () => {
  it("takes the email in any case and form, and sets both cookies", async () => {
    const answer = await stranger(service).call("POST", LOGIN, {
      email: "ＦＩＲＳＴ@Example.test",
      password: PASSWORD,
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ token_type: "bearer", expires_in: 900, user: { id: user.id } });
    expect(cookiesOf(answer)["service_session"]).toEqual({
      value: answer.body.access_token,
      attributes: COOKIES.service_session,
    });
  });

  it("answers the same bytes and headers whether the email is unknown or the password wrong", async () => {
    const attempt = (email: string) =>
      stranger(service).call("POST", LOGIN, { email, password: "not the password" }, { "x-request-id": "same" });
    const [wrong, unknown, noEmail] = [
      await attempt(user.email),
      await attempt("nobody@example.test"),
      await attempt("not an email"),
    ];
    expect([wrong.status, wrong.body.code]).toEqual([401, "invalid_credentials"]);
    const shape = ({ status, text, headers }: typeof wrong) => ({ status, text, headers: [...headers.keys()] });
    expect(shape(unknown)).toEqual(shape(wrong));
    expect(shape(noEmail)).toEqual(shape(wrong));
    expect(wrong.headers.getSetCookie()).toEqual([]);
  });

  it("looks at no credentials that come along", async () => {
    const headers = { authorization: "Bearer nonsense", "x-api-key": "ask_nonsense", cookie: "service_session=stale" };
    const answer = await stranger(service).call("POST", LOGIN, { email: user.email, password: PASSWORD }, headers);
    expect(answer.status).toBe(200);
  });

  it("hashes the password anew when it was kept under weaker parameters, for sign-ins side by side too", async () => {
    const email = "outdated@example.test";
    await newUser(service, { email });
    const hash = async () => (await service.sql("select password_hash from users where email = $1", [email]))[0];
    expect(await hash()).toEqual({ password_hash: expect.stringMatching(/^\$scrypt\$ln=4,r=8,p=1\$/) });
    // As the service runs in earnest, with the parameters of the policy.
    const app = createApplication(service.settings, { log: () => undefined });
    const login = async () => (await signInTo(app, service.url, email)).status;
    expect(await Promise.all([login(), login(), login()])).toEqual([200, 200, 200]);
    expect(await hash()).toEqual({ password_hash: expect.stringMatching(/^\$scrypt\$ln=14,r=8,p=5\$/) });
    expect(await login()).toBe(200);
  });
});

describe("the current user", () => {
  it("has exactly the fields of UserRead, with counts of what the caller has now", async () => {
    const owner = await newUser(service);
    await owner.call("POST", "/api/v1/agents", { name: "stays" });
    const gone = await owner.call("POST", "/api/v1/agents", { name: "goes" });
    await owner.call("DELETE", `/api/v1/agents/${gone.body.id}`);
    await service.sql(
      `with t as (insert into teams (name, owner_id) values ('w', $1) returning id)
       insert into team_members (team_id, user_id, role) select id, $2, 'editor' from t`,
      [(await newUser(service, { plan: "team" })).id, owner.id],
    );
    const [{ team_id }] = (await service.sql("select team_id from team_members where user_id = $1", [owner.id])) as [
      { team_id: string },
    ];
    // What belongs to a workspace counts there, and for nobody who made it.
    expect((await owner.call("POST", "/api/v1/agents", { name: "shared", team_id })).status).toBe(201);
    const { status, body } = await owner.call("GET", ME);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: owner.id,
      email: owner.email,
      username: null,
      email_verified: false,
      plan: "free",
      arena_run_count: 0,
      monthly_run_count: 0,
      monthly_run_limit: 50,
      agent_count: 1,
      team_count: 1,
      charges_enabled: false,
      payouts_enabled: false,
      is_admin: false,
      has_password: true,
      deletion_scheduled_for: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
  });

  it("is an operator only with a verified email on the allowlist", async () => {
    const boss = await newUser(service, { email: "boss@example.test" });
    expect((await boss.call("GET", ME)).body.is_admin).toBe(false);
    await service.sql("update users set email_verified = true where id = any($1)", [[boss.id, user.id]]);
    expect((await boss.call("GET", ME)).body.is_admin).toBe(true);
    expect((await user.call("GET", ME)).body.is_admin).toBe(false);
  });

  it("is read without a side effect", async () => {
    const state = () =>
      Promise.all(
        ["users", "sessions", "refresh_tokens"].map((table) => service.sql(`select * from ${table} order by 1`)),
      );
    const before = await state();
    const answers = [await user.call("GET", ME), await user.call("GET", ME)];
    expect(answers[0]?.headers.getSetCookie()).toEqual([]);
    expect(answers[0]?.body).toEqual(answers[1]?.body);
    expect(await state()).toEqual(before);
  });

  it("is 401 for nobody, and for an account that is gone", async () => {
    const nobody = await stranger(service).call("GET", ME);
    expect([nobody.status, nobody.body.code, nobody.headers.get("www-authenticate")]).toEqual([
      401,
      "unauthenticated",
      "Bearer",
    ]);
    const gone = await newUser(service);
    await service.sql("delete from users where id = $1", [gone.id]);
    expect((await gone.call("GET", ME)).status).toBe(401);
  });
});
