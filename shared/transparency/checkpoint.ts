import { Buffer } from "node:buffer";
import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { log_checkpoints } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import type { Env } from "../platform/env.ts";
import { loadSigningKey, type SigningKey } from "../platform/keys.ts";
import { Problem } from "../platform/problem.ts";
import { checkpointText } from "../tlog/checkpoint.ts";
import { type NoteKey, signatureLine, verifierKey } from "../tlog/note.ts";

/** Bytes that the database gave as hexadecimal. */
export const Hex = z.string().transform((text) => Buffer.from(text, "hex"));

const Head = z.object({ size: z.int(), root: Hex });

/** The name of the log: where it is reached, without the scheme. */
function originOf({ env }: Context): string {
  return `${env.BASE_URL.replace(/^https?:\/\//, "")}/log`;
}

/**
 * The last state of the log as a signed note. It is signed when it is asked for: only what is committed is ever signed,
 * and Ed25519 gives the same signature each time. Throws 404 before the first entry has its place.
 */
export async function readCheckpoint(ctx: Context): Promise<string> {
  const head = await read(
    ctx,
    Head,
    sql`select jsonb_build_object('size', size, 'root', encode(root, 'hex')) as result
      from ${log_checkpoints} order by size desc limit 1`,
  );
  if (head === null) throw new Problem("not_found", "The log is still empty; ask again in a minute.");
  return signCheckpoint(ctx, head);
}

/** A committed state of the log as a signed note; what is not committed must not be signed. */
export async function signCheckpoint(ctx: Context, { size, root }: z.output<typeof Head>): Promise<string> {
  const { privateKey, ...key } = await logKey(ctx);
  const text = checkpointText({ origin: key.name, size, root });
  const signature = await crypto.subtle.sign("Ed25519", privateKey, Buffer.from(text, "utf8"));
  return `${text}\n${signatureLine(key, new Uint8Array(signature))}`;
}

/** The key that verifies the log's checkpoints, as a text in the form of signed notes. */
export async function readVerifierKey(ctx: Context): Promise<string> {
  return verifierKey(await logKey(ctx));
}

type LogKey = NoteKey & { privateKey: SigningKey["privateKey"] };

/** The key of each service in this isolate, loaded when it is first needed. */
const LOADED = new WeakMap<Env, Promise<LogKey>>();

function logKey(ctx: Context): Promise<LogKey> {
  const known = LOADED.get(ctx.env);
  if (known !== undefined) return known;
  const loading = loadLogKey(ctx);
  LOADED.set(ctx.env, loading);
  return loading;
}

async function loadLogKey(ctx: Context): Promise<LogKey> {
  const { publicJwk, privateKey } = await loadSigningKey("LOG_SIGNING_KEY", ctx.env.LOG_SIGNING_KEY);
  return { name: originOf(ctx), publicKey: Buffer.from(publicJwk.x, "base64url"), privateKey };
}
