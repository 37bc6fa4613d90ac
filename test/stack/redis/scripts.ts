import { createHash } from "node:crypto";
import { RespError, type RespValue } from "./resp.ts";

type Command = readonly string[];

/** Translates between callers that send scripts with Upstash's `#!lua` line and a Redis that does not know its flags. */
export interface Scripts {
  /** The command to send to Redis: scripts without that line, hashes of such scripts as Redis knows them. */
  toRedis(command: Command): Command;
  /** The reply for the caller of `command`: the hash of a loaded script is that of the text which the caller sent. */
  fromRedis(command: Command, reply: RespValue): RespValue;
}

/** A translator that knows no script yet: a hash it has not seen the text of passes as it is, and gets NOSCRIPT. */
export function createScripts(): Scripts {
  const bareHashes = new Map<string, string>();

  function strip(script: string): string {
    // The line stays, empty, so that the line numbers in errors stay right.
    const bare = script.replace(/^#!lua.*/, "");
    if (bare !== script) bareHashes.set(sha1(script), sha1(bare));
    return bare;
  }

  const known = (hash: string) => bareHashes.get(hash.toLowerCase()) ?? hash;

  return {
    toRedis(command) {
      const [name = "", first = "", ...rest] = command;
      if (/^EVAL(_RO)?$/i.test(name)) return [name, strip(first), ...rest];
      if (/^EVALSHA(_RO)?$/i.test(name)) return [name, known(first), ...rest];
      if (isLoad(command)) return [name, first, ...rest.map(strip)];
      if (/^SCRIPT$/i.test(name) && /^EXISTS$/i.test(first)) return [name, first, ...rest.map(known)];
      return command;
    },
    fromRedis: (command, reply) => (isLoad(command) && !(reply instanceof RespError) ? sha1(command[2] ?? "") : reply),
  };
}

function isLoad([name = "", verb = ""]: Command): boolean {
  return /^SCRIPT$/i.test(name) && /^LOAD$/i.test(verb);
}

function sha1(text: string): string {
  return createHash("sha1").update(text).digest("hex");
}
