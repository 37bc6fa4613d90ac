import type { PublishedJwk, SigningKeys } from "../platform/keys.ts";

/** A DID document whose keys sign credentials (W3C DID Core 1.0, Controlled Identifiers 1.0). */
export interface DidDocument {
  "@context": string[];
  id: string;
  verificationMethod: { id: string; type: "JsonWebKey"; controller: string; publicKeyJwk: PublishedJwk }[];
  assertionMethod: string[];
}

/**
 * The DID of the service at a base URL by the did:web method: its host, with `%3A` before a port.
 * @example
 * didWeb("http://localhost:8787") // "did:web:localhost%3A8787"
 */
export function didWeb(baseUrl: string): string {
  return `did:web:${encodeURIComponent(new URL(baseUrl).host)}`;
}

/**
 * The full key id that evidence is signed under: `did:web:{host}#{RFC 7638 thumbprint}`.
 * @example
 * keyId("https://example.org", { thumbprint: "abc" }) // "did:web:example.org#abc"
 */
export function keyId(baseUrl: string, key: { thumbprint: string }): string {
  return `${didWeb(baseUrl)}#${key.thumbprint}`;
}

/** The document for `/.well-known/did.json`: every key, retired ones included, may make assertions. */
export function didDocument(baseUrl: string, keys: SigningKeys): DidDocument {
  const id = didWeb(baseUrl);
  const published = jwks(baseUrl, keys).keys;
  return {
    "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/jwk/v1"],
    id,
    verificationMethod: published.map((publicKeyJwk) => ({
      id: publicKeyJwk.kid,
      type: "JsonWebKey",
      controller: id,
      publicKeyJwk,
    })),
    assertionMethod: published.map(({ kid }) => kid),
  };
}

/** The JWK set for `/.well-known/jwks.json`: every public key under its full key id. */
export function jwks(baseUrl: string, keys: SigningKeys): { keys: PublishedJwk[] } {
  return { keys: keys.publicJwks((key) => keyId(baseUrl, key)) };
}
