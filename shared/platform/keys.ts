import { type CryptoKey, calculateJwkThumbprint, importJWK } from "jose";
import { type Jwk, readJwkSet, setOf } from "./jwk-set.ts";

/** A public Ed25519 key as RFC 8037 writes it: the members of the RFC 7638 thumbprint and nothing else. */
export interface PublicJwk {
  kty: "OKP";
  crv: "Ed25519";
  /** The 32 bytes of the public key in base64url. */
  x: string;
}

/** A public key as a JWK set publishes it. */
export interface PublishedJwk extends PublicJwk {
  kid: string;
  alg: "EdDSA";
  use: "sig";
}

/** A key whose signatures can be verified. A retired key may be no more than this. */
export interface VerificationKey {
  /** RFC 7638 JWK thumbprint: SHA-256 in base64url. */
  thumbprint: string;
  publicKey: CryptoKey;
  publicJwk: PublicJwk;
}

/** A key that also signs; its private half cannot be exported again. */
export interface SigningKey extends VerificationKey {
  privateKey: CryptoKey;
}

/** The service's Ed25519 keys. */
export interface SigningKeys {
  /** The first key of the set: the only one that signs. */
  active: SigningKey;
  /** Every key in the order of the set, `active` first: what any of them signed stays verifiable. */
  all: VerificationKey[];
  /** The public half of `all` for publication; `kid` is the thumbprint unless `kidOf` says otherwise. */
  publicJwks(kidOf?: (key: VerificationKey) => string): PublishedJwk[];
}

/**
 * Loads the service's keys from a private JWK set (RFC 7517 section 5, RFC 8037): every key is Ed25519, the first signs,
 * all are published. A key without `d` may stand anywhere but first. Other members of a key are ignored.
 *
 * @throws Error that lists what is wrong by the key's place in the set and never quotes any of its content.
 */
export async function loadSigningKeys(jwkSetJson: string): Promise<SigningKeys> {
  const set = readJwkSet(jwkSetJson);
  if ("faults" in set) throw refusal(set.faults);
  const all = await Promise.all(set.keys.map(load));
  const [active] = all;
  if (!active || !("privateKey" in active)) throw refusal(["key 0 must sign and has no d"]);

  return {
    active,
    all,
    publicJwks: (kidOf = (key) => key.thumbprint) =>
      all.map((key) => ({ ...key.publicJwk, kid: kidOf(key), alg: "EdDSA", use: "sig" })),
  };
}

/**
 * Loads the one key of a setting, a private JWK of Ed25519, to the same standard.
 *
 * @throws Error that names the setting and what is wrong with it, and quotes nothing.
 */
export async function loadSigningKey(setting: string, jwkJson: string): Promise<SigningKey> {
  try {
    const { active } = await loadSigningKeys(setOf(jwkJson));
    return active;
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    throw new Error(reason.replace(/^SIGNING_KEYS: (?:key 0:? )?/, `${setting}: `), { cause: error });
  }
}

async function load(jwk: Jwk, index: number): Promise<VerificationKey | SigningKey> {
  const { d, ...publicJwk } = jwk;
  const publicKey = await importJWK(publicJwk, "EdDSA").catch(() => null);
  if (!publicKey) throw refusal([`key ${index}: x is not a public key`]);
  const key = { thumbprint: await calculateJwkThumbprint(publicJwk), publicKey, publicJwk };
  if (d === undefined) return key;

  return { ...key, privateKey: await importJWK({ ...publicJwk, d }, "EdDSA") };
}

function refusal(reasons: string[]): Error {
  return new Error(`SIGNING_KEYS: ${reasons.join("; ")}`);
}
