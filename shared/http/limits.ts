import { Ratelimit } from "@upstash/ratelimit";
import type { Context } from "../platform/context.ts";
import type { Lease, Leases } from "../platform/leases.ts";
import { Problem } from "../platform/problem.ts";
import { countTogether, WINDOW_MS } from "./windows.ts";

/** Requests a minute by class of limits: those of one address, or of one receiver token for `otlp`. */
export const LIMITS = { read: 300, write: 60, auth: 10, refresh: 60, telemetry: 600, otlp: 120, stream: 60 } as const;

/** A named class of limits. */
export type LimitName = keyof typeof LIMITS;

/** Where a caller stands in one window. */
export interface Window {
  name: "minute" | "day";
  limit: number;
  remaining: number;
  /** Seconds until the window starts again. */
  reset: number;
}

/** Where a caller stands in one or more windows; `refused` is the one that is used up. */
export interface Standing {
  windows: Window[];
  refused: Window | null;
}

/** Where a caller stands whose request passes in its only window. */
export const passed = (window: Window): Standing => ({ windows: [window], refused: null });

const SECONDS = { minute: 60, day: 86_400 } as const;

const LEASE_MS = 5000;
/** A lease covers the requests that its caller makes in this time at its pace; what is left when it stops is lost. */
const AHEAD_MS = 250;
/** A lease takes at most this share of what remains, because other locations count against the same window. */
const MOST_OF_REST = 1 / 4;
/** A caller with less than this left is near its limit. */
const NEAR_LIMIT = 60;
/** So many requests of a caller may be answered before they are counted. */
const MOST_OWED = 60;

/**
 * Counts one request of the caller's address against a class, as `countCaller` does. In the first minute of a day it is
 * also counted under yesterday's hash of the address: the window slides over midnight, where the hash changes.
 */
export function countAddress(ctx: Context, name: LimitName): Promise<Standing | null> {
  const before = inFirstMinute(ctx.now().getTime()) ? ctx.addressHashBefore : null;
  return countCaller(ctx, name, ctx.addressHash ?? "unknown", before);
}

/** Whether requests count under yesterday's hash of the address, too. */
export function inFirstMinute(now: number): boolean {
  return now % (SECONDS.day * 1000) < SECONDS.minute * 1000;
}

/**
 * Counts one request of a caller, an address or a credential, against a class. Null when Redis does not answer: this
 * limiter fails open. For a busy caller far from its limit many requests are counted at once (a lease), so that most of
 * its reads need no round trip; near the limit each request is counted by itself, so that the limit is exact for a caller
 * at one location, those included that were answered before. `before` is the caller's former name: each request is then counted by itself under both names, and the
 * stricter result holds.
 */
export async function countCaller(
  ctx: Context,
  name: LimitName,
  caller: string,
  before: string | null = null,
): Promise<Standing | null> {
  const now = ctx.now().getTime();
  const lease = leaseOf(ctx.leases, name, caller);
  const leased = before === null ? takeLeased(lease, name, now) : null;
  if (leased !== null) return passed(leased);
  lease.left = 0;
  follow(lease, now);
  const size = Math.floor(Math.min(lease.remaining * MOST_OF_REST, AHEAD_MS / Math.max(1, lease.pace)));
  const fills = before === null && size > 1 && !lease.filling && lease.resetAt > now && lease.remaining >= NEAR_LIMIT;
  lease.filling ||= fills;
  const requests = (fills ? size : 1) + takeOwed(lease);
  try {
    const limiter = limiterOf(ctx, name);
    const callers = before === null ? [caller] : [caller, before];
    const verdicts = await Promise.all(callers.map((one) => limiter.limit(one, { rate: requests })));
    const success = verdicts.every((verdict) => verdict.success);
    const remaining = Math.min(...verdicts.map((verdict) => verdict.remaining));
    const reset = Math.max(...verdicts.map((verdict) => verdict.reset));
    learn(lease, { remaining, reset });
    if (fills) Object.assign(lease, { left: success ? size - 1 : 0, expiresAt: Math.min(reset, now + LEASE_MS) });
    const window = windowOf(name, lease.remaining + lease.left, lease.resetAt, now);
    return { windows: [window], refused: success ? null : window };
  } catch (error) {
    ctx.log.warn("rate limiter unavailable", { reason: error instanceof Error ? error.name : "unknown" });
    return null;
  } finally {
    if (fills) lease.filling = false;
  }
}

/**
 * Lets one request of a caller through that is counted later, by `countOwed` or with the next one that is counted; says
 * where the caller then stands, as `standingFar` does. Null near the limit, or where too many are owed already.
 */
export function owe(lease: Lease, name: LimitName, now: number): Window | null {
  const window = lease.owed < MOST_OWED ? standingFar(lease, name, now) : null;
  if (window !== null) lease.owed += 1;
  return window;
}

/**
 * Where a caller stands with one more request, as far as this isolate knows; null where that is near the limit or beyond
 * it. Other isolates may have counted more of a caller that was not seen here in this minute.
 */
export function standingFar(lease: Lease, name: LimitName, now: number): Window | null {
  if (lease.resetAt <= now) {
    const window = SECONDS.minute * 1000;
    lease.left = 0;
    lease.remaining = LIMITS[name];
    lease.resetAt = now - (now % window) + window;
  }
  const remaining = lease.remaining - lease.owed - 1;
  return remaining < NEAR_LIMIT ? null : windowOf(name, remaining, lease.resetAt, now);
}

/** Counts what these callers owe, in one command. Rejects when Redis does not answer; then it is no longer owed. */
export async function countOwed(
  ctx: Context,
  name: LimitName,
  callers: readonly (readonly [string, Lease])[],
): Promise<void> {
  const owing = callers
    .map(([caller, lease]) => ({ caller, lease, requests: takeOwed(lease) }))
    .filter(({ requests }) => requests > 0);
  if (owing.length === 0) return;
  const { remaining, reset } = await countTogether(ctx.redis, prefixOf(name), LIMITS[name], owing);
  for (const [n, { lease }] of owing.entries()) learn(lease, { remaining: remaining[n] ?? 0, reset });
}

/** What the caller owes; from now on it is taken for counted. */
function takeOwed(lease: Lease): number {
  const { owed } = lease;
  lease.remaining = Math.max(0, lease.remaining - owed);
  lease.owed = 0;
  return owed;
}

const prefixOf = (name: LimitName): string => `limit:${name}`;

function limiterOf(ctx: Context, name: LimitName): Ratelimit {
  return new Ratelimit({
    redis: ctx.redis,
    limiter: Ratelimit.slidingWindow(LIMITS[name], `${WINDOW_MS} ms`),
    prefix: prefixOf(name),
    ephemeralCache: false,
    timeout: 0,
  });
}

function learn(lease: Lease, { remaining, reset }: { remaining: number; reset: number }): void {
  // Answers can overtake each other; within one window the lowest count is the latest.
  lease.remaining = Math.max(0, lease.resetAt === reset ? Math.min(lease.remaining, remaining) : remaining);
  lease.resetAt = reset;
}

/** Takes one request from a lease; null where nothing is left of it. */
export function takeLeased(lease: Lease, name: LimitName, now: number): Window | null {
  if (lease.left === 0 || lease.expiresAt <= now) return null;
  lease.left -= 1;
  follow(lease, now);
  return windowOf(name, lease.remaining + lease.left, lease.resetAt, now);
}

/** What is known here of a caller's requests of a class. */
export function leaseOf(leases: Leases, name: LimitName, caller: string): Lease {
  const key = `${name}:${caller}`;
  const known = leases.get(key);
  if (known !== undefined) return known;
  const [lastAt, pace] = [-Infinity, Infinity];
  const lease: Lease = { left: 0, owed: 0, remaining: 0, filling: false, resetAt: 0, expiresAt: 0, lastAt, pace };
  leases.add(key, lease);
  return lease;
}

function follow(lease: Lease, now: number): void {
  const step = now - lease.lastAt;
  lease.pace = lease.pace === Infinity ? step : (lease.pace + step) / 2;
  lease.lastAt = now;
}

function windowOf(name: LimitName, remaining: number, resetAt: number, now: number): Window {
  const reset = Math.min(60, Math.max(1, Math.ceil((resetAt - now) / 1000)));
  return { name: "minute", limit: LIMITS[name], remaining, reset };
}

/** The RateLimit headers, as draft-ietf-httpapi-ratelimit-headers-10 has them. */
export function setLimitHeaders(headers: Headers, { windows }: Pick<Standing, "windows">): void {
  headers.set("RateLimit-Policy", windows.map(policyItem).join(","));
  headers.set("RateLimit", windows.map(limitItem).join(","));
}

function policyItem({ name, limit }: Pick<Window, "name" | "limit">): string {
  return `"${name}";q=${limit};w=${SECONDS[name]}`;
}

/** The RateLimit-Policy header of a class that has the window of a minute alone. */
export const policyOf = (name: LimitName): string => policyItem({ name: "minute", limit: LIMITS[name] });

/** A window as the RateLimit header has it. */
export function limitItem({ name, remaining, reset }: Window): string {
  return `"${name}";r=${remaining};t=${reset}`;
}

/** Throws `rate_limited` when a window is used up. */
export function assertWithin({ refused }: Standing): void {
  if (refused === null) return;
  throw new Problem(
    "rate_limited",
    `The limit of ${refused.limit} requests a ${refused.name} is reached. ` +
      `Try again in ${refused.reset === 1 ? "a second" : `${refused.reset} seconds`}.`,
    { headers: { "Retry-After": String(refused.reset) } },
  );
}
