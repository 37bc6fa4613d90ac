import { type Bytes, concat, fromBase64url, textOf } from "./bytes.ts";
import type { Get } from "./log.ts";
import { checkStatement } from "./statement.ts";
import { Refused, reportOf, type Statement, type Trail } from "./trail.ts";

/** The least length of a list (Bitstring Status List v1.0). */
const LEAST_BITS = 131_072;

/**
 * The step `status`: the bit of the credential in its list (Bitstring Status List v1.0) is not set; the list is its issuer's
 * own, whoever else the same keys are of, in force at `now`, and lies where the issuer is reached.
 */
export async function checkStatus(
  trail: Trail,
  { credentialStatus, issuer }: Statement,
  jwks: string,
  now: Date,
  get: Get,
): Promise<void> {
  const { type, statusPurpose, statusListIndex, statusListCredential } = credentialStatus ?? {};
  const inputs = { list: String(statusListCredential), place: String(statusListIndex), purpose: String(statusPurpose) };
  await trail.go("status", inputs, async () => {
    const place = Number(/^\d{1,9}$/.exec(inputs.place)?.[0]);
    const url = URL.canParse(inputs.list) ? new URL(inputs.list) : null;
    if (type !== "BitstringStatusListEntry" || inputs.purpose !== "revocation" || url === null || Number.isNaN(place)) {
      throw new Refused("It does not say where its status is found, in a way that is known here.");
    }
    if (issuer !== `did:web:${encodeURIComponent(url.host)}`) throw new Refused("Its list lies with somebody else.");
    const bits = await bitsOf(
      textOf(await get(url.pathname, "application/vc+jwt")).trim(),
      inputs.list,
      issuer,
      jwks,
      now,
    );
    if (place >= bits.length * 8) throw new Refused("Its place lies beyond the list.");
    if (((bits[Math.floor(place / 8)] ?? 0) & (0x80 >> (place % 8))) !== 0) throw new Refused("It has been revoked.");
    return ["Its bit is not set.", null];
  });
}

async function bitsOf(jws: string, id: string, issuer: string, jwks: string, now: Date): Promise<Bytes> {
  const list = await reportOf(async (trail) => void (await checkStatement(trail, jws, jwks)));
  const { statement, steps } = list;
  if (statement === null) throw new Refused(`The list does not verify: ${steps.at(-1)?.detail}`);
  if (statement.issuer !== issuer) throw new Refused(`The list is ${statement.issuer}'s, and not the issuer's own.`);
  const { encodedList, type } = statement.credentialSubject;
  if (statement.id !== id || type !== "BitstringStatusList" || typeof encodedList !== "string") {
    throw new Refused("What lies there is another credential.");
  }
  if (statement.validUntil !== null && Date.parse(statement.validUntil) <= now.getTime()) {
    throw new Refused("The list has expired: it may be from before a revocation.");
  }
  const zipped = encodedList.startsWith("u") ? fromBase64url(encodedList.slice(1)) : null;
  if (zipped === null) throw new Refused("The list is not in base64url.");
  const bits = await unzipped(zipped);
  if (bits.length * 8 < LEAST_BITS) throw new Refused("The list is shorter than it may be.");
  return bits;
}

async function unzipped(bytes: Bytes): Promise<Bytes> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const pieces: Bytes[] = [];
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return concat(...pieces);
    pieces.push(Uint8Array.from(value));
  }
}
