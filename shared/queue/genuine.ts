import { Receiver } from "@upstash/qstash";
import type { Env } from "../platform/env.ts";

/** How far QStash's clock and ours may be apart, in seconds: what is refused as too early comes again only much later. */
const APART_S = 30;

/** Whether QStash signed this body for this URL with one of the two keys that hold now. */
export function isGenuine(env: Env, message: { signature: string; body: string; url: string }): Promise<boolean> {
  const receiver = new Receiver({
    currentSigningKey: env.QSTASH_CURRENT_SIGNING_KEY,
    nextSigningKey: env.QSTASH_NEXT_SIGNING_KEY,
    devMode: false,
  });
  return receiver.verify({ ...message, clockTolerance: APART_S }).catch(() => false);
}
