import * as fc from "fast-check";
import { calculateJwkThumbprint, type JWK } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROUTES } from "../../../functions/routes.ts";
import { keyId } from "../../../shared/evidence/did.ts";
import { signStatement } from "../../../shared/evidence/sign.ts";
import type { Credential } from "../../../shared/evidence/statement.ts";
import { loadSigningKeys, type SigningKeys } from "../../../shared/platform/keys.ts";
import { caller } from "../../stack/client.ts";
import { newSecrets } from "../../stack/settings.ts";
import { startService, type TestService } from "../../stack/service.ts";

let service: TestService;
let keys: SigningKeys;
let did: string;
let addresses = 0;

beforeAll(async () => {
  const sets = await Promise.all([newSecrets(), newSecrets()]);
  const jwks = sets.flatMap(({ SIGNING_KEYS = "" }) => (JSON.parse(SIGNING_KEYS) as { keys: JWK[] }).keys);
  const retired = jwks[1] as JWK & { d?: string };
  delete retired.d;
  const settings = { SIGNING_KEYS: JSON.stringify({ keys: jwks }) };
  service = await startService({ settings });
  keys = await loadSigningKeys(settings.SIGNING_KEYS);
  did = `did:web:127.0.0.1%3A${new URL(service.url).port}`;
});

afterAll(() => service.stop());

/** Calls from an address of its own, so that no limit is met here. */
function call(method: string, path: string, body?: unknown) {
  addresses += 1;
  const address = { "cf-connecting-ip": `172.23.${addresses >> 8}.${addresses & 255}` };
  return caller(service, address).call(method, path, body);
}

const verify = (jws: string) => call("POST", "/api/v1/evidence/verify", { jws });

describe("the published keys", () => {
  it("are the same in the key set, the DID document and the signatures directory, retired ones included", async () => {
    const { keys: published } = (await call("GET", "/.well-known/jwks.json")).body as { keys: JWK[] };
    expect(published).toHaveLength(2);
    const thumbprints = await Promise.all(published.map((key) => calculateJwkThumbprint(key)));
    expect(published.map(({ kid }) => kid)).toEqual(thumbprints.map((thumbprint) => `${did}#${thumbprint}`));
    for (const key of published) {
      expect(Object.keys(key).toSorted()).toEqual(["alg", "crv", "kid", "kty", "use", "x"]);
      expect(key).toMatchObject({ kty: "OKP", crv: "Ed25519", alg: "EdDSA", use: "sig" });
    }

    const document = (await call("GET", "/.well-known/did.json")).body;
    expect(document.id).toBe(did);
    expect(document.assertionMethod).toEqual(published.map(({ kid }) => kid));
    expect(document.verificationMethod).toEqual(
      published.map((key) => ({ id: key.kid, type: "JsonWebKey", controller: did, publicKeyJwk: key })),
    );

    const directory = await call("GET", "/.well-known/http-message-signatures-directory");
    expect(directory.headers.get("content-type")).toBe("application/http-message-signatures-directory+json");
    expect(directory.body.keys).toEqual(published.map((key, index) => ({ ...key, kid: thumbprints[index] })));
  });

  it("may be read from any origin and kept for five minutes", async () => {
    for (const path of ["jwks.json", "did.json", "http-message-signatures-directory"]) {
      const { headers } = await call("GET", `/.well-known/${path}`);
      expect(headers.get("access-control-allow-origin")).toBe("*");
      expect(headers.get("cache-control")).toBe("public, max-age=300");
    }
  });
});

describe("the OpenAPI description", () => {
  it("is OpenAPI 3.1.0 of version 0.1.153, and describes every endpoint of the interface", async () => {
    const { body } = await call("GET", "/openapi.json");
    expect([body.openapi, body.info.version, body.servers]).toEqual(["3.1.0", "0.1.153", [{ url: service.url }]]);
    for (const { path, method } of ROUTES.filter((route) => route.path.startsWith("/api/"))) {
      expect(body.paths[path]?.[method], `${method} ${path}`).toBeDefined();
    }
  });
});

describe("the check of evidence", () => {
  const credential = (): Credential => ({
    "@context": ["https://www.w3.org/ns/credentials/v2"],
    id: "urn:uuid:0190a0a0-0000-7000-8000-000000000000",
    type: ["VerifiableCredential"],
    issuer: did,
    validFrom: "2026-11-21T09:00:00.000Z",
    credentialSubject: { id: "urn:uuid:0190a0a0-0000-7000-8000-000000000001" },
  });
  const sign = (statement = credential(), kid = keyId(service.url, keys.active)) =>
    signStatement(statement, keys.active, kid);

  it("finds our own statement valid and gives it back", async () => {
    expect((await verify(await sign())).body).toEqual({ valid: true, statement: credential() });
  });

  it("finds it invalid after any part of it changed", async () => {
    const parts = (await sign()).split(".");
    for (const index of parts.keys()) {
      const changed = parts.map((part, at) => (at === index ? `${part.slice(0, -4)}AAAA` : part)).join(".");
      const { status, body } = await verify(changed);
      expect([status, body.valid, body.statement]).toEqual([200, false, undefined]);
      expect(body.reason).toMatch(/^[a-z_]+$/);
    }
  });

  it("says what is wrong", async () => {
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const [, payload, signature] = (await sign()).split(".");
    const kid = keyId(service.url, keys.active);
    const header = (fields: object) => encode({ alg: "EdDSA", typ: "vc+jwt", cty: "vc", kid, ...fields });
    const cases: Record<string, string> = {
      malformed: "a.b",
      unsupported_algorithm: `${header({ alg: "none" })}.${payload}.${signature}`,
      wrong_type: `${header({ typ: "JWT" })}.${payload}.${signature}`,
      unexpected_header: `${header({ crit: ["b64"] })}.${payload}.${signature}`,
      unknown_key: await sign(credential(), `${did}#other`),
      invalid_signature: `${header({})}.${encode({})}.${signature}`,
      issuer_mismatch: await sign({ ...credential(), issuer: "did:web:evil.example" }),
      invalid_statement: await sign({ ...credential(), type: [] }),
    };
    for (const [reason, jws] of Object.entries(cases))
      expect((await verify(jws)).body).toEqual({ valid: false, reason });
  });

  it("answers any text with 200 and invalid, and never fails", async () => {
    const part = fc.oneof(
      fc.base64String(),
      fc.string({ unit: "grapheme" }),
      fc.json().map((text) => Buffer.from(text).toString("base64url")),
    );
    const text = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.array(part, { maxLength: 5 }).map((parts) => parts.join(".")),
    );
    await fc.assert(
      fc.asyncProperty(
        text.filter((jws) => !jws.includes("\0")),
        async (jws) => {
          const { status, body } = await verify(jws);
          expect([status, body.valid]).toEqual([200, false]);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("takes texts up to 64 KiB, and nothing but a text", async () => {
    expect((await verify("x".repeat(65_536))).status).toBe(200);
    for (const body of [{ jws: "x".repeat(65_537) }, { jws: 1 }, { jws: null }, {}, { jws: "x", kid: "y" }, []]) {
      expect((await call("POST", "/api/v1/evidence/verify", body)).status).toBe(422);
    }
  });
});
