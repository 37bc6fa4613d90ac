import { Buffer } from "node:buffer";
import { HASH_BYTES } from "./hash.ts";

/** What a checkpoint says (C2SP tlog-checkpoint). */
export interface Checkpoint {
  /** The name of the log: where it is reached, without the scheme. */
  origin: string;
  size: number;
  root: Buffer;
}

/** The text of a checkpoint, to be signed as a note. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${root.toString("base64")}\n`;
}

/** Reads the text of a checkpoint. @throws RangeError for a text that is none. */
export function parseCheckpoint(text: string): Checkpoint {
  const [, origin = "", size = "", encoded = ""] = /^(.+)\n(0|[1-9]\d{0,15})\n([\w+/]+=*)\n(?:.+\n)*$/.exec(text) ?? [];
  const root = Buffer.from(encoded, "base64");
  if (root.length !== HASH_BYTES) throw new RangeError("not the text of a checkpoint");
  return { origin, size: Number(size), root };
}
