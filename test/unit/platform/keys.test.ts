import { createHash, generateKeyPairSync, verify } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { loadSigningKeys } from "../../../shared/platform/keys.ts";

// RFC 8037 appendix A.1 to A.3: an Ed25519 key and its thumbprint.
const rfc8037 = {
  kty: "OKP",
  crv: "Ed25519",
  d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
  x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
};
const rfc8037Thumbprint = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";

function generated(): typeof rfc8037 {
  const { d = "", x = "" } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  return { ...rfc8037, d, x };
}
const load = (...keys: unknown[]) => loadSigningKeys(JSON.stringify({ keys }));
const without = <T extends object, K extends keyof T>(object: T, key: K): Omit<T, K> => {
  const { [key]: _, ...rest } = object;
  return rest;
};

describe("loadSigningKeys", () => {
  it("gives the key of RFC 8037 the thumbprint of RFC 8037", async () => {
    const { active } = await load(rfc8037);
    expect(active.thumbprint).toBe(rfc8037Thumbprint);
  });

  it("signs with the first key and publishes every key in order", async () => {
    const jwks = [rfc8037, generated(), generated()];
    const keys = await load(...jwks);
    expect(keys.active).toBe(keys.all[0]);
    expect(keys.all.map((key) => key.publicJwk.x)).toEqual(jwks.map((jwk) => jwk.x));
  });

  it("makes signatures that the published key verifies", async () => {
    const { active } = await load(generated());
    const message = new TextEncoder().encode("a run");
    const signature = await crypto.subtle.sign("Ed25519", active.privateKey, message);
    const publicKey = { key: { ...active.publicJwk }, format: "jwk" } as const;
    expect(verify(null, message, publicKey, new Uint8Array(signature))).toBe(true);
  });

  it("publishes public members only, under the thumbprint or the caller's kid", async () => {
    const keys = await load({ ...rfc8037, kid: "mine", key_ops: ["sign"], ext: true, secret_note: "x" });
    const published = { kty: "OKP", crv: "Ed25519", x: rfc8037.x, alg: "EdDSA", use: "sig" };
    expect(keys.publicJwks()).toEqual([{ ...published, kid: rfc8037Thumbprint }]);
    expect(keys.publicJwks((key) => `#${key.thumbprint}`)).toEqual([{ ...published, kid: `#${rfc8037Thumbprint}` }]);
  });

  it("keeps the private half from being exported", async () => {
    const { active } = await load(rfc8037);
    await expect(crypto.subtle.exportKey("jwk", active.privateKey)).rejects.toThrow();
  });

  it("takes a retired key that has lost its private half, after the first", async () => {
    const retired = without(generated(), "d");
    const keys = await load(rfc8037, retired);
    expect(keys.publicJwks().map((jwk) => jwk.x)).toEqual([rfc8037.x, retired.x]);
  });
});

describe("a set that cannot be used", () => {
  const other = generated();
  const cases: [what: string, json: string, message: string][] = [
    ["text that is not JSON", `{"keys":[${JSON.stringify(rfc8037)}`, "SIGNING_KEYS: is not JSON"],
    ["nothing", "", "SIGNING_KEYS: is not JSON"],
    ["null", "null", "SIGNING_KEYS: is not an object"],
    ["a bare key", JSON.stringify(rfc8037), "SIGNING_KEYS: has no array `keys`"],
    ["an empty set", '{"keys":[]}', "SIGNING_KEYS: has no key"],
    ["a key that is a string", set(rfc8037.d), "SIGNING_KEYS: key 0: is not an object"],
    ["another key type", set({ ...rfc8037, kty: "EC" }), "SIGNING_KEYS: key 0: kty is not OKP"],
    ["another curve", set(rfc8037, { ...other, crv: "X25519" }), "SIGNING_KEYS: key 1: crv is not Ed25519"],
    ["no public half", set(without(rfc8037, "x")), "SIGNING_KEYS: key 0: x is missing"],
    ["a short x", set({ ...rfc8037, x: "AAAA" }), "SIGNING_KEYS: key 0: x is not 32 bytes in base64url"],
    [
      "a second spelling of x, which would have another thumbprint",
      set({ ...rfc8037, x: rfc8037.x.replace(/o$/, "p") }),
      "SIGNING_KEYS: key 0: x is not 32 bytes in base64url",
    ],
    ["a padded d", set({ ...rfc8037, d: `${rfc8037.d}=` }), "SIGNING_KEYS: key 0: d is not 32 bytes in base64url"],
    ["a first key without d", set(without(rfc8037, "d")), "SIGNING_KEYS: key 0 must sign and has no d"],
    ["halves of two keys", set({ ...rfc8037, d: other.d }), "SIGNING_KEYS: key 0: d is not the private half of x"],
    ["a key twice", set(rfc8037, other, without(other, "d")), "SIGNING_KEYS: key 2 stands in the set twice"],
    [
      "several faults",
      set({ ...rfc8037, kty: "RSA" }, { ...other, d: "short" }),
      "SIGNING_KEYS: key 0: kty is not OKP; key 1: d is not 32 bytes in base64url",
    ],
  ];

  function set(...keys: unknown[]): string {
    return JSON.stringify({ keys });
  }

  it.each(cases)("%s is refused by name", async (_, json, message) => {
    await expect(loadSigningKeys(json)).rejects.toThrow(new Error(message));
  });

  describe("the error", () => {
    const errors: Error[] = [];
    beforeAll(async () => {
      for (const [, json] of cases) await loadSigningKeys(json).catch((error: Error) => errors.push(error));
    });

    it("never quotes key material, neither in its message nor in its causes", () => {
      expect(errors).toHaveLength(cases.length);
      for (const error of errors) {
        const shown = `${error.stack} ${JSON.stringify(error, Object.getOwnPropertyNames(error))} ${String(error.cause)}`;
        for (const secret of [rfc8037.d, other.d]) expect(shown).not.toContain(secret.slice(0, 8));
      }
    });
  });
});

it("computes the thumbprint as RFC 7638 writes it, for any key", async () => {
  const jwk = generated();
  const { active } = await load(jwk);
  const canonical = `{"crv":"Ed25519","kty":"OKP","x":"${jwk.x}"}`;
  expect(active.thumbprint).toBe(createHash("sha256").update(canonical).digest("base64url"));
});
