import { CompactSign } from "jose";
import type { SigningKey } from "../platform/keys.ts";
import { canonicalBytes } from "../platform/canonical.ts";
import type { Credential } from "./statement.ts";

/** The members of the protected header that tell a secured credential from anything else the same key signs. */
export const CREDENTIAL_HEADER = { alg: "EdDSA", typ: "vc+jwt", cty: "vc" } as const;

/**
 * Secures a credential by VC-JOSE-COSE as a compact JWS (`application/vc+jwt`): Ed25519 over its RFC 8785 form.
 * Ed25519 is deterministic, so that the same credential and key give the same JWS.
 *
 * @param kid the full key id, `did:web:{host}#{thumbprint}`
 * @throws Error when the credential has no RFC 8785 form: a lone surrogate or a number that is not finite.
 * @example
 * await signStatement(buildStatement(input), active, keyId(baseUrl, active)) // "eyJhbGciOiJFZERTQSIs…"
 */
export function signStatement(
  statement: Credential,
  key: Pick<SigningKey, "privateKey">,
  kid: string,
): Promise<string> {
  return new CompactSign(canonicalBytes(statement))
    .setProtectedHeader({ ...CREDENTIAL_HEADER, kid })
    .sign(key.privateKey);
}
