/**
 * A verifier of logs, written from RFC 6962 and the C2SP texts (tlog-tiles, tlog-checkpoint, signed-note, tlog-proof)
 * alone: it shares no code with the service. All of it throws for what does not hold.
 */
import { createHash, createPublicKey, verify } from "node:crypto";

/** A checkpoint whose signature holds. */
export interface Opened {
  origin: string;
  size: number;
  root: Buffer;
}

/** Gives the bytes at a path below the log's prefix. */
export type Get = (path: string) => Promise<Buffer>;

const H = (...parts: Buffer[]): Buffer => createHash("sha256").update(Buffer.concat(parts)).digest();

function demand(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

/** MTH of RFC 6962, section 2.1, over the hashes of leaves, as it is defined there. */
export function treeHash(leaves: readonly Buffer[]): Buffer {
  const [only] = leaves;
  if (only === undefined) return H();
  if (leaves.length === 1) return only;
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  return H(Buffer.from([1]), treeHash(leaves.slice(0, k)), treeHash(leaves.slice(k)));
}

export const leafOf = (entry: Buffer): Buffer => H(Buffer.from([0]), entry);

/** Opens a checkpoint that the key of this verifier text has to have signed. */
export function openCheckpoint(note: string, vkey: string): Opened {
  const [name = "", id = "", key = ""] = vkey.trim().split("+", 2).concat(vkey.trim().split("+").slice(2).join("+"));
  const raw = Buffer.from(key, "base64");
  demand(raw.length === 33 && raw[0] === 1, "the verifier key is not of Ed25519");
  demand(
    H(Buffer.from(`${name}\n`), raw)
      .toString("hex")
      .slice(0, 8) === id,
    "the verifier key has another hash",
  );
  const split = note.lastIndexOf("\n\n");
  demand(split >= 0 && note.endsWith("\n"), "the checkpoint is no note");
  const text = note.slice(0, split + 1);
  const spki = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), raw.subarray(1)]);
  const publicKey = createPublicKey({ key: spki, format: "der", type: "spki" });
  const signed = note
    .slice(split + 2, -1)
    .split("\n")
    .map((line) => /^— (\S+) (\S+)$/.exec(line))
    .filter((match) => match?.[1] === name)
    .map((match) => Buffer.from(match?.[2] ?? "", "base64"))
    .filter((bytes) => bytes.toString("hex").startsWith(id));
  demand(signed.length > 0, "the log's key did not sign the checkpoint");
  demand(
    signed.every((bytes) => verify(null, Buffer.from(text), publicKey, bytes.subarray(4))),
    "the signature of the checkpoint does not hold",
  );
  const [origin = "", size = "", root = ""] = text.split("\n");
  demand(origin === name, "the checkpoint is of another log");
  demand(/^(?:0|[1-9]\d*)$/.test(size), "the size is no number");
  demand(Buffer.from(root, "base64").length === 32, "the root is no hash");
  return { origin, size: Number(size), root: Buffer.from(root, "base64") };
}

function pathOf(index: number): string {
  const groups: string[] = [];
  for (let rest = index; groups.length === 0 || rest > 0; rest = Math.floor(rest / 1000))
    groups.unshift(`${groups.length === 0 ? "" : "x"}${String(rest % 1000).padStart(3, "0")}`);
  return groups.join("/");
}

async function ofTiles(get: Get, kind: string, count: number): Promise<Buffer[]> {
  const tiles: Buffer[] = [];
  for (let index = 0; index * 256 < count; index += 1) {
    const width = Math.min(256, count - index * 256);
    tiles.push(await get(`tile/${kind}/${pathOf(index)}${width < 256 ? `.p/${width}` : ""}`));
  }
  return tiles;
}

/**
 * Reads the whole log and returns its entries: those lead to the root that the log signed, every tile is what they make of
 * it, and each earlier checkpoint is of a beginning of the log.
 */
export async function audit(get: Get, vkey: string, earlier: readonly string[] = []): Promise<string[]> {
  const { size, root } = openCheckpoint((await get("checkpoint")).toString(), vkey);
  const entries: Buffer[] = [];
  for (const bundle of await ofTiles(get, "entries", size)) {
    for (let at = 0; at < bundle.length; ) {
      const length = bundle.readUInt16BE(at);
      demand(at + 2 + length <= bundle.length, "a bundle is cut off");
      entries.push(bundle.subarray(at + 2, at + 2 + length));
      at += 2 + length;
    }
  }
  demand(entries.length === size, `there are ${entries.length} entries for a size of ${size}`);
  const leaves = entries.map(leafOf);
  demand(treeHash(leaves).equals(root), "the entries do not lead to the root");
  for (let level = 0, hashes = leaves; hashes.length > 0; level += 1) {
    const served = await ofTiles(get, String(level), hashes.length);
    demand(Buffer.concat(served).equals(Buffer.concat(hashes)), `the tiles of level ${level} are others`);
    hashes = Array.from({ length: Math.floor(hashes.length / 256) }, (_, index) =>
      treeHash(leaves.slice(index * 256 ** (level + 1), (index + 1) * 256 ** (level + 1))),
    );
  }
  for (const note of earlier) {
    const before = openCheckpoint(note, vkey);
    demand(before.size <= size, "the log shrank");
    demand(treeHash(leaves.slice(0, before.size)).equals(before.root), "the log was forked");
  }
  return entries.map(String);
}

/** Checks offline, by the log's key alone, that a log has this entry; returns its place. */
export function verifyProof(text: string, entry: string, vkey: string): number {
  const end = text.indexOf("\n\n");
  const [first, second = "", ...lines] = text
    .slice(0, end)
    .replace(/\nextra [\w+/=]+/, "")
    .split("\n");
  demand(first === "c2sp.org/tlog-proof@v1", "not a proof");
  const index = Number(/^index (0|[1-9]\d*)$/.exec(second)?.[1]);
  const { size, root } = openCheckpoint(text.slice(end + 2), vkey);
  demand(index < size, "the entry lies beyond the checkpoint");
  const path = lines.map((line) => Buffer.from(line, "base64"));
  demand(provenRoot(index, size, leafOf(Buffer.from(entry)), path).equals(root), "the proof does not lead to the root");
  return index;
}

/** The root that a proof of inclusion leads to, by RFC 9162, section 2.1.3.2. */
export function provenRoot(index: number, size: number, leaf: Buffer, path: readonly Buffer[]): Buffer {
  let [fn, sn, r] = [index, size - 1, leaf];
  for (const p of path) {
    demand(sn !== 0, "the proof is too long");
    if (fn % 2 === 1 || fn === sn) {
      r = H(Buffer.from([1]), p, r);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
    } else r = H(Buffer.from([1]), r, p);
    [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
  }
  demand(sn === 0, "the proof is too short");
  return r;
}
