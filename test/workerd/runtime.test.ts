import { describe, expect, it } from "vitest";
import { addressHasher } from "../../shared/http/address.ts";
import { signStatement } from "../../shared/evidence/sign.ts";
import { verifyStatement } from "../../shared/evidence/verify.ts";
import { isApiKey, newApiKey } from "../../shared/identity/api-keys/api-key.ts";
import { PASSWORD_COST } from "../../shared/identity/passwords/cost.ts";
import { hashPassword, verifyPassword } from "../../shared/identity/passwords/password.ts";
import { decrypt, encrypt, type Keyring } from "../../shared/platform/encryption.ts";
import { loadSigningKeys } from "../../shared/platform/keys.ts";
import { checkUrl } from "../../shared/platform/outbound/url.ts";

// The key pair of RFC 8037, appendix A.
const D = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";
const X = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
const jwk = (x: string, d: string) => JSON.stringify({ keys: [{ kty: "OKP", crv: "Ed25519", x, d }] });

describe("the runtime of production", () => {
  it("is workerd", () => {
    expect(navigator.userAgent).toBe("Cloudflare-Workers");
  });

  it("hashes and verifies passwords by scrypt with the parameters of the policy", async () => {
    const hash = await hashPassword("correct horse battery", PASSWORD_COST);
    expect(hash).toMatch(/^\$scrypt\$ln=14,r=8,p=5\$/);
    expect(await verifyPassword("correct horse battery", hash, PASSWORD_COST)).toEqual({ ok: true, outdated: false });
    expect((await verifyPassword("correct horse batterz", hash, PASSWORD_COST)).ok).toBe(false);
  });

  it("seals and opens secrets, and refuses another purpose", () => {
    const key: Keyring = [{ name: "2026", secret: btoa("k".repeat(32)) }];
    const sealed = encrypt("whsec", key, "webhook");
    expect(decrypt(sealed, key, "webhook")).toBe("whsec");
    expect(() => decrypt(sealed, key, "mail")).toThrow();
  });

  it("hashes addresses as Node does, by the secret of the day", () => {
    const hashes = addressHasher(
      { LOG_SIGNING_KEY: JSON.stringify({ d: D }) },
      () => new Date("2026-11-21T09:00:00.000Z"),
    );
    expect(hashes("203.0.113.7")).toMatchObject({
      addressHash: "958ba07d208857509a132d3b1c3c6ef7",
      addressHashBefore: "89353ac54312e5e5e547e53079124738",
    });
  });

  it("computes the checksum of API keys", () => {
    const key = newApiKey();
    expect(isApiKey(key)).toBe(true);
    expect(isApiKey(`${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`)).toBe(false);
  });

  it("refuses a key set whose halves do not belong together, which its own import takes", async () => {
    await expect(loadSigningKeys(jwk(X, D))).resolves.toBeDefined();
    await expect(loadSigningKeys(jwk("A".repeat(43), D))).rejects.toThrow("SIGNING_KEYS");
    const other = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2E";
    await expect(loadSigningKeys(jwk(X, other))).rejects.toThrow("private half");
  });

  it("signs the same bytes as any other implementation: Ed25519 is deterministic", async () => {
    const { active, publicJwks } = await loadSigningKeys(jwk(X, D));
    const statement = {
      "@context": [],
      id: "urn:x",
      type: [],
      issuer: "did:web:a",
      validFrom: "",
      credentialSubject: {},
    };
    const jws = await signStatement(statement, active, "did:web:a#k");
    expect(await signStatement(statement, active, "did:web:a#k")).toBe(jws);
    const [payload] = jws.split(".").slice(1);
    expect(atob((payload ?? "").replaceAll("-", "+").replaceAll("_", "/"))).toBe(
      '{"@context":[],"credentialSubject":{},"id":"urn:x","issuer":"did:web:a","type":[],"validFrom":""}',
    );
    const keys = publicJwks(() => "did:web:a#k");
    expect(await verifyStatement(`${jws.slice(0, -4)}AAAA`, keys)).toMatchObject({ valid: false });
  });

  it("reads hostile spellings of addresses as Node does", () => {
    const policy = { ownHosts: [], allowLoopbackHttp: false };
    for (const url of ["https://0x7f.1/", "https://127.1/", "https://[::ffff:10.0.0.1]/", "https://１２７.0.0.1/"]) {
      expect(checkUrl(url, policy)).toMatchObject({ ok: false, code: "ip_literal" });
    }
  });
});
