import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, caller, newUser, PASSWORD, type User, stranger } from "../../stack/client.ts";
import { newAuthenticator, type Twist } from "../../stack/authenticator.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { codeAt, stepAt } from "../../../shared/identity/second-factor/totp.ts";

const PASSKEYS = "/api/v1/users/me/passkeys";
const SIGN_IN = "/api/v1/auth/passkeys";
const MINUTE = 60_000;

let service: TestService;
let now = Date.parse("2026-11-22T12:00:00.000Z");

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(now) } });
});

afterAll(() => service.stop());

const codeOf = ({ status, body }: Answer<{ code?: string }>) => [status, body?.code];

type Authenticator = ReturnType<typeof newAuthenticator>;

/** Answers the options of an account, with a twist or without. */
async function add(user: User, authenticator: Authenticator, name = "laptop", twist?: Twist) {
  const { body } = await user.call("POST", `${PASSKEYS}/options`);
  return user.call("POST", PASSKEYS, { name, credential: authenticator.create(body, twist) });
}

async function options() {
  return (await stranger(service).call("POST", `${SIGN_IN}/options`)).body;
}

async function signIn(authenticator: Authenticator, twist?: Twist) {
  return stranger(service).call("POST", SIGN_IN, { credential: authenticator.get(await options(), twist) });
}

/** An account with a passkey, and the authenticator that has it. */
async function enrolled(given: { counts?: boolean } = {}) {
  const user = await newUser(service);
  const authenticator = newAuthenticator(service.url, given);
  const added = await add(user, authenticator);
  expect(added.status, added.text).toBe(201);
  return { user, authenticator, id: String(added.body.id) };
}

/** Somebody who signed in by the code host, and has no password. */
async function withoutPassword(): Promise<User> {
  const user = await newUser(service, { verified: true });
  await service.sql("update users set password_hash = null where id = $1", [user.id]);
  return user;
}

const link = (user: User) =>
  service.sql("insert into identities (provider, provider_user_id, user_id) values ('github', $1, $2)", [
    user.id,
    user.id,
  ]);

async function subjects(email: string): Promise<string[]> {
  await service.settled();
  return service.mailbox.list(email).map(({ subject }) => subject);
}

describe("a passkey", () => {
  it("signs in to the account that it was made for, and the list says when it was used", async () => {
    const { user, authenticator, id } = await enrolled();
    const listed = async () => (await user.call("GET", PASSKEYS)).body;
    expect(await listed()).toEqual({
      items: [{ id, name: "laptop", created_at: expect.any(String), last_used_at: null }],
      total: 1,
      page: 1,
      page_size: 20,
    });
    const { status, body } = await signIn(authenticator);
    expect([status, body.user?.id]).toEqual([200, user.id]);
    expect((await caller(service, { authorization: `Bearer ${body.access_token}` }).call("GET", PASSKEYS)).status).toBe(
      200,
    );
    expect((await listed()).items[0].last_used_at).toBe(new Date(now).toISOString());
    expect((await subjects(user.email))[0]).toBe("A passkey was added to your account");
    expect((await signIn(authenticator)).status).toBe(200);
  });

  it("stands for both factors: no code of an app is asked for", async () => {
    const { user, authenticator } = await enrolled();
    const { secret } = (await user.call("POST", "/api/v1/users/me/totp")).body;
    const code = codeAt(secret, stepAt(new Date(now)));
    expect((await user.call("POST", "/api/v1/users/me/totp/confirm", { code })).status).toBe(200);
    expect(
      codeOf(await stranger(service).call("POST", "/api/v1/auth/login", { email: user.email, password: PASSWORD })),
    ).toEqual([401, "second_factor_required"]);
    expect((await signIn(authenticator)).status).toBe(200);
  });

  const BAD: [what: string, twist: Twist][] = [
    ["another site's page asked for", { origin: "https://attacker.example" }],
    ["another site's passkey gave", { rpId: "attacker.example" }],
    ["was given without knowing its owner", { verified: false }],
    ["is of the other kind", { type: "payment.get" }],
  ];

  it.each(BAD)("is not made or used by an answer that %s, and the challenge is spent by it", async (_, twist) => {
    const user = await newUser(service);
    const maker = newAuthenticator(service.url);
    expect(codeOf(await add(user, maker, "x", twist))).toEqual([422, "validation_failed"]);
    expect((await user.call("GET", PASSKEYS)).body).toEqual({ items: [], total: 0, page: 1, page_size: 20 });
    const { authenticator } = await enrolled();
    expect(codeOf(await signIn(authenticator, twist))).toEqual([401, "invalid_credentials"]);
    expect((await signIn(authenticator)).status).toBe(200);
  });

  it("is refused with a changed signature, for another account, under another's name, or where it is unknown", async () => {
    const [{ user, authenticator }, other] = [await enrolled(), await enrolled()];
    const handle = other.authenticator.get(await options()).response.userHandle;
    const twists: Twist[] = [
      { tampered: true },
      { userHandle: handle },
      { id: other.authenticator.get(await options()).id, userHandle: handle },
      { id: "dW5rbm93bg" },
    ];
    for (const twist of twists)
      expect([twist, ...codeOf(await signIn(authenticator, twist))]).toEqual([twist, 401, "invalid_credentials"]);
    const sessions = await service.sql("select from sessions where user_id = $1", [user.id]);
    expect(sessions).toHaveLength(1);
  });

  it("takes a challenge once, of any number of answers side by side, and for whom it was given", async () => {
    const { user, authenticator } = await enrolled();
    const given = await options();
    const answers = [1, 2, 3, 4].map(() => authenticator.get(given));
    const signedIn = await Promise.all(
      answers.map((credential) => stranger(service).call("POST", SIGN_IN, { credential })),
    );
    expect(signedIn.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400, 400, 400]);
    const again = await stranger(service).call("POST", SIGN_IN, { credential: answers[0] });
    expect(codeOf(again)).toEqual([400, "invalid_token"]);
    const made = await newUser(service);
    const { body } = await made.call("POST", `${PASSKEYS}/options`);
    const credentials = [1, 2, 3].map(() => newAuthenticator(service.url).create(body));
    const added = await Promise.all(
      credentials.map((credential) => made.call("POST", PASSKEYS, { name: "x", credential })),
    );
    expect(added.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 400, 400]);
    // Given to another account, for the other purpose, or by nobody.
    const ofOther = (await made.call("POST", `${PASSKEYS}/options`)).body.challenge;
    const forSignIn = (await options()).challenge;
    for (const challenge of [ofOther, forSignIn, "bm9ib2R5"])
      expect(codeOf(await add(user, newAuthenticator(service.url), "x", { challenge }))).toEqual([
        400,
        "invalid_token",
      ]);
    expect(codeOf(await signIn(authenticator, { challenge: ofOther }))).toEqual([400, "invalid_token"]);
  });

  it("is refused once its counter does not go on, which tells of a copy", async () => {
    const { authenticator } = await enrolled({ counts: true });
    expect((await signIn(authenticator)).status).toBe(200);
    for (const counter of [1, 0])
      expect(codeOf(await signIn(authenticator, { counter }))).toEqual([401, "invalid_credentials"]);
    // Two answers with one count, each to options of its own: the device and its copy.
    const both = [
      authenticator.get(await options(), { counter: 9 }),
      authenticator.get(await options(), { counter: 9 }),
    ];
    const answers = await Promise.all(
      both.map((credential) => stranger(service).call("POST", SIGN_IN, { credential })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
  });

  it("is one account's alone, and an account has at most ten, however many are added at once", async () => {
    const { authenticator } = await enrolled();
    const taken = authenticator.get(await options()).id;
    const other = await newUser(service);
    expect(codeOf(await add(other, newAuthenticator(service.url), "x", { id: taken }))).toEqual([409, "passkey_taken"]);
    const adds = await Promise.all(
      Array.from({ length: 12 }, (_, n) => add(other, newAuthenticator(service.url), `${n}`)),
    );
    expect(adds.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(adds.find(({ status }) => status === 402)?.body).toMatchObject({
      code: "quota_exceeded",
      limit: 10,
      used: 10,
    });
    expect((await user10(other)).excludeCredentials).toHaveLength(10);
  });

  const user10 = async (user: User) => (await user.call("POST", `${PASSKEYS}/options`)).body;

  it("is removed by its owner alone, told by mail, and then signs in no more", async () => {
    const { user, authenticator, id } = await enrolled();
    const other = await newUser(service);
    expect((await other.call("DELETE", `${PASSKEYS}/${id}`)).status).toBe(404);
    const removed = await Promise.all([1, 2].map(() => user.call("DELETE", `${PASSKEYS}/${id}`)));
    expect(removed.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 404]);
    expect((await subjects(user.email))[0]).toBe("A passkey was removed from your account");
    expect(codeOf(await signIn(authenticator))).toEqual([401, "invalid_credentials"]);
  });

  it("is never the last way in that is taken away, though all are taken at once", async () => {
    const user = await withoutPassword();
    const [first, second] = [newAuthenticator(service.url), newAuthenticator(service.url)];
    const ids = [(await add(user, first)).body.id, (await add(user, second)).body.id];
    await link(user);
    const taken = await Promise.all([
      ...ids.map((id) => user.call("DELETE", `${PASSKEYS}/${id}`)),
      user.call("DELETE", "/api/v1/users/me/codehost"),
    ]);
    expect(taken.map(codeOf).toSorted(([a], [b]) => Number(a) - Number(b))).toEqual([
      [204, undefined],
      [204, undefined],
      [409, "last_way_in"],
    ]);
  });

  it("can't be added where Redis does not answer, nor sign in", async () => {
    const { user, authenticator } = await enrolled();
    const given = await options();
    const creation = (await user.call("POST", `${PASSKEYS}/options`)).body;
    service.faults.set({ service: "redis", mode: "error" });
    try {
      const answers = [
        await stranger(service).call("POST", `${SIGN_IN}/options`),
        await stranger(service).call("POST", SIGN_IN, { credential: authenticator.get(given) }),
        await user.call("POST", PASSKEYS, { name: "x", credential: newAuthenticator(service.url).create(creation) }),
      ];
      expect(answers.map(codeOf)).toEqual(answers.map(() => [503, "dependency_unavailable"]));
    } finally {
      service.faults.set({ service: "redis", mode: "none" });
    }
  });

  it("ends where somebody else proves the address of its account", async () => {
    const { user, authenticator } = await enrolled();
    await stranger(service).call("POST", "/api/v1/auth/forgot-password", { email: user.email });
    await service.settled();
    const mail = service.mailbox.list(user.email).find(({ subject }) => subject.includes("password"));
    const token = /token=([^\s"&]+)/.exec(mail?.text ?? "")?.[1] ?? "";
    const reset = await stranger(service).call("POST", "/api/v1/auth/reset-password", {
      token,
      new_password: "a quite new password",
    });
    expect(reset.status, reset.text).toBe(200);
    expect(codeOf(await signIn(authenticator))).toEqual([401, "invalid_credentials"]);
    expect(await service.sql("select from passkeys where user_id = $1", [user.id])).toEqual([]);
  });

  it("is not asked of by keys, and an answer that makes no sense is told where it is wrong", async () => {
    const user = await newUser(service);
    now += MINUTE;
    const key = (await user.call("POST", "/api/v1/api-keys", { name: "k", scope: "write" })).body.key;
    expect(codeOf(await caller(service, { "x-api-key": key }).call("POST", `${PASSKEYS}/options`))).toEqual([
      403,
      "session_required",
    ]);
    const credential = newAuthenticator(service.url).create((await user10(user)) as never);
    for (const [more, pointer] of [
      [{ id: "not base64!" }, "/credential/id"],
      [{ type: "password" }, "/credential/type"],
      [{ response: {} }, "/credential/response/clientDataJSON"],
    ] as const) {
      const { status, body } = await user.call("POST", PASSKEYS, { name: "x", credential: { ...credential, ...more } });
      expect([status, body.errors.map((one: { pointer: string }) => one.pointer)]).toEqual([
        422,
        expect.arrayContaining([pointer]),
      ]);
    }
    const garbage = { ...credential, response: { ...credential.response, attestationObject: "AAAA" } };
    expect(codeOf(await user.call("POST", PASSKEYS, { name: "x", credential: garbage }))).toEqual([
      422,
      "validation_failed",
    ]);
  });
});
