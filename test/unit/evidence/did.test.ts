import { describe, expect, it } from "vitest";
import { didDocument, didWeb, jwks, keyId } from "../../../shared/evidence/did.ts";
import { BASE_URL, keys, RETIRED_JWK, RFC8037_JWK, RFC8037_THUMBPRINT } from "./fixtures.ts";

const [, retired] = keys.all;
const kids = [`did:web:screening.example#${RFC8037_THUMBPRINT}`, `did:web:screening.example#${retired?.thumbprint}`];
const published = [RFC8037_JWK, RETIRED_JWK].map(({ kty, crv, x }, index) => ({
  kty,
  crv,
  x,
  kid: kids[index],
  alg: "EdDSA",
  use: "sig",
}));

describe("didWeb", () => {
  it.each([
    ["https://screening.example", "did:web:screening.example"],
    ["https://Screening.Example/", "did:web:screening.example"],
    ["https://screening.example:8443", "did:web:screening.example%3A8443"],
    ["https://screening.example:443", "did:web:screening.example"],
    ["http://127.0.0.1:8787", "did:web:127.0.0.1%3A8787"],
    ["http://[::1]:8787", "did:web:%5B%3A%3A1%5D%3A8787"],
    ["https://bücher.example", "did:web:xn--bcher-kva.example"],
  ])("%s is %s", (url, did) => {
    expect(didWeb(url)).toBe(did);
  });
});

it("names a key by its DID and its thumbprint", () => {
  expect(keyId("http://127.0.0.1:8787", keys.active)).toBe(`did:web:127.0.0.1%3A8787#${RFC8037_THUMBPRINT}`);
});

it("publishes every key, the retired one too, under its full id and without its private half", () => {
  expect(jwks(BASE_URL, keys)).toEqual({ keys: published });
});

it("lets every key make assertions in the DID document", () => {
  expect(didDocument(BASE_URL, keys)).toEqual({
    "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/jwk/v1"],
    id: "did:web:screening.example",
    verificationMethod: published.map((publicKeyJwk, index) => ({
      id: kids[index],
      type: "JsonWebKey",
      controller: "did:web:screening.example",
      publicKeyJwk,
    })),
    assertionMethod: kids,
  });
});
