import { createHash } from "node:crypto";
import { commit } from "../../../shared/evidence/commitment.ts";
import { jwks, keyId } from "../../../shared/evidence/did.ts";
import { signStatement } from "../../../shared/evidence/sign.ts";
import { buildStatement, type Credential } from "../../../shared/evidence/statement.ts";
import { loadSigningKeys } from "../../../shared/platform/keys.ts";
import { verifierKey } from "../../../shared/tlog/note.ts";
import { type Get, NotThere } from "../../../shared/verify/log.ts";
import { forge } from "../../integration/transparency/support.ts";
import { leafOf, treeHash } from "../../integration/transparency/verifier.ts";
import { BASE_URL, keys, kid, passedRun } from "../evidence/fixtures.ts";

/** The key of the log, and that of somebody else: the pairs of RFC 8032, section 7.1, tests 2 and 3. */
export const LOG_JWK = jwkOf(
  "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
  "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
);
export const OTHER_JWK = jwkOf(
  "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
  "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
);
export const ORIGIN = "screening.example/log";
export const NOON = new Date("2026-11-21T12:00:00.000Z");

function jwkOf(secret: string, publicKey: string): { kty: string; crv: string; d: string; x: string } {
  const [d = "", x = ""] = [secret, publicKey].map((half) => Buffer.from(half, "hex").toString("base64url"));
  return { kty: "OKP", crv: "Ed25519", d, x };
}

/** The pinned key of a log. */
export const pinned = ({ x }: { x: string }, name = ORIGIN): string =>
  verifierKey({ name, publicKey: Buffer.from(x, "base64url") });

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A statement as the service signs it, or as somebody with another key does. */
export async function signed(statement: Credential, jwk?: object): Promise<string> {
  if (jwk === undefined) return signStatement(statement, keys.active, kid);
  const others = await loadSigningKeys(JSON.stringify({ keys: [jwk] }));
  return signStatement(statement, others.active, keyId(BASE_URL, others.active));
}

/** The path from an entry to the root, by RFC 6962, section 2.1.1, as it is defined there. */
function path(index: number, leaves: readonly Buffer[]): Buffer[] {
  if (leaves.length === 1) return [];
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  return index < k ? [...path(index, left), treeHash(right)] : [...path(index - k, right), treeHash(left)];
}

/** A log of these entries, as its paths below the root of a service. */
export function logOf(entries: readonly string[], jwk: object = LOG_JWK, origin = ORIGIN): Get {
  const read = forge(entries, JSON.stringify(jwk), origin);
  return async (at) => Uint8Array.from(await read(at.replace("/log/", "")));
}

/** The proof that a log has the entry at this place, under a checkpoint of these entries. */
export async function proofIn(entries: readonly string[], index: number, log = logOf(entries)): Promise<string> {
  const hashes = path(
    index,
    entries.map((entry) => leafOf(Buffer.from(entry))),
  );
  const checkpoint = Buffer.from(await log("/log/checkpoint")).toString();
  return `c2sp.org/tlog-proof@v1\nindex ${index}\n${hashes.map((hash) => `${hash.toString("base64")}\n`).join("")}\n${checkpoint}`;
}

/** What a service serves of one run; each member can be forged. */
export interface Served {
  jwks: { keys: object[] };
  logKey: string;
  jws: string;
  proof: string | null;
  output: object | null;
  /** The log as it is now. */
  log: Get;
}

const noise = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, at) => `{"n":${from + at}}`);

/** The entries of the honest log: as they were when the proof was made, and as they are now. */
export const entriesWith = (jws: string): { before: string[]; now: string[]; index: number } => {
  const before = [...noise(0, 300), `{"kind":"run","sha256":"${sha256(jws)}"}`, ...noise(300, 520)];
  return { before, now: [...before, ...noise(520, 777)], index: 300 };
};

/** The statement of the run, which commits to a request and an answer. */
export async function statementOfRun(): Promise<{ statement: Credential; output: object }> {
  const [request, answer] = [Buffer.from('{"task":{"prompt":"6 × 7?"}}'), Buffer.from('{"output":"42"}')];
  const committed = await Promise.all([commit(request), commit(answer)]);
  const opened = [request, answer].map((bytes, at) => ({
    body_base64: bytes.toString("base64"),
    salt: Buffer.from(committed[at]?.salt ?? []).toString("hex"),
  }));
  const commitments = { request: committed[0].digest, response: committed[1].digest };
  return {
    statement: buildStatement({ ...passedRun, commitments }),
    output: { output: "42", request: opened[0], response: opened[1] },
  };
}

/** An honest service. */
export async function honest(): Promise<Served> {
  const { statement, output } = await statementOfRun();
  const jws = await signed(statement);
  const { before, now, index } = entriesWith(jws);
  return {
    jwks: { keys: jwks(BASE_URL, keys).keys },
    logKey: pinned(LOG_JWK),
    jws,
    proof: await proofIn(before, index),
    output,
    log: logOf(now),
  };
}

/** Reads what is served. */
export function readerOf({ jwks: set, logKey, jws, proof, output, log }: Served): Get {
  const run = `/api/v1/runs/${passedRun.run.id}`;
  const files: Record<string, string | null> = {
    "/.well-known/jwks.json": JSON.stringify(set),
    "/log/key": `${logKey}\n`,
    [`${run}/evidence`]: JSON.stringify({ jws, log: proof === null ? null : { index: 0, proof } }),
    [`${run}/evidence?format=tlog-proof`]: proof,
    [`${run}/output`]: output === null ? null : JSON.stringify(output),
  };
  return async (at) => {
    const file = files[at];
    if (file === null) throw new NotThere(`${at} answers 404`);
    return file === undefined ? log(at) : new Uint8Array(Buffer.from(file));
  };
}

export { BASE_URL, keys, kid, passedRun };
