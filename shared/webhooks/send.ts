import * as z from "zod";
import type { Context } from "../platform/context.ts";
import { decrypt } from "../platform/encryption.ts";
import { exchange, userAgent } from "../platform/outbound/exchange.ts";
import { edgeFailure } from "../platform/outbound/failure.ts";
import { ResolverFault } from "../platform/outbound/resolve.ts";
import { outboundPolicy } from "../platform/outbound/policy.ts";
import { signatures } from "./sign.ts";
import { SECRET_PURPOSE } from "./view.ts";

/** An attempt that was just claimed, as the database gives it. */
export const Claimed = z.object({
  id: z.uuid(),
  url: z.string(),
  /** Encrypted; null where attempts go out unsigned. */
  secret: z.string().nullable(),
  type: z.string(),
  body: z.string(),
});

/** A claimed attempt: only the holder of the lease can end it. */
export interface Attempt extends z.output<typeof Claimed> {
  lease: string;
}

/** The outcome of an attempt. */
export interface Outcome {
  sentAt: Date;
  /** Null if no answer came; then the excerpt says why. */
  status: number | null;
  durationMs: number;
  excerpt: string;
}

/** Whether the receiver took it: any 2xx. */
export function succeeded({ status }: Outcome): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** What the log says of an attempt that our own fault kept from being sent. */
export const UNSENT =
  "Nothing was sent: our own DNS resolver gave no definite answer. This is not held against the receiver.";

/** Milliseconds that a receiver has to answer. */
const DEADLINE_MS = 15_000;
const EXCERPT_BYTES = 1024;

/** Decrypts the secret of a subscription. */
export type Open = (sealed: string) => string;

/** Decrypts secrets, each once: for the attempts that are made together, and no longer. */
export function opening(env: Context["env"]): Open {
  const opened = new Map<string, string>();
  return (sealed) => {
    const secret = opened.get(sealed) ?? decrypt(sealed, env.DATA_ENCRYPTION_KEYS, SECRET_PURPOSE);
    opened.set(sealed, secret);
    return secret;
  };
}

/**
 * POSTs an event to a subscription's URL and reads the first 1 KiB of the answer. The URL, and what its name resolves
 * to, are checked first; redirects are answers and are not followed. The status is the answer: a body that does not end in
 * time, or breaks off, leaves it as it is. Null if our own resolver failed and nothing was sent. Never rejects for anything
 * that the receiver does.
 */
export async function send(
  ctx: Pick<Context, "env" | "fetch" | "now" | "resolver">,
  attempt: Attempt,
  { open = opening(ctx.env), deadlineMs = DEADLINE_MS }: { open?: Open; deadlineMs?: number } = {},
): Promise<Outcome | null> {
  const sentAt = ctx.now();
  const timestamp = Math.floor(sentAt.getTime() / 1000);
  const body = new TextEncoder().encode(attempt.body);
  const { env, resolver, now } = ctx;
  const secret = attempt.secret === null ? null : open(attempt.secret);
  const heard: Heard = { status: null, bytes: new Uint8Array(EXCERPT_BYTES), size: 0 };
  const result = await exchange(
    {
      url: attempt.url,
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "User-Agent": userAgent(env),
        "X-Service-Event": attempt.type,
        "X-Service-Delivery": attempt.id,
        "X-Service-Timestamp": String(timestamp),
        ...(secret === null ? {} : signatures(secret, { deliveryId: attempt.id, timestamp, body })),
      },
      body,
      deadlineMs,
      maxResponseBytes: EXCERPT_BYTES,
      takesRedirects: true,
    },
    { fetch: truncating(ctx.fetch, heard), resolver, policy: outboundPolicy(env), now },
  ).catch((error: unknown) => {
    if (error instanceof ResolverFault) return null;
    throw error;
  });
  if (result === null) return null;
  const durationMs = Math.round(result.latency_ms);
  const { status } = heard;
  const failure = status === null ? result : edgeFailure(status);
  if (status === null || failure !== null) {
    const excerpt = failure !== null && "detail" in failure ? failure.detail : "";
    return { sentAt, status: null, durationMs, excerpt };
  }
  return { sentAt, status, durationMs, excerpt: textOf(heard.bytes.subarray(0, heard.size)) };
}

/** What has come of an answer, whatever becomes of the rest of it. */
interface Heard {
  /** Null before its headers are there. */
  status: number | null;
  bytes: Uint8Array;
  size: number;
}

/** A fetch that notes what comes of an answer, which ends after 1 KiB; nobody reads the rest. */
function truncating(fetch: Context["fetch"], heard: Heard): Context["fetch"] {
  return async (input, init) => {
    const response = await fetch(input, init);
    // A redirect that the runtime keeps to itself has none.
    heard.status = response.status === 0 ? null : response.status;
    if (response.body === null) return response;
    await hearBeginning(response.body, heard);
    return new Response(null, { status: response.status });
  };
}

async function hearBeginning(body: NonNullable<Response["body"]>, heard: Heard): Promise<void> {
  for await (const chunk of body) {
    const taken = chunk.subarray(0, EXCERPT_BYTES - heard.size);
    heard.bytes.set(taken, heard.size);
    heard.size += taken.byteLength;
    if (heard.size === EXCERPT_BYTES) break;
  }
}

/** Bytes as text that can be stored: what is not UTF-8, a character cut at the end included, and U+0000 are U+FFFD. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replaceAll("\0", "\uFFFD");
}
