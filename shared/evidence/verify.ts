import { Buffer } from "node:buffer";
import { compactVerify, type JWK } from "jose";
import * as z from "zod";
import { canonicalBytes } from "../platform/canonical.ts";
import { CREDENTIAL_HEADER } from "./sign.ts";
import type { Credential } from "./statement.ts";

/** Why a JWS is no valid statement, in the order in which it is looked at. */
export type VerificationFailure =
  | "malformed"
  | "unsupported_algorithm"
  | "wrong_type"
  | "unexpected_header"
  | "unknown_key"
  | "invalid_signature"
  | "not_canonical"
  | "invalid_statement"
  | "issuer_mismatch"
  | "not_yet_valid"
  | "expired";

/** What a verification finds. */
export type Verification =
  | { valid: true; statement: Credential; kid: string }
  | { valid: false; reason: VerificationFailure };

const Header = z.record(z.string(), z.unknown());
const instant = z.iso.datetime();

const Statement = z.looseObject({
  "@context": z.array(z.string()).refine(([first]) => first === "https://www.w3.org/ns/credentials/v2"),
  id: z.string(),
  type: z.array(z.string()).refine((types) => types.includes("VerifiableCredential")),
  issuer: z.string(),
  validFrom: instant,
  validUntil: instant.exactOptional(),
  credentialSubject: z.looseObject({}),
});

/**
 * Verifies a credential secured by `signStatement`: strict base64url, exactly our header, a known key, its signature, the
 * RFC 8785 form, and an issuer whose DID is the one of the key. Never throws, whatever the string.
 *
 * @param keys the published public keys, each under its full key id (`/.well-known/jwks.json`)
 * @param opts.now when given, the statement must also be in force at that moment
 * @example
 * await verifyStatement(jws, jwks(baseUrl, keys).keys) // { valid: true, … } or { valid: false, reason: … }
 */
export async function verifyStatement(jws: string, keys: JWK[], opts: { now?: Date } = {}): Promise<Verification> {
  const [header, payload, signature, ...more] = jws.split(".", 4).map(decode);
  if (!header || !payload || !signature || more.length > 0) return refused("malformed");

  const fields = Header.safeParse(parse(header)).data;
  if (!fields) return refused("malformed");
  const { kid, alg, typ, cty, ...others } = fields;
  if (alg !== CREDENTIAL_HEADER.alg) return refused("unsupported_algorithm");
  if (typ !== CREDENTIAL_HEADER.typ || cty !== CREDENTIAL_HEADER.cty) return refused("wrong_type");
  // `crit`, `b64`, `jwk`, `jku`, `x5c`: each would change what is signed or who signs.
  if (Object.keys(others).length > 0) return refused("unexpected_header");

  const jwk = keys.find((key) => key.kid === kid);
  if (typeof kid !== "string" || !jwk) return refused("unknown_key");
  if (!(await isSignedBy(jwk, jws))) return refused("invalid_signature");

  const content = parse(payload);
  if (!isCanonical(content, payload)) return refused("not_canonical");
  const statement = Statement.safeParse(content).data;
  if (!statement) return refused("invalid_statement");
  if (statement.issuer !== kid.split("#", 1)[0]) return refused("issuer_mismatch");
  const { validFrom, validUntil } = statement;
  if (opts.now && Date.parse(validFrom) > opts.now.getTime()) return refused("not_yet_valid");
  if (opts.now && validUntil && Date.parse(validUntil) <= opts.now.getTime()) return refused("expired");
  return { valid: true, statement, kid };
}

function refused(reason: VerificationFailure): Verification {
  return { valid: false, reason };
}

/** The bytes of a base64url text; null when it is not their one encoding, so that no second JWS says the same. */
function decode(text: string): Buffer | null {
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : null;
}

function parse(json: Buffer): unknown {
  try {
    return JSON.parse(json.toString("utf8"));
  } catch {
    return undefined;
  }
}

async function isSignedBy(jwk: JWK, jws: string): Promise<boolean> {
  try {
    // A copy, because jose freezes the JWK that it is given.
    await compactVerify(jws, { ...jwk }, { algorithms: [CREDENTIAL_HEADER.alg] });
    return true;
  } catch {
    return false;
  }
}

function isCanonical(content: unknown, bytes: Buffer): boolean {
  try {
    return bytes.equals(canonicalBytes(content));
  } catch {
    return false;
  }
}
