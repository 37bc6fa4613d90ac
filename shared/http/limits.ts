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

/** Counts one request of an address against a class. Null when Redis does not answer: this limiter fails open. */
export async function countAddress(ctx: Context, name: LimitName): Promise<Standing | null> {
  const limiter = new Ratelimit({
    redis: ctx.redis,
    limiter: Ratelimit.slidingWindow(LIMITS[name], "60 s"),
    prefix: `limit:${name}`,
    ephemeralCache: false,
    timeout: 0,
  });
  try {
    const { success, limit, remaining, reset } = await limiter.limit(ctx.addressHash ?? "unknown");
    const seconds = Math.max(1, Math.ceil((reset - ctx.now().getTime()) / 1000));
    const window: Window = { name: "minute", limit, remaining: Math.max(0, remaining), reset: Math.min(60, seconds) };
    return { windows: [window], refused: success ? null : window };
  } catch (error) {
    ctx.log.warn("rate limiter unavailable", { reason: error instanceof Error ? error.name : "unknown" });
    return null;
  }
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
