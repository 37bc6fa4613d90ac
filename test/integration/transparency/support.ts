import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";
import type { TestService } from "../../stack/service.ts";
import { type Get, leafOf, treeHash } from "./verifier.ts";

let callers = 0;

/** Reads a service's log over HTTP, each time from an address of its own, so that no limit is shared. */
export function reader({ url }: Pick<TestService, "url">): Get {
  return async (path) => {
    callers += 1;
    const headers = { "cf-connecting-ip": `10.91.${(callers >> 8) & 255}.${callers & 255}` };
    const response = await fetch(`${url}/log/${path}`, { headers });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${bytes.toString()}`);
    return bytes;
  };
}

/** Puts so many entries of no meaning into the log's queue. */
export async function addEntries({ sql }: Pick<TestService, "sql">, count: number): Promise<void> {
  await sql(
    `insert into log_entries (entry) select convert_to('{"n":"' || gen_random_uuid() || '"}', 'UTF8')
      from generate_series(1, $1)`,
    [count],
  );
}

/** A note over this text, as whoever has the private key (a JWK) can sign it under any name. */
export function signNote(text: string, jwk: string, name: string): string {
  const key = createPrivateKey({ key: JSON.parse(jwk) as { kty: string }, format: "jwk" });
  const raw = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32);
  const id = createHash("sha256").update(`${name}\n\u0001`).update(raw).digest().subarray(0, 4);
  return `${text}\n\u2014 ${name} ${Buffer.concat([id, sign(null, Buffer.from(text), key)]).toString("base64")}\n`;
}

/** A log of these entries as the owner of its key could publish it: everything in it fits together. */
export function forge(entries: readonly string[], jwk: string, origin: string): Get {
  const bytes = entries.map((entry) => Buffer.from(entry));
  const leaves = bytes.map(leafOf);
  const levels: Buffer[][] = [leaves];
  for (let below = leaves; below.length >= 256; below = levels.at(-1) ?? [])
    levels.push(
      Array.from({ length: Math.floor(below.length / 256) }, (_, at) =>
        treeHash(below.slice(at * 256, (at + 1) * 256)),
      ),
    );
  const checkpoint = signNote(`${origin}\n${leaves.length}\n${treeHash(leaves).toString("base64")}\n`, jwk, origin);
  return async (path) => {
    if (path === "checkpoint") return Buffer.from(checkpoint);
    const [, kind = "", number = "", width = "256"] = /^tile\/(\w+)\/([x\d/]+)(?:\.p\/(\d+))?$/.exec(path) ?? [];
    const start = Number(number.replaceAll(/[x/]/g, "")) * 256;
    const end = start + Number(width);
    if (kind !== "entries") return Buffer.concat((levels[Number(kind)] ?? []).slice(start, end));
    return Buffer.concat(bytes.slice(start, end).flatMap((one) => [Buffer.of(one.length >> 8, one.length & 255), one]));
  };
}
