import type { Context } from "../platform/context.ts";
import { sha256 } from "../platform/crypto.ts";
import { newId } from "../platform/ids.ts";
import { Problem } from "../platform/problem.ts";

const MINUTE = 60_000;

/** Failures after which sign-in stops: by account, and by address in two windows. */
const WINDOWS = [
  { name: "account", limit: 5, length: 15 * MINUTE },
  { name: "address", limit: 50, length: 15 * MINUTE },
  { name: "address-hour", limit: 150, length: 60 * MINUTE },
] as const;

/**
 * Counts an attempt as failed before it is tried, so that attempts side by side can't outrun the count; a success takes
 * it back. KEYS: the three logs; ARGV: now, the attempt's id, then limit and length of each. Returns 1 when locked.
 */
const ENTER = `
for i, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', ARGV[1] - ARGV[2 + 2 * i])
  if redis.call('ZCARD', key) >= tonumber(ARGV[1 + 2 * i]) then return 1 end
end
for i, key in ipairs(KEYS) do
  redis.call('ZADD', key, ARGV[1], ARGV[2])
  redis.call('PEXPIRE', key, ARGV[2 + 2 * i])
end
return 0`;

const accountKey = (email: string): string => `lock:account:${sha256(email)}`;

/** Clears the counter of an account, by its normalised email; those of addresses stay. */
export async function clearAccount(ctx: Context, email: string): Promise<void> {
  await ctx.redis.del(accountKey(email));
}

/** An attempt to sign in that was let through. */
export interface Attempt {
  /** Clears the account's counter and takes the attempt out of the address's: it was no failure. */
  succeeded(): Promise<void>;
}

/**
 * Lets an attempt to sign in through, or throws `login_locked` (the same bytes each time) when the account or the
 * address failed too often. Throws `dependency_unavailable` when the counters can't be reached: sign-in fails closed.
 */
export async function enter(ctx: Context, email: string): Promise<Attempt> {
  const address = ctx.addressHash ?? "unknown";
  const keys = [accountKey(email), `lock:address:${address}`, `lock:address-hour:${address}`];
  const id = newId(ctx.now());
  const limits = WINDOWS.flatMap(({ limit, length }) => [limit, length]);
  let locked: number;
  try {
    locked = await ctx.redis.eval<unknown[], number>(ENTER, keys, [ctx.now().getTime(), id, ...limits]);
  } catch {
    throw new Problem("dependency_unavailable", "Sign-in is not available right now. Try again in a few seconds.", {
      headers: { "Retry-After": "5" },
    });
  }
  if (locked === 1)
    throw new Problem("login_locked", "Too many failed sign-ins. Try again in 15 minutes or reset the password.");
  return {
    async succeeded() {
      const [account, ...addresses] = keys as [string, ...string[]];
      await Promise.all([ctx.redis.del(account), ...addresses.map((key) => ctx.redis.zrem(key, id))]);
    },
  };
}
