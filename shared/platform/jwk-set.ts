import { createPrivateKey, createPublicKey } from "node:crypto";
import * as z from "zod";

// 32 bytes are 43 characters whose last carries two zero bits. Another spelling of the same key
// would have another thumbprint, so only the canonical one is taken.
const bytes32 = (name: string) =>
  z.string({ error: `${name} is missing` }).regex(/^[\w-]{42}[AEIMQUYcgkosw048]$/, {
    error: `${name} is not 32 bytes in base64url`,
    abort: true,
  });

const Jwk = z
  .object(
    {
      kty: z.literal("OKP", { error: "kty is not OKP" }),
      crv: z.literal("Ed25519", { error: "crv is not Ed25519" }),
      x: bytes32("x"),
      d: bytes32("d").optional(),
    },
    { error: "is not an object" },
  )
  .refine(belongsTogether, { error: "d is not the private half of x" });
/** A key of a private JWK set. */
export type Jwk = z.output<typeof Jwk>;

const JwkSet = z
  .object(
    {
      keys: z.array(Jwk, { error: "has no array `keys`" }).min(1, { error: "has no key" }),
    },
    { error: "is not an object" },
  )
  .superRefine(({ keys }, context) => {
    if (keys[0] !== undefined && keys[0].d === undefined) context.addIssue("key 0 must sign and has no d");
    const repeated = keys.findIndex(({ x }, index) => keys.findIndex((other) => other.x === x) < index);
    if (repeated !== -1) context.addIssue(`key ${repeated} stands in the set twice`);
  });

// A mixed pair would sign what nobody can verify, and workerd imports it as WebCrypto without a word.
function belongsTogether({ d, ...jwk }: { kty: string; crv: string; x: string; d?: string | undefined }): boolean {
  if (d === undefined) return true;
  try {
    const privateKey = createPrivateKey({ key: { ...jwk, d }, format: "jwk" });
    return createPublicKey(privateKey).export({ format: "jwk" }).x === jwk.x;
  } catch {
    return false;
  }
}

/**
 * The keys of a private JWK set whose first signs, or what is wrong with it, by each key's place and without any of its
 * content.
 */
export function readJwkSet(json: string): { keys: Jwk[] } | { faults: string[] } {
  const value = parse(json);
  if (value === undefined) return { faults: ["is not JSON"] };
  const set = JwkSet.safeParse(value);
  return set.success ? set.data : { faults: set.error.issues.map(({ path, message }) => describe(path, message)) };
}

/** A set of one key, which is given as text. */
export function setOf(jwkJson: string): string {
  return `{"keys":[${jwkJson}]}`;
}

/** The setting of the keys that sign, as it is validated. */
export const SIGNING_KEYS_SETTING = z.string().superRefine((text, context) => {
  const read = readJwkSet(text);
  if ("faults" in read) context.addIssue(`${read.faults.join("; ")} (npm run keys)`);
});

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // The parser's own message quotes its input.
    return undefined;
  }
}

function describe([, index]: PropertyKey[], message: string): string {
  return index === undefined ? message : `key ${String(index)}: ${message}`;
}
