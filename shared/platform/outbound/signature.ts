import { createHash } from "node:crypto";
import { component, createSignature, type RequestDescriptor, verifySignature, webcrypto } from "http-message-sig";
import { type CryptoKey, calculateJwkThumbprint } from "jose";
import { randomToken, safeEqual } from "../crypto.ts";
import type { PublicJwk, PublishedJwk, SigningKey, SigningKeys } from "../keys.ts";

const LABEL = "sig1";
const TAG = "web-bot-auth";
const ALGORITHM = "ed25519";
const MAX_LIFETIME_S = 60;
const NONCE_BYTES = 64;
const COMPONENTS = [
  "@method",
  "@target-uri",
  "content-type",
  "content-digest",
  component("signature-agent", { key: LABEL }),
];

/** Media type of the directory at `/.well-known/http-message-signatures-directory`. */
export const SIGNATURES_DIRECTORY_TYPE = "application/http-message-signatures-directory+json";

/** A request as it is sent: the URL absolute, every header as it stands, the body as bytes or UTF-8 text. */
export interface SignableRequest {
  method: string;
  url: string;
  headers: Headers | Record<string, string>;
  body: string | Uint8Array;
}

/** When and in whose name a request is signed. */
export interface SigningOptions {
  now: Date;
  /** The service's base URL; its origin serves the directory of keys. */
  agentUrl: string;
  /** Unique for each request; 64 random bytes in base64url unless given. */
  nonce?: string;
  /** Seconds that the signature is good for, 1 to 60. */
  expiresInS?: number;
}

/** What a signed request was proven to carry, or why it was not. */
export type RequestVerdict = { ok: true; keyid: string; nonce: string } | { ok: false; reason: string };

/**
 * Signs a request by RFC 9421 with Ed25519 in the Web Bot Auth profile (draft-ietf-webbotauth-httpsig-protocol), and
 * binds its body by Content-Digest (RFC 9530, sha-256). Covered: method, target URI, Content-Type, Content-Digest and
 * our member of Signature-Agent.
 *
 * @returns the headers to add.
 * @throws RangeError for a lifetime outside 1 to 60 s, SignatureError for a request without Content-Type.
 */
export async function signRequest(
  request: SignableRequest,
  key: Pick<SigningKey, "privateKey" | "thumbprint">,
  { now, agentUrl, nonce = randomToken(NONCE_BYTES), expiresInS = MAX_LIFETIME_S }: SigningOptions,
): Promise<Record<string, string>> {
  if (!(expiresInS >= 1 && expiresInS <= MAX_LIFETIME_S)) throw new RangeError("expiresInS must be 1 to 60");
  const created = Math.floor(now.getTime() / 1000);
  const added = {
    "Content-Digest": contentDigest(request.body),
    "Signature-Agent": `${LABEL}="${new URL(agentUrl).origin}"`,
  };
  const { signature, signatureInput } = await createSignature(describe(request, added), {
    label: LABEL,
    components: COMPONENTS,
    parameters: {
      created,
      expires: created + Math.floor(expiresInS),
      nonce,
      keyid: key.thumbprint,
      alg: ALGORITHM,
      tag: TAG,
    },
    signer: webcrypto.signer(key.privateKey),
  });
  return { ...added, "Signature-Input": signatureInput, Signature: signature };
}

/**
 * Checks what `signRequest` promises, as a receiver would: the body against its digest, all five components covered,
 * not expired nor longer-lived than 60 s, made by one of the keys (found by RFC 7638 thumbprint, whatever their `kid`).
 * Whether the nonce is new is for the caller to say. Never rejects.
 */
export async function verifyRequest(
  request: SignableRequest,
  jwks: { keys: readonly PublicJwk[] },
  { now, clockSkewS = 0 }: { now: Date; clockSkewS?: number },
): Promise<RequestVerdict> {
  try {
    const digest = new Headers(request.headers).get("content-digest") ?? "";
    if (!safeEqual(digest, contentDigest(request.body))) {
      return { ok: false, reason: "Content-Digest does not match the body" };
    }
    const { parameters } = await verifySignature(describe(request), {
      label: LABEL,
      policy: {
        algorithms: [ALGORITHM],
        requiredComponents: COMPONENTS,
        requiredParameters: ["created", "expires", "nonce", "keyid", "alg", "tag"],
        clockSkew: clockSkewS,
        now: Math.floor(now.getTime() / 1000),
        validate: ({ parameters: { tag, created = 0, expires = Infinity } }) =>
          tag === TAG && expires - created <= MAX_LIFETIME_S,
      },
      resolveVerifier: async ({ parameters: { keyid } }) => webcrypto.verifier(await findKey(jwks.keys, keyid)),
    });
    return { ok: true, keyid: parameters.keyid ?? "", nonce: parameters.nonce ?? "" };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : "The signature could not be read" };
  }
}

/** The JWK set for the signatures directory: every public key, its `kid` the thumbprint that `keyid` carries. */
export function signaturesDirectory(keys: SigningKeys): { keys: PublishedJwk[] } {
  return { keys: keys.publicJwks() };
}

function contentDigest(body: string | Uint8Array): string {
  return `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;
}

/** The target URI is the normal form of the URL, as fetch sends it. */
function describe(request: SignableRequest, added: Record<string, string> = {}): RequestDescriptor {
  const headers = new Headers(request.headers);
  for (const [name, value] of Object.entries(added)) headers.set(name, value);
  const fields = [...headers].map(([name, value]) => ({ name, value }));
  return { kind: "request", method: request.method, targetUri: new URL(request.url).href, fields };
}

async function findKey(keys: readonly PublicJwk[], keyid: string | undefined): Promise<CryptoKey> {
  for (const { kty, crv, x } of keys) {
    if ((await calculateJwkThumbprint({ kty, crv, x })) === keyid) {
      return crypto.subtle.importKey("jwk", { kty, crv, x }, "Ed25519", false, ["verify"]);
    }
  }
  throw new Error("The key is not in the set");
}
