import { createPrivateKey, sign } from "node:crypto";
import { calculateJwkThumbprint, decodeJwt, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApplication } from "../../../functions/app.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { newSecrets, type Settings } from "../../stack/settings.ts";
import { startService, type TestService } from "../../stack/service.ts";

const ME = "/api/v1/auth/me";
const NOW = Date.parse("2026-11-21T09:00:00.000Z");
const SECONDS = NOW / 1000;

let service: TestService;
let user: User;
let ownJwk: JWK;
let kid: string;
let clock = NOW;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(clock) } });
  user = await newUser(service);
  ownJwk = keysOf(service.settings)[0] as JWK;
  kid = JSON.parse(Buffer.from(user.token.split(".", 1)[0] ?? "", "base64url").toString()).kid;
});

afterAll(() => service.stop());

function keysOf(settings: Settings): JWK[] {
  return (JSON.parse(settings["SIGNING_KEYS"] ?? "") as { keys: JWK[] }).keys;
}

const read = (token: string) => caller(service).call("GET", ME, undefined, { authorization: `Bearer ${token}` });

interface Forgery {
  header?: Record<string, unknown>;
  claims?: Record<string, unknown>;
  key?: Parameters<SignJWT["sign"]>[0];
}

/** The user's own token, signed anew with some of it changed; `undefined` leaves a member out. */
async function forge({ header, claims, key }: Forgery): Promise<string> {
  const signer = new SignJWT(JSON.parse(JSON.stringify({ ...decodeJwt(user.token), ...claims })));
  const protectedHeader = { alg: "EdDSA", typ: "at+jwt", kid, ...header };
  return signer
    .setProtectedHeader(JSON.parse(JSON.stringify(protectedHeader)))
    .sign(key ?? (await importJWK(ownJwk, "EdDSA")));
}

describe("an access token", () => {
  it("is an Ed25519 JWT of 15 minutes that names issuer, audience, account and session", async () => {
    const header = JSON.parse(Buffer.from(user.token.split(".", 1)[0] ?? "", "base64url").toString());
    expect(header).toEqual({ alg: "EdDSA", typ: "at+jwt", kid });
    const [session] = await service.sql<{ id: string }>("select id from sessions where user_id = $1", [user.id]);
    expect(decodeJwt(user.token)).toEqual({
      iss: service.url,
      aud: service.url,
      sub: user.id,
      sid: session?.id,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      iat: SECONDS,
      exp: SECONDS + 900,
    });
  });

  it("is taken when it is signed by the service's key, as the forgeries below are but for one thing", async () => {
    expect((await read(await forge({}))).status).toBe(200);
  });

  it("is good for 15 minutes, to the second, whether or not it was seen before", async () => {
    for (const [at, status] of [
      [NOW, 200],
      [NOW + 900_000 - 1, 200],
      [NOW + 900_000, 401],
      [NOW, 200],
    ] as const) {
      clock = at;
      expect((await read(user.token)).status, String(at)).toBe(status);
      expect((await read(await forge({}))).status, String(at)).toBe(status);
    }
  });

  it("is good at once, also where the clock is behind that of the isolate that made it", async () => {
    clock = NOW - 3000;
    const seen = [await read(user.token), await read(await forge({})), await read(user.token)];
    clock = NOW;
    expect(seen.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it.each<[string, Forgery]>([
    ["a foreign kid", { header: { kid: "A".repeat(43) } }],
    ["no kid", { header: { kid: undefined } }],
    ["the type of another token", { header: { typ: "JWT" } }],
    ["the type of evidence", { header: { typ: "vc+jwt" } }],
    ["no type", { header: { typ: undefined } }],
    ["a foreign issuer", { claims: { iss: "https://evil.example" } }],
    ["no issuer", { claims: { iss: undefined } }],
    ["a foreign audience", { claims: { aud: "https://evil.example" } }],
    ["no audience", { claims: { aud: undefined } }],
    ["an end in the past", { claims: { exp: SECONDS - 1 } }],
    ["no end", { claims: { exp: undefined } }],
    ["a beginning in the future", { claims: { nbf: SECONDS + 60 } }],
    ["no session", { claims: { sid: undefined } }],
    ["no account", { claims: { sub: undefined } }],
    ["no id", { claims: { jti: undefined } }],
    ["an unknown critical extension", { header: { crit: ["x"], x: 1 } }],
  ])("is refused with %s", async (_, forgery) => {
    const token = await forge(forgery).catch(() => null);
    const answer = await read(token ?? (await unsafely(forgery)));
    expect([answer.status, answer.body["code"]]).toEqual([401, "unauthenticated"]);
    expect(answer.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
  });

  it("is refused when another key signed it under the service's kid", async () => {
    const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519" });
    expect((await read(await forge({ key: privateKey }))).status).toBe(401);
  });

  it("is refused with alg none, with and without a signature", async () => {
    const [, payload = "", signature = ""] = user.token.split(".");
    const header = encode({ alg: "none", typ: "at+jwt", kid });
    for (const last of ["", signature]) expect((await read(`${header}.${payload}.${last}`)).status).toBe(401);
  });

  it.each(["raw", "base64url", "jwk"])("is refused as HS256 over the public key: %s", async (form) => {
    const { kty, crv, x = "" } = ownJwk;
    const secrets = {
      raw: Buffer.from(x, "base64url"),
      base64url: Buffer.from(x),
      jwk: Buffer.from(JSON.stringify({ kty, crv, x })),
    };
    const key = secrets[form as keyof typeof secrets];
    expect((await read(await forge({ header: { alg: "HS256" }, key }))).status).toBe(401);
  });

  it("is refused with its own key in the header", async () => {
    const { privateKey, publicKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
    const header = { jwk: await exportJWK(publicKey), kid: undefined };
    expect((await read(await forge({ header, key: privateKey }))).status).toBe(401);
  });

  it.each(["", "x", "a.b.c", "....", "Bearer", `${"e".repeat(7000)}.e.e`])(
    "is refused when it is none: %j",
    async (token) => {
      expect((await read(token)).status).toBe(401);
    },
  );

  it("is refused after one character of its payload or signature changed", async () => {
    const [header = "", payload = "", signature = ""] = user.token.split(".");
    const flip = (text: string) => `${text.startsWith("A") ? "B" : "A"}${text.slice(1)}`;
    for (const token of [`${header}.${flip(payload)}.${signature}`, `${header}.${payload}.${flip(signature)}`]) {
      expect((await read(token)).status).toBe(401);
    }
  });

  it("makes the caller anonymous as a stale cookie, and 401 as a stale header, on an open endpoint", async () => {
    const anonymous = caller(service);
    const stale = await anonymous.call("GET", "/api/v1/agents", undefined, { cookie: "service_session=stale" });
    expect(stale.status).toBe(200);
    for (const headers of [{ authorization: "Bearer stale" }, { authorization: "Basic eDp5" }, { "x-api-key": "" }]) {
      const answer = await anonymous.call("GET", "/api/v1/agents", undefined, headers);
      expect(answer.status, JSON.stringify(headers)).toBe(401);
    }
  });
});

describe("a new signing key", () => {
  /** What an isolate that has these keys answers. */
  function isolate(keys: JWK[]) {
    const settings = { ...service.settings, SIGNING_KEYS: JSON.stringify({ keys }) };
    const app = createApplication(settings, { now: () => new Date(clock), log: () => undefined });
    return async (path: string, headers: Record<string, string> = {}) =>
      app.fetch(new Request(service.url + path, { headers }));
  }

  it("signs from then on before the old ones, and who was signed in stays so", async () => {
    const fresh = keysOf(await newSecrets())[0] as JWK;
    const ask = isolate([fresh, ownJwk]);
    const answer = await ask(ME, { authorization: `Bearer ${user.token}` });
    expect(answer.status).toBe(200);
    const published = (await (await ask("/.well-known/jwks.json")).json()) as { keys: JWK[] };
    expect(published.keys.map(({ x }) => x)).toEqual([fresh.x, ownJwk.x]);
  });

  it("is published behind the old ones first: then isolates of before know it when it signs, as the guide has it", async () => {
    const fresh = keysOf(await newSecrets())[0] as JWK;
    const announced = isolate([ownJwk, fresh]);
    const token = await forge({
      header: { kid: await calculateJwkThumbprint(fresh) },
      key: await importJWK(fresh, "EdDSA"),
    });
    const isolates = [isolate([ownJwk]), announced, isolate([fresh, ownJwk])];
    const answers = await Promise.all(isolates.map((ask) => ask(ME, { authorization: `Bearer ${token}` })));
    expect(answers.map(({ status }) => status)).toEqual([401, 200, 200]);
    const published = (await (await announced("/.well-known/jwks.json")).json()) as { keys: JWK[] };
    expect(published.keys.map(({ x }) => x)).toEqual([ownJwk.x, fresh.x]);
  });
});

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A forgery that the library refuses to make. */
async function unsafely({ header, claims }: Forgery): Promise<string> {
  const signed = `${encode({ alg: "EdDSA", typ: "at+jwt", kid, ...header })}.${encode({ ...decodeJwt(user.token), ...claims })}`;
  const key = createPrivateKey({ key: ownJwk, format: "jwk" });
  return `${signed}.${sign(null, Buffer.from(signed), key).toString("base64url")}`;
}
