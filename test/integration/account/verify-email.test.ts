import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sha256 } from "../../../shared/platform/crypto.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { linkOf, tokenOf } from "../../stack/mailbox.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { tally } from "../runs/support.ts";

const VERIFY = "/api/v1/auth/verify-email";
const RESEND = "/api/v1/auth/resend-verification";
const DAY = 86_400_000;
const START = Date.parse("2026-11-21T09:00:00.000Z");

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

/** A new account and the token in the mail that it got. */
async function registered(): Promise<{ user: User; token: string }> {
  const user = await newUser(service);
  return { user, token: await latestToken(user) };
}

async function latestToken(user: User): Promise<string> {
  await service.settled();
  return tokenOf(service.mailbox.list(user.email)[0]);
}

/** Verifies from an address of its own, so that the limit is not what the tests meet. */
function verify(body: unknown) {
  addresses += 1;
  return caller(service, { "cf-connecting-ip": `172.17.${addresses >> 8}.${addresses & 255}` }).call(
    "POST",
    VERIFY,
    body,
  );
}

const isVerified = async (user: User): Promise<boolean> =>
  (await user.call("GET", "/api/v1/auth/me")).body.email_verified;

/** Expects the one answer to every token that does not hold. */
async function expectRefused(body: unknown): Promise<void> {
  const { status, body: problem } = await verify(body);
  const { request_id: _id, ...rest } = problem;
  expect([status, rest]).toEqual([
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

describe("registering", () => {
  it("mails a link to the frontend's page, whose token is kept hashed alone", async () => {
    const { user, token } = await registered();
    const [mail, ...more] = service.mailbox.list(user.email);
    expect(more).toEqual([]);
    expect(mail?.subject).toBe("Confirm your email address");
    expect(linkOf(mail).href).toBe(`${service.url}/verify-email?token=${token}`);
    expect(token).toMatch(/^[\w-]{43}$/);
    const [kept] = await service.sql("select * from email_tokens where user_id = $1", [user.id]);
    expect(kept).toMatchObject({ token_hash: sha256(token), purpose: "verify_email", used_at: null });
    expect(JSON.stringify(kept)).not.toContain(token);
  });

  it("owes the mail sealed: nobody who reads the outbox can use it", async () => {
    service.faults.set({ service: "qstash", mode: "down" });
    const user = await newUser(service);
    await service.settled();
    const rows = await service.sql("select body from outbox where consumer = 'mail'");
    service.faults.set({ service: "qstash", mode: "none" });
    expect(rows).toHaveLength(1);
    await service.sql("update outbox set due_at = now()");
    await service.app.scheduled("* * * * *");
    const token = await latestToken(user);
    expect(JSON.stringify(rows)).not.toContain(token);
    expect((await verify({ token })).status).toBe(200);
  });

  it("mails nothing to an address that has an account", async () => {
    const { user } = await registered();
    const again = await caller(service, { "cf-connecting-ip": "172.18.0.1" }).call("POST", "/api/v1/auth/register", {
      email: user.email,
      password: "another fine password",
    });
    await service.settled();
    expect(again.status).toBe(409);
    expect(service.mailbox.list(user.email)).toHaveLength(1);
  });
});

describe("a verification token", () => {
  it("verifies the account that it was mailed to, and no other", async () => {
    const [one, other] = [await registered(), await registered()];
    expect(await isVerified(one.user)).toBe(false);
    const answer = await verify({ token: one.token });
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expect([await isVerified(one.user), await isVerified(other.user)]).toEqual([true, false]);
  });

  it("is taken for an account that is verified already", async () => {
    const { user, token } = await registered();
    await service.sql("update users set email_verified = true where id = $1", [user.id]);
    expect((await verify({ token })).status).toBe(200);
    expect(await isVerified(user)).toBe(true);
  });

  it("works once, and once only among fifty uses at once", async () => {
    const { token } = await registered();
    const answers = await Promise.all(Array.from({ length: 50 }, () => verify({ token })));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array<number>(49).fill(400)]);
    await expectRefused({ token });
  });

  it("works until 24 hours have passed, and not at that moment", async () => {
    const [early, late] = [await registered(), await registered()];
    clock = START + DAY - 1;
    expect((await verify({ token: early.token })).status).toBe(200);
    clock = START + DAY;
    await expectRefused({ token: late.token });
  });

  it("does not vouch for an address that the account took later", async () => {
    const { user, token } = await registered();
    await service.sql("update users set email = 'moved@example.test' where id = $1", [user.id]);
    await expectRefused({ token });
  });

  it("is of no use for another purpose", async () => {
    const { token } = await registered();
    const answer = await caller(service, { "cf-connecting-ip": "172.18.0.2" }).call(
      "POST",
      "/api/v1/auth/reset-password",
      { token, new_password: "another fine password" },
    );
    expect([answer.status, answer.body.code]).toEqual([400, "invalid_token"]);
  });

  it.each([
    ["unknown", { token: "x".repeat(43) }],
    ["empty", { token: "" }],
    ["left out", {}],
  ])("that is %s gets the answer of a used one", (_case, body) => expectRefused(body));
});

describe("asking for the verification mail again", () => {
  it("mails a new token, and the older one dies", async () => {
    const { user, token: older } = await registered();
    const answer = await user.call("POST", RESEND);
    expect(answer.status).toBe(202);
    const newer = await latestToken(user);
    expect(newer).not.toBe(older);
    await expectRefused({ token: older });
    expect((await verify({ token: newer })).status).toBe(200);
  });

  it("answers the same for a verified account, and mails nothing", async () => {
    const { user: fresh } = await registered();
    const { user: verified, token } = await registered();
    await verify({ token });
    const [sent, spared] = [await fresh.call("POST", RESEND), await verified.call("POST", RESEND)];
    await service.settled();
    expect([spared.status, spared.text]).toEqual([sent.status, sent.text]);
    expect(service.mailbox.list(fresh.email)).toHaveLength(2);
    expect(service.mailbox.list(verified.email)).toHaveLength(1);
  });

  it("mails an account five links a day, since whoever has the address may not have registered it", async () => {
    clock = Date.parse("2026-11-21T23:55:00.000Z");
    const [{ user }, { user: other }] = [await registered(), await registered()];
    const resend = (by: User) => {
      addresses += 1;
      const from = { "cf-connecting-ip": `172.17.${addresses >> 8}.${addresses & 255}` };
      return by.call("POST", RESEND, undefined, from);
    };
    const answers = await Promise.all(Array.from({ length: 12 }, () => resend(user)));
    expect(tally(answers)).toEqual({ 202: 5, 429: 7 });
    const refused = answers.find(({ status }) => status === 429);
    expect([refused?.body.code, refused?.headers.get("retry-after")]).toEqual(["rate_limited", "300"]);
    expect((await resend(other)).status).toBe(202);
    await service.settled();
    expect(service.mailbox.list(user.email).length).toBeLessThanOrEqual(6);
    clock += 300_000;
    expect((await resend(user)).status).toBe(202);
    expect((await verify({ token: await latestToken(user) })).status).toBe(200);
    for (let n = 0; n < 6; n += 1) expect((await resend(user)).status).toBe(202);
  });

  it("needs a session and counts against the authentication bucket", async () => {
    const anonymous = await caller(service, { "cf-connecting-ip": "172.18.0.3" }).call("POST", RESEND);
    expect(anonymous.status).toBe(401);
    expect(anonymous.headers.get("ratelimit-policy")).toBe('"minute";q=10;w=60');
  });
});
