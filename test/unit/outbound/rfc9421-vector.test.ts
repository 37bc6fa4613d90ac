import { createSignature, verifySignature, webcrypto } from "http-message-sig";
import { describe, expect, it } from "vitest";
import { loadSigningKeys } from "../../../shared/platform/keys.ts";
import { testKey } from "./rfc9421-key.ts";

const { active } = await loadSigningKeys(JSON.stringify({ keys: [testKey] }));

describe("the signature of RFC 9421 appendix B.2.6", () => {
  const vector = {
    kind: "request",
    method: "POST",
    targetUri: "https://example.com/foo?param=Value&Pet=dog",
    fields: [
      { name: "Host", value: "example.com" },
      { name: "Date", value: "Tue, 20 Apr 2021 02:07:55 GMT" },
      { name: "Content-Type", value: "application/json" },
      { name: "Content-Length", value: "18" },
    ],
  } as const;
  const signature =
    "sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:";
  const signatureInput =
    'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"';

  it("is what the library makes", async () => {
    const made = await createSignature(vector, {
      label: "sig-b26",
      components: ["date", "@method", "@path", "@authority", "content-type", "content-length"],
      parameters: { created: 1618884473, keyid: "test-key-ed25519" },
      signer: webcrypto.signer(active.privateKey),
    });
    expect(made).toEqual({ signature, signatureInput });
  });

  it("is what the library verifies, and a changed request is not", async () => {
    const verifying = (method: string) =>
      verifySignature(
        {
          ...vector,
          method,
          fields: [
            ...vector.fields,
            { name: "Signature", value: signature },
            { name: "Signature-Input", value: signatureInput },
          ],
        },
        {
          policy: { algorithms: ["ed25519"], requiredComponents: [], requiredParameters: [], now: 1618884473 },
          resolveVerifier: () => webcrypto.verifier(active.publicKey),
        },
      );
    expect((await verifying("POST")).label).toBe("sig-b26");
    await expect(verifying("PUT")).rejects.toThrow();
  });
});
