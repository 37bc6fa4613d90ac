import type { Answer } from "./delivery.ts";
import type { Message } from "./message.ts";
import { evaluate } from "./values.ts";

/** What follows from an answer: the message is done, is tried again at `due` (Unix ms), or goes to the dead letters. */
export type Verdict =
  | { readonly kind: "delivered" }
  | { readonly kind: "retry"; readonly due: number }
  | { readonly kind: "dead" };

const DAY_MS = 86_400_000;
const NON_RETRYABLE_STATUS = 489;
const RETRY_AFTER_HEADERS = [
  "retry-after",
  "x-ratelimit-reset",
  "x-ratelimit-reset-requests",
  "x-ratelimit-reset-tokens",
];
const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/**
 * Milliseconds before retry `n` (from 1): `min(86400, e^(2.5 n))` seconds, see
 * https://upstash.com/docs/qstash/features/retry.
 */
export function backoffMs(n: number): number {
  return Math.min(DAY_MS, Math.round(1000 * Math.exp(2.5 * n)));
}

/** What `answer`, received at `now`, means for `message`. */
export function verdict(message: Message, answer: Answer, now: number): Verdict {
  if (answer.status >= 200 && answer.status < 300) return { kind: "delivered" };
  const final = answer.status === NON_RETRYABLE_STATUS && answer.headers["upstash-nonretryable-error"]?.[0] === "true";
  if (final || message.retried >= message.maxRetries) return { kind: "dead" };
  return { kind: "retry", due: now + (retryAfterMs(answer, now) ?? ownDelayMs(message)) };
}

function ownDelayMs({ retryDelay, retried }: Message): number {
  const own = retryDelay === undefined ? Number.NaN : Math.round(evaluate(retryDelay, retried));
  return own >= 0 ? Math.min(DAY_MS, own) : backoffMs(retried + 1);
}

// Seconds, an HTTP date, or a duration such as 6m5s. A wait beyond one day is not honoured.
function retryAfterMs(answer: Answer, now: number): number | undefined {
  const text = RETRY_AFTER_HEADERS.map((name) => answer.headers[name]?.[0]).find((value) => value !== undefined);
  if (text === undefined) return undefined;
  const wait = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : (goDurationMs(text) ?? Date.parse(text) - now);
  return Number.isFinite(wait) && wait <= DAY_MS ? Math.max(0, Math.round(wait)) : undefined;
}

function goDurationMs(text: string): number | undefined {
  const part = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g;
  if (text === "" || text.replaceAll(part, "") !== "") return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(part)) total += Number(amount) * (UNIT_MS[unit ?? ""] ?? 0);
  return total;
}
