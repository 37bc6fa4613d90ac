import { Ratelimit } from "@upstash/ratelimit";
import type { Context } from "../platform/context.ts";
import { Problem } from "../platform/problem.ts";

/** The named classes of limits for one address, a minute. */
export const LIMITS = { read: 300, write: 60, auth: 10, refresh: 60, telemetry: 600 } as const;

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

/** The verdict of one or more windows; `refused` is the one that is used up. */
export interface Standing {
  windows: Window[];
  refused: Window | null;
}

const SECONDS = { minute: 60, day: 86_400 } as const;

/** Requests taken from an address's window in advance, to be let through without asking Redis again. */
interface Lease {
  left: number;
  /** Where the address stands once the lease is used up. */
  standing: Window;
  /** When the window starts anew, and when what is left of the lease is forfeited; Unix milliseconds. */
  resetAt: number;
  expiresAt: number;
}

/** The leases that an isolate holds, by limit class and address. */
export type Leases = Map<string, Lease>;

const LEASE_SIZE = 10;
const LEASE_MS = 5000;
const MAX_LEASES = 10_000;

/**
 * Counts one request of an address against a class. Null when Redis does not answer: this limiter fails open.
 * An address far from its limit is counted ten requests at a time, so that most of its reads need no round trip; near
 * the limit each request is counted by itself, so that the limit is exact for a caller of one location.
 */
export async function countAddress(ctx: Context, name: LimitName): Promise<Standing | null> {
  const address = ctx.addressHash ?? "unknown";
  const key = `${name}:${address}`;
  const now = ctx.now().getTime();
  const lease = ctx.leases.get(key);
  if (lease !== undefined && lease.left > 0 && lease.expiresAt > now) {
    lease.left -= 1;
    return standingOf(lease, now);
  }
  const roomy = lease !== undefined && lease.resetAt > now && lease.standing.remaining >= LEASE_SIZE * LEASE_SIZE;
  try {
    const limiter = new Ratelimit({
      redis: ctx.redis,
      limiter: Ratelimit.slidingWindow(LIMITS[name], "60 s"),
      prefix: `limit:${name}`,
      ephemeralCache: false,
      timeout: 0,
    });
    const taken = roomy ? LEASE_SIZE : 1;
    const { success, limit, remaining, reset } = await limiter.limit(address, { rate: taken });
    const standing: Window = { name: "minute", limit, remaining: Math.max(0, remaining), reset: 0 };
    const next = {
      left: success ? taken - 1 : 0,
      standing,
      resetAt: reset,
      expiresAt: Math.min(reset, now + LEASE_MS),
    };
    const oldest = ctx.leases.size >= MAX_LEASES ? ctx.leases.keys().next().value : undefined;
    if (oldest !== undefined) ctx.leases.delete(oldest);
    ctx.leases.set(key, next);
    const result = standingOf(next, now);
    return success ? result : { ...result, refused: result.windows[0] ?? null };
  } catch (error) {
    ctx.log.warn("rate limiter unavailable", { reason: error instanceof Error ? error.name : "unknown" });
    return null;
  }
}

function standingOf({ left, standing, resetAt }: Lease, now: number): Standing {
  const reset = Math.min(60, Math.max(1, Math.ceil((resetAt - now) / 1000)));
  return { windows: [{ ...standing, remaining: standing.remaining + left, reset }], refused: null };
}

/** The headers of draft-ietf-httpapi-ratelimit-headers-10. */
export function limitHeaders({ windows }: Standing): Record<string, string> {
  return {
    "RateLimit-Policy": windows.map(({ name, limit }) => `"${name}";q=${limit};w=${SECONDS[name]}`).join(","),
    RateLimit: windows.map(({ name, remaining, reset }) => `"${name}";r=${remaining};t=${reset}`).join(","),
  };
}

/** Throws `rate_limited` when a window is used up. */
export function assertWithin({ refused }: Standing): void {
  if (refused === null) return;
  throw new Problem(
    "rate_limited",
    `The limit of ${refused.limit} requests a ${refused.name} is reached. Try again in ${refused.reset} seconds.`,
    { headers: { "Retry-After": String(refused.reset) } },
  );
}
