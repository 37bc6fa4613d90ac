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
 * it back. KEYS: the three logs, then the same of the day before, when the address had another hash, whose failures count
 * too; ARGV: now, the attempt's id, then limit and length of each. Returns 1 when locked.
 */
const ENTER = `
local windows = #KEYS / 2
for i = 1, windows do
  local failed = 0
  for _, key in ipairs(KEYS[i] == KEYS[windows + i] and { KEYS[i] } or { KEYS[i], KEYS[windows + i] }) do
    redis.call('ZREMRANGEBYSCORE', key, '-inf', ARGV[1] - ARGV[2 + 2 * i])
    failed = failed + redis.call('ZCARD', key)
  end
  if failed >= tonumber(ARGV[1 + 2 * i]) then return 1 end
end
for i = 1, windows do
  redis.call('ZADD', KEYS[i], ARGV[1], ARGV[2])
  redis.call('PEXPIRE', KEYS[i], ARGV[2 + 2 * i])
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
  const keysOf = (address: string | null): string[] => [
    accountKey(email),
    `lock:address:${address ?? "unknown"}`,
    `lock:address-hour:${address ?? "unknown"}`,
  ];
  const keys = keysOf(ctx.addressHash);
  const id = newId(ctx.now());
  const limits = WINDOWS.flatMap(({ limit, length }) => [limit, length]);
  let locked: number;
  try {
    locked = await ctx.redis.eval<unknown[], number>(
      ENTER,
      [...keys, ...keysOf(ctx.addressHashBefore)],
      [ctx.now().getTime(), id, ...limits],
    );
  } catch {
    throw new Problem("dependency_unavailable", "Sign-in is not available right now. Try again in a few seconds.", {
      headers: { "Retry-After": "5" },
    });
  }
  if (locked === 1)
    throw new Problem("login_locked", "Too many failed sign-ins. Try again in 15 minutes or reset the password.");
  return {
    async succeeded() {
      const [, ...addresses] = keys;
      await Promise.all([clearAccount(ctx, email), ...addresses.map((key) => ctx.redis.zrem(key, id))]);
    },
  };
}
