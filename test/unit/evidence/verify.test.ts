import { generateKeyPairSync } from "node:crypto";
import * as fc from "fast-check";
import { base64url, CompactSign, importJWK, type JWK } from "jose";
import { describe, expect, it } from "vitest";
import { jwks, keyId } from "../../../shared/evidence/did.ts";
import { signStatement } from "../../../shared/evidence/sign.ts";
import { buildStatement } from "../../../shared/evidence/statement.ts";
import { verifyStatement } from "../../../shared/evidence/verify.ts";
import { loadSigningKeys } from "../../../shared/platform/keys.ts";
import { anyRun, BASE_URL, keys, kid, passedRun } from "./fixtures.ts";

const published: JWK[] = jwks(BASE_URL, keys).keys;
const statement = buildStatement(passedRun);
const jws = await signStatement(statement, keys.active, kid);
const [header = "", payload = "", signature = ""] = jws.split(".");
const credentialHeader = { alg: "EdDSA", typ: "vc+jwt", cty: "vc", kid };

/** A JWS over any payload under any header, signed by the service's own key. */
const signed = (
  content: string | Uint8Array,
  protectedHeader: { alg: string; [name: string]: unknown } = credentialHeader,
) =>
  new CompactSign(typeof content === "string" ? new TextEncoder().encode(content) : content)
    .setProtectedHeader(protectedHeader)
    .sign(keys.active.privateKey);

const unsigned = (protectedHeader: object) =>
  `${base64url.encode(JSON.stringify(protectedHeader))}.${payload}.${signature}`;

describe("verifyStatement", () => {
  it("accepts what was signed and gives it back", async () => {
    expect(await verifyStatement(jws, published)).toEqual({ valid: true, statement, kid });
  });

  it("accepts any run's statement under the key of its own issuer", async () => {
    await fc.assert(
      fc.asyncProperty(anyRun, async (run) => {
        const built = buildStatement(run);
        const id = keyId(run.base_url, keys.active);
        const one = await signStatement(built, keys.active, id);
        expect(await verifyStatement(one, jwks(run.base_url, keys).keys)).toEqual({
          valid: true,
          statement: built,
          kid: id,
        });
      }),
    );
  });

  it("accepts evidence of a key that has been retired since", async () => {
    const fresh = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
    const [old] = keys.publicJwks();
    const rotated = await loadSigningKeys(JSON.stringify({ keys: [fresh, old] }));
    expect(await verifyStatement(jws, jwks(BASE_URL, rotated).keys)).toMatchObject({ valid: true });
  });

  it("leaves the keys it was given as they were", async () => {
    const key: JWK = { ...published[0] };
    await verifyStatement(jws, [key]);
    expect(Object.isFrozen(key)).toBe(false);
  });
});

describe("a JWS that is refused", () => {
  const canonical = Buffer.from(payload, "base64url").toString("utf8");
  const withIssuer = (issuer: string) => canonical.replace(`"issuer":"${statement.issuer}"`, `"issuer":"${issuer}"`);
  const hmac = importJWK({ kty: "oct", k: published[0]?.x ?? "" }, "HS256");

  const cases: [what: string, jws: string | Promise<string>, reason: string][] = [
    ["no text", "", "malformed"],
    ["two parts", `${header}.${payload}`, "malformed"],
    ["four parts", `${jws}.${signature}`, "malformed"],
    ["a padded part", `${header}.${payload}.${signature}==`, "malformed"],
    ["white space", `${jws}\n`, "malformed"],
    ["a header that is not JSON", `${base64url.encode("{")}.${payload}.${signature}`, "malformed"],
    ["a header that is a list", unsigned([credentialHeader]), "malformed"],
    [
      "algorithm none",
      `${base64url.encode(JSON.stringify({ ...credentialHeader, alg: "none" }))}.${payload}.`,
      "unsupported_algorithm",
    ],
    [
      "an HMAC keyed with the public key",
      hmac.then((key) =>
        new CompactSign(Buffer.from(canonical)).setProtectedHeader({ ...credentialHeader, alg: "HS256" }).sign(key),
      ),
      "unsupported_algorithm",
    ],
    ["an algorithm in another case", unsigned({ ...credentialHeader, alg: "eddsa" }), "unsupported_algorithm"],
    ["no algorithm", unsigned({ typ: "vc+jwt", cty: "vc", kid }), "unsupported_algorithm"],
    ["an access token of the same key", signed(canonical, { ...credentialHeader, typ: "at+jwt" }), "wrong_type"],
    ["no type", signed(canonical, { alg: "EdDSA", kid }), "wrong_type"],
    ["another content type", signed(canonical, { ...credentialHeader, cty: "vp" }), "wrong_type"],
    [
      "a header that brings its own key",
      signed(canonical, { ...credentialHeader, jwk: published[0] }),
      "unexpected_header",
    ],
    ["a critical extension", unsigned({ ...credentialHeader, crit: ["b64"], b64: false }), "unexpected_header"],
    ["a key that nobody published", signed(canonical, { ...credentialHeader, kid: `${kid}x` }), "unknown_key"],
    [
      "a bare thumbprint for a key id",
      signed(canonical, { ...credentialHeader, kid: keys.active.thumbprint }),
      "unknown_key",
    ],
    ["no key id", signed(canonical, { alg: "EdDSA", typ: "vc+jwt", cty: "vc" }), "unknown_key"],
    [
      "the id of another key",
      signed(canonical, { ...credentialHeader, kid: String(published[1]?.kid) }),
      "invalid_signature",
    ],
    [
      "another payload",
      `${header}.${base64url.encode(canonical.replace("0.7500", "1.0000"))}.${signature}`,
      "invalid_signature",
    ],
    ["no signature", `${header}.${payload}.`, "invalid_signature"],
    ["a payload with its members in another order", signed(JSON.stringify(statement)), "not_canonical"],
    ["a payload with white space", signed(`${canonical} `), "not_canonical"],
    ["a payload that says a member twice", signed(canonical.replace("{", '{"@context":[],')), "not_canonical"],
    ["a payload that is not JSON", signed("undefined"), "not_canonical"],
    ["a payload that is not UTF-8", signed(Uint8Array.of(0x22, 0xff, 0x22)), "not_canonical"],
    ["a payload that is no object", signed("null"), "invalid_statement"],
    ["a payload that is no credential", signed('{"sub":"user"}'), "invalid_statement"],
    [
      "a credential of another data model",
      signed(canonical.replace("credentials/v2", "credentials/v9")),
      "invalid_statement",
    ],
    [
      "a credential without the base type",
      signed(canonical.replace('"VerifiableCredential",', "")),
      "invalid_statement",
    ],
    ["another issuer", signed(withIssuer("did:web:evil.example")), "issuer_mismatch"],
    ["an issuer that only starts like ours", signed(withIssuer(`${statement.issuer}.evil`)), "issuer_mismatch"],
    ["the key id for an issuer", signed(withIssuer(kid)), "issuer_mismatch"],
  ];

  it.each(cases)("%s", async (_, text, reason) => {
    expect(await verifyStatement(await text, published)).toEqual({ valid: false, reason });
  });

  it("cannot be saved by a published key that is not Ed25519", async () => {
    const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const other = { ...publicKey.export({ format: "jwk" }), kid } as JWK;
    expect(await verifyStatement(jws, [other])).toEqual({ valid: false, reason: "invalid_signature" });
    expect(await verifyStatement(jws, [{ kid }])).toEqual({ valid: false, reason: "invalid_signature" });
    expect(await verifyStatement(jws, [])).toEqual({ valid: false, reason: "unknown_key" });
  });
});

describe("a moment to verify for", () => {
  const expiring = { ...statement, validFrom: "2026-01-01T00:00:00.000Z", validUntil: "2026-04-01T00:00:00.000Z" };
  it.each([
    ["2025-12-31T23:59:59.999Z", { valid: false, reason: "not_yet_valid" }],
    ["2026-01-01T00:00:00.000Z", { valid: true }],
    ["2026-03-31T23:59:59.999Z", { valid: true }],
    ["2026-04-01T00:00:00.000Z", { valid: false, reason: "expired" }],
  ])("at %s the term decides", async (now, expected) => {
    const term = await signStatement(expiring, keys.active, kid);
    expect(await verifyStatement(term, published, { now: new Date(now) })).toMatchObject(expected);
    expect(await verifyStatement(term, published)).toMatchObject({ valid: true });
  });
});

describe("whatever the string", () => {
  it("a change of any single byte is refused", async () => {
    const changes = Array.from(jws, (character, at) => {
      const changed = String.fromCharCode(character.charCodeAt(0) ^ 1);
      return verifyStatement(jws.slice(0, at) + changed + jws.slice(at + 1), published);
    });
    expect((await Promise.all(changes)).filter(({ valid }) => valid)).toEqual([]);
  });

  it("any other character at any place is refused", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(jws.length - 1), fc.string({ minLength: 1, maxLength: 1 }), async (at, character) => {
        fc.pre(jws[at] !== character);
        const changed = jws.slice(0, at) + character + jws.slice(at + 1);
        expect(await verifyStatement(changed, published)).toMatchObject({ valid: false });
      }),
    );
  });

  it("no other last character of a part says the same", async () => {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (const end of [header.length, header.length + 1 + payload.length, jws.length]) {
      for (const character of alphabet) {
        const changed = jws.slice(0, end - 1) + character + jws.slice(end);
        expect(await verifyStatement(changed, published)).toMatchObject({ valid: changed === jws });
      }
    }
  });

  it("no deletion or insertion passes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(jws.length - 1), fc.string({ minLength: 1, maxLength: 3 }), async (at, inserted) => {
        expect(await verifyStatement(jws.slice(0, at) + jws.slice(at + 1), published)).toMatchObject({ valid: false });
        expect(await verifyStatement(jws.slice(0, at) + inserted + jws.slice(at), published)).toMatchObject({
          valid: false,
        });
      }),
    );
  });

  it("it answers and never throws", async () => {
    const part = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.json().map((json) => base64url.encode(json)),
      fc.constantFrom(header, payload, signature),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 5 }), async (parts) => {
        expect(await verifyStatement(parts.join("."), published)).toHaveProperty("valid", parts.join(".") === jws);
      }),
      { numRuns: 500 },
    );
    expect(await verifyStatement(".".repeat(1 << 20), published)).toMatchObject({ valid: false });
    expect(await verifyStatement(`${base64url.encode("[".repeat(1 << 18))}.e.e`, published)).toMatchObject({
      valid: false,
    });
  });
});
