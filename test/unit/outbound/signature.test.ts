import { createHash, createPublicKey, sign, verify } from "node:crypto";
import { describe, expect, it } from "vitest";
import { loadSigningKeys } from "../../../shared/platform/keys.ts";
import {
  type SignableRequest,
  type SigningOptions,
  signaturesDirectory,
  signRequest,
  verifyRequest,
} from "../../../shared/platform/outbound/signature.ts";
import { testKey, testThumbprint } from "./rfc9421-key.ts";

// RFC 8037 appendix A.1.
const otherKey = {
  kty: "OKP",
  crv: "Ed25519",
  d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
  x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
};
const keys = await loadSigningKeys(JSON.stringify({ keys: [testKey] }));
const others = await loadSigningKeys(JSON.stringify({ keys: [otherKey] }));

type Plain = Omit<SignableRequest, "headers"> & { headers: Record<string, string> };
const now = new Date("2026-11-21T09:00:00.900Z");
const created = 1795251600;
const request: Plain = {
  method: "POST",
  url: "https://agent.example.com/run?x=1",
  headers: { "Content-Type": "application/json", "User-Agent": "screening" },
  body: '{"prompt":"ä"}',
};

async function signed(changes: Partial<Plain> = {}, options: Partial<SigningOptions> = {}): Promise<Plain> {
  const plain = { ...request, ...changes };
  const agentUrl = "https://screening.example.com";
  const added = await signRequest(plain, keys.active, { now, agentUrl, ...options });
  return { ...plain, headers: { ...plain.headers, ...added } };
}
const withHeaders = (sent: Plain, headers: Record<string, string>): Plain => ({
  ...sent,
  headers: { ...sent.headers, ...headers },
});
const digestOf = (body: string | Uint8Array) => `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;
const check = (sent: SignableRequest, { at = now, by = keys, clockSkewS = 0 } = {}) =>
  verifyRequest(sent, { keys: by.publicJwks() }, { now: at, clockSkewS });

const COVERED = ["@method", "@target-uri", "content-type", "content-digest", "signature-agent"] as const;
const idOf = (name: string) => (name === "signature-agent" ? `"${name}";key="sig1"` : `"${name}"`);

/** RFC 9421 section 2.5, by text alone. */
function signatureBase(sent: Plain, covered: readonly (typeof COVERED)[number][], parameters: string): Buffer {
  const values = {
    "@method": sent.method,
    "@target-uri": sent.url,
    "content-type": sent.headers["Content-Type"],
    "content-digest": sent.headers["Content-Digest"],
    "signature-agent": /^sig1=(".*")$/.exec(sent.headers["Signature-Agent"] ?? "")?.[1],
  };
  const lines = covered.map((name) => `${idOf(name)}: ${values[name]}`);
  return Buffer.from([...lines, `"@signature-params": ${parameters}`].join("\n"));
}

/** RFC 9421 section 3.2, by node:crypto alone. */
function verifyByHand(sent: Plain): boolean {
  const parameters = (sent.headers["Signature-Input"] ?? "").replace(/^sig1=/, "");
  const signature = /^sig1=:([A-Za-z0-9+/=]+):$/.exec(sent.headers["Signature"] ?? "")?.[1] ?? "";
  const key = createPublicKey({ key: { kty: testKey.kty, crv: testKey.crv, x: testKey.x }, format: "jwk" });
  return verify(null, signatureBase(sent, COVERED, parameters), key, Buffer.from(signature, "base64"));
}

describe("signRequest", () => {
  it("writes the four headers of the profile", async () => {
    const { headers } = await signed({}, { nonce: "n1" });
    expect(headers).toMatchObject({
      "Content-Digest": digestOf(request.body),
      "Signature-Agent": 'sig1="https://screening.example.com"',
      "Signature-Input":
        'sig1=("@method" "@target-uri" "content-type" "content-digest" "signature-agent";key="sig1")' +
        `;created=${created};expires=${created + 60};nonce="n1";keyid="${testThumbprint}";alg="ed25519";tag="web-bot-auth"`,
    });
  });

  it("makes what an independent verifier takes, for text and for bytes", async () => {
    expect(verifyByHand(await signed())).toBe(true);
    expect(verifyByHand(await signed({ body: new Uint8Array([0, 255]) }))).toBe(true);
  });

  it.each<[string, (sent: Plain) => Plain]>([
    ["method", (sent) => ({ ...sent, method: "PUT" })],
    ["URL", (sent) => ({ ...sent, url: `${sent.url}2` })],
    ["content type", (sent) => withHeaders(sent, { "Content-Type": "text/plain" })],
    ["digest", (sent) => withHeaders(sent, { "Content-Digest": digestOf("") })],
    ["agent", (sent) => withHeaders(sent, { "Signature-Agent": 'sig1="https://other.example.com"' })],
    [
      "expiry",
      (sent) => withHeaders(sent, { "Signature-Input": (sent.headers["Signature-Input"] ?? "").replace("660", "661") }),
    ],
  ])("makes what an independent verifier refuses with another %s", async (_part, change) => {
    expect(verifyByHand(change(await signed()))).toBe(false);
  });

  it("signs the URL in the form that is sent, and names the service by its origin", async () => {
    const agentUrl = "https://screening.example.com/x";
    const sent = await signed({ url: "https://Agent.example.com:443" }, { agentUrl });
    expect(verifyByHand({ ...sent, url: "https://agent.example.com/" })).toBe(true);
    expect(sent.headers["Signature-Agent"]).toBe('sig1="https://screening.example.com"');
  });

  it("uses a new nonce of 64 bytes for each request", async () => {
    const requests = await Promise.all([signed(), signed()]);
    const nonces = requests.map(({ headers }) => /nonce="([\w-]+)"/.exec(headers["Signature-Input"] ?? "")?.[1] ?? "");
    expect(new Set(nonces).size).toBe(2);
    expect(nonces.map((nonce) => Buffer.from(nonce, "base64url").byteLength)).toEqual([64, 64]);
  });

  it.each([0, -1, 61, Number.NaN])("refuses a lifetime of %d s", async (expiresInS) => {
    await expect(signed({}, { expiresInS })).rejects.toThrow(RangeError);
  });

  it("refuses a request without Content-Type, which it could not cover", async () => {
    await expect(signed({ headers: {} })).rejects.toThrow(/content-type/);
  });
});

describe("verifyRequest", () => {
  it("takes what signRequest made, by the thumbprint whatever the kid, and names key and nonce", async () => {
    const jwks = keys.publicJwks(({ thumbprint }) => `did:web:screening.example.com#${thumbprint}`);
    const verdict = await verifyRequest(await signed({}, { nonce: "n1" }), { keys: jwks }, { now });
    expect(verdict).toEqual({ ok: true, keyid: testThumbprint, nonce: "n1" });
  });

  it("takes headers in any case, as a server sees them", async () => {
    const sent = await signed();
    expect(await check({ ...sent, headers: new Headers(sent.headers) })).toMatchObject({ ok: true });
  });

  const other = '{"prompt":"other"}';
  it.each<[string, (sent: Plain) => SignableRequest]>([
    ["another method", (sent) => ({ ...sent, method: "PUT" })],
    ["another path", (sent) => ({ ...sent, url: "https://agent.example.com/other?x=1" })],
    ["another host", (sent) => ({ ...sent, url: "https://victim.example.com/run?x=1" })],
    ["another body", (sent) => ({ ...sent, body: other })],
    ["another body and its digest", (s) => ({ ...withHeaders(s, { "Content-Digest": digestOf(other) }), body: other })],
    ["another content type", (sent) => withHeaders(sent, { "Content-Type": "text/plain" })],
    ["another agent", (sent) => withHeaders(sent, { "Signature-Agent": 'sig1="https://other.example.com"' })],
    ["no signature", (sent) => ({ ...sent, headers: request.headers })],
    ["garbage for a signature", (sent) => withHeaders(sent, { Signature: "sig1=?" })],
    ["a header that is none", (sent) => withHeaders(sent, { "a b": "c" })],
    ["a URL that is none", (sent) => ({ ...sent, url: "/run" })],
  ])("refuses %s", async (_case, change) => {
    expect(await check(change(await signed()))).toMatchObject({ ok: false });
  });

  it("refuses a key that is not in the set", async () => {
    expect(await check(await signed(), { by: others })).toMatchObject({ ok: false });
  });

  it.each([
    [-2, 0, false],
    [-2, 5, true],
    [0, 0, true],
    [29, 0, true],
    [31, 0, false],
    [31, 5, true],
  ])("%i s after it was made for 30 s, with a skew of %i s, it holds: %s", async (seconds, clockSkewS, ok) => {
    const at = new Date(now.getTime() + seconds * 1000);
    expect(await check(await signed({}, { expiresInS: 30 }), { at, clockSkewS })).toMatchObject({ ok });
  });

  it.each([
    ["takes a true signature of the profile", COVERED, 60, "web-bot-auth", true],
    ...COVERED.map((name) => {
      const covered = COVERED.filter((component) => component !== name);
      return [`refuses one that does not cover ${name}`, covered, 60, "web-bot-auth", false] as const;
    }),
    ["refuses one that lives longer than a minute", COVERED, 61, "web-bot-auth", false],
    ["refuses one made for another purpose", COVERED, 60, "something-else", false],
  ] as const)("%s", async (_case, covered, lifetime, tag, ok) => {
    const sent = await signed();
    const parameters =
      `(${covered.map(idOf).join(" ")});created=${created};expires=${created + lifetime}` +
      `;nonce="n";keyid="${testThumbprint}";alg="ed25519";tag="${tag}"`;
    const signature = sign(null, signatureBase(sent, covered, parameters), { key: { ...testKey }, format: "jwk" });
    const headers = {
      "Signature-Input": `sig1=${parameters}`,
      Signature: `sig1=:${signature.toString("base64")}:`,
    };
    expect(await check(withHeaders(sent, headers))).toMatchObject({ ok });
  });
});

describe("the signatures directory", () => {
  it("publishes every public key under its thumbprint and nothing private", async () => {
    const both = await loadSigningKeys(JSON.stringify({ keys: [testKey, otherKey] }));
    const { d: _, ...publicJwk } = testKey;
    expect(signaturesDirectory(both)).toEqual({
      keys: [
        { ...publicJwk, kid: testThumbprint, alg: "EdDSA", use: "sig" },
        expect.objectContaining({ x: otherKey.x, kid: both.all[1]?.thumbprint }),
      ],
    });
  });
});
