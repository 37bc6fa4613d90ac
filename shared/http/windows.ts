import type { RedisCommands } from "../platform/redis.ts";

/** The limiter's window, in milliseconds. */
export const WINDOW_MS = 60_000;

/** Requests of one caller that passed and are to be counted. */
export interface Passed {
  caller: string;
  requests: number;
}

/**
 * Counts for many callers at once what the limiter's script counts for one, in the same keys. KEYS: the current and the
 * previous window of each caller in turn. ARGV: the limit, the time, the length of a window, and the requests of each
 * caller. Returns what remains to each.
 */
const COUNT_SCRIPT = `
local limit, now, window = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local rest = 1 - (now % window) / window
local counts = redis.call('MGET', unpack(KEYS))
local remaining = {}
for n = 1, #KEYS / 2 do
  local current = tonumber(counts[2 * n - 1] or 0)
  local before = math.floor(rest * tonumber(counts[2 * n] or 0))
  remaining[n] = 0
  if current + before < limit then
    current = current + tonumber(ARGV[3 + n])
    redis.call('SET', KEYS[2 * n - 1], current, 'PX', window * 2 + 1000)
    remaining[n] = math.max(0, limit - current - before)
  end
end
return remaining`;

/**
 * Counts requests of many callers in their sliding windows, in one command; returns what remains to each of them, and when
 * the current window ends. The windows are those of the machine's clock, as the limiter's are.
 */
export async function countTogether(
  redis: RedisCommands,
  prefix: string,
  limit: number,
  passed: readonly Passed[],
): Promise<{ remaining: number[]; reset: number }> {
  const now = Date.now();
  const window = Math.floor(now / WINDOW_MS);
  const keys = passed.flatMap(({ caller }) => [window, window - 1].map((one) => `${prefix}:${caller}:${one}`));
  const given = [limit, now, WINDOW_MS, ...passed.map(({ requests }) => requests)];
  const remaining = await redis.eval<number[], number[]>(COUNT_SCRIPT, keys, given);
  return { remaining, reset: (window + 1) * WINDOW_MS };
}
