import { createPublicKey, verify } from "node:crypto";
import { describe, expect, it } from "vitest";
import { jwks } from "../../../shared/evidence/did.ts";
import { signStatement } from "../../../shared/evidence/sign.ts";
import { buildStatement } from "../../../shared/evidence/statement.ts";
import { BASE_URL, keys, kid, passedRun, RFC8037_THUMBPRINT } from "./fixtures.ts";

const statement = buildStatement(passedRun);
const jws = await signStatement(statement, keys.active, kid);
const [header = "", payload = "", signature = ""] = jws.split(".");
const decoded = (part: string) => Buffer.from(part, "base64url").toString("utf8");

describe("a signed statement", () => {
  it("has the header of a secured credential", () => {
    expect(JSON.parse(decoded(header))).toEqual({
      alg: "EdDSA",
      typ: "vc+jwt",
      cty: "vc",
      kid: `did:web:screening.example#${RFC8037_THUMBPRINT}`,
    });
  });

  it("is verified with the published key by nothing but node:crypto", () => {
    const published = jwks(BASE_URL, keys).keys.find((key) => key.kid === JSON.parse(decoded(header)).kid);
    const publicKey = createPublicKey({ key: { ...published }, format: "jwk" });
    const signed = Buffer.from(`${header}.${payload}`, "ascii");
    expect(verify(null, signed, publicKey, Buffer.from(signature, "base64url"))).toBe(true);
  });

  it("carries the statement in its RFC 8785 form", () => {
    expect(JSON.parse(decoded(payload))).toEqual(statement);
    // Every member name is ASCII and every number an integer: sorted keys and JSON.stringify are that form.
    expect(decoded(payload)).toBe(JSON.stringify(sorted(statement)));
  });

  it("comes out the same when it is signed again", async () => {
    expect(await signStatement(buildStatement(structuredClone(passedRun)), keys.active, kid)).toBe(jws);
  });

  it("cannot be made of what has no RFC 8785 form", () => {
    expect(() => signStatement({ ...statement, id: "\udfff" }, keys.active, kid)).toThrow("surrogate");
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member)]));
}
