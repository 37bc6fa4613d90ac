import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isoCBOR } from "@simplewebauthn/server/helpers";

/** What an authenticator and its browser answer differently from what they were asked; each is a fault, or an attack. */
export interface Twist {
  challenge?: string;
  origin?: string;
  rpId?: string;
  type?: string;
  /** How the authenticator attests itself, in place of not at all. */
  format?: string;
  verified?: boolean;
  counter?: number;
  /** Whose account the authenticator says that the passkey is of. */
  userHandle?: string;
  /** Under which name the passkey is presented. */
  id?: string;
  /** Changes the signed bytes after they were signed. */
  tampered?: boolean;
}

interface Creation {
  challenge: string;
  rp: { id: string };
  user: { id: string };
}

interface Request {
  challenge: string;
  rpId: string;
}

interface Credential {
  id: string;
  rpId: string;
  userHandle: string;
  key: KeyObject;
}

const sha256 = (data: string | Buffer): Buffer => createHash("sha256").update(data).digest();
const base64url = (data: string | Buffer): string => Buffer.from(data).toString("base64url");

/** What the browser says of a request, as it is signed. */
function clientData(type: string, challenge: string, origin: string): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
}

/** The authenticator's own data (WebAuthn section 6.1), without what a new credential adds. */
function authData(rpId: string, verified: boolean, counter: number, attested: boolean): Buffer {
  const data = Buffer.alloc(37);
  sha256(rpId).copy(data);
  data.writeUInt8(0x01 | (verified ? 0x04 : 0) | (attested ? 0x40 : 0), 32);
  data.writeUInt32BE(counter, 33);
  return data;
}

/** A P-256 public key as COSE writes it (RFC 9053 section 7.1.1). */
function cose(key: KeyObject): Buffer {
  const { x = "", y = "" } = key.export({ format: "jwk" });
  return Buffer.from(
    isoCBOR.encode(
      new Map<number, number | Uint8Array>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Uint8Array.from(Buffer.from(x, "base64url"))],
        [-3, Uint8Array.from(Buffer.from(y, "base64url"))],
      ]),
    ),
  );
}

/**
 * An authenticator in software, and the browser that it is used in at `origin`: it makes one passkey and answers by it, as
 * it is asked to, or with a twist. `counts` tells whether it counts its uses.
 */
export function newAuthenticator(origin: string, { counts = false }: { counts?: boolean } = {}) {
  let credential: Credential | null = null;
  let uses = 0;
  return {
    /** The answer to creation options, as `toJSON()` gives it. */
    create({ challenge, rp, user }: Creation, twist: Twist = {}) {
      const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const id = twist.id ?? base64url(randomBytes(32));
      credential = { id, rpId: rp.id, userHandle: user.id, key: privateKey };
      const client = clientData(twist.type ?? "webauthn.create", twist.challenge ?? challenge, twist.origin ?? origin);
      const raw = Buffer.from(id, "base64url");
      const length = Buffer.alloc(2);
      length.writeUInt16BE(raw.length);
      const data = authData(twist.rpId ?? rp.id, twist.verified ?? true, twist.counter ?? uses, true);
      const whole = Buffer.concat([data, Buffer.alloc(16), length, raw, cose(publicKey)]);
      const attestation = isoCBOR.encode(
        new Map<string, string | Uint8Array | Map<never, never>>([
          ["fmt", twist.format ?? "none"],
          ["attStmt", new Map<never, never>()],
          ["authData", Uint8Array.from(whole)],
        ]),
      );
      return {
        id,
        rawId: id,
        type: "public-key",
        authenticatorAttachment: "platform",
        clientExtensionResults: {},
        response: {
          clientDataJSON: base64url(client),
          attestationObject: base64url(Buffer.from(attestation)),
          transports: ["internal"],
        },
      };
    },
    /** The answer to request options, as `toJSON()` gives it. */
    get({ challenge, rpId }: Request, twist: Twist = {}) {
      if (credential === null) throw new Error("this authenticator has no passkey");
      if (counts) uses += 1;
      const client = clientData(twist.type ?? "webauthn.get", twist.challenge ?? challenge, twist.origin ?? origin);
      const data = authData(twist.rpId ?? rpId, twist.verified ?? true, twist.counter ?? uses, false);
      const signature = sign("sha256", Buffer.concat([data, sha256(client)]), credential.key);
      if (twist.tampered === true) data.writeUInt32BE(uses + 5, 33);
      const id = twist.id ?? credential.id;
      return {
        id,
        rawId: id,
        type: "public-key",
        clientExtensionResults: {},
        response: {
          clientDataJSON: base64url(client),
          authenticatorData: base64url(data),
          signature: base64url(signature),
          userHandle: twist.userHandle ?? credential.userHandle,
        },
      };
    },
  };
}
