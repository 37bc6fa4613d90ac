import { type Bytes, concat, fromBase64, hex, sha256, utf8 } from "./bytes.ts";
import { isSigned } from "./key.ts";
import { Refused, type Trail } from "./trail.ts";

/** A state of a log (C2SP tlog-checkpoint) that the log's key signed. */
export interface Checkpoint {
  origin: string;
  size: number;
  root: Bytes;
}

/** The byte that stands for Ed25519 in signed notes. */
const ED25519 = 1;

/** The step `checkpoint`: a signed note by the key `name+hash+key`, of the log that bears the key's name. */
export async function checkCheckpoint(trail: Trail, note: string, key: string): Promise<Checkpoint> {
  return trail.go("checkpoint", { "key of the log": key.trim(), checkpoint: note }, async () => {
    const checkpoint = await openCheckpoint(note, key);
    return [`${checkpoint.origin} has ${checkpoint.size} entries in it.`, checkpoint];
  });
}

/** Opens a checkpoint. @throws Refused for what is none, and where the key did not sign it. */
export async function openCheckpoint(note: string, key: string): Promise<Checkpoint> {
  const [, name = "", id = "", encoded = ""] = /^([^\s+]+)\+([0-9a-f]{8})\+([\w+/]+=*)$/.exec(key.trim()) ?? [];
  const bytes = fromBase64(encoded);
  if (bytes?.length !== 33 || bytes[0] !== ED25519 || (await keyId(name, bytes)) !== id) {
    throw new Refused("The key of the log is none: it looks like name+hash+key.");
  }
  const end = note.lastIndexOf("\n\n") + 1;
  const text = note.slice(0, end);
  if (end === 0) throw new Refused("It is no signed note.");
  const signatures = note
    .slice(end + 1)
    .split("\n")
    .map((line) => /^\u2014 (\S+) (\S+)$/.exec(line))
    .filter((found) => found?.[1] === name)
    .map((found) => fromBase64(found?.[2] ?? ""))
    .filter((one) => one !== null)
    .filter((one) => hex(one.slice(0, 4)) === id);
  const held = await Promise.all(signatures.map((one) => isSigned(bytes.slice(1), one.slice(4), utf8(text))));
  if (held.length === 0 || held.includes(false)) throw new Refused(`It is not signed by the key of ${name}.`);
  const [, origin = "", size = "", root = ""] = /^(.+)\n(0|[1-9]\d{0,14})\n([\w+/]+=*)\n(?:.+\n)*$/.exec(text) ?? [];
  const hash = fromBase64(root);
  if (hash?.length !== 32) throw new Refused("It does not say how many entries the log has, and their root.");
  if (origin !== name) throw new Refused(`It is of another log, ${origin}.`);
  return { origin, size: Number(size), root: hash };
}

async function keyId(name: string, key: Bytes): Promise<string> {
  return hex((await sha256(concat(utf8(`${name}\n`), key))).slice(0, 4));
}
