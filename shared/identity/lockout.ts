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
 * Whether sign-in is locked; where it is not, a failure is counted. KEYS: the three logs, then the same of the day before,
 * when the address had another hash, whose failures count too; ARGV: now, the failure's id or nothing, then limit and
 * length of each. Returns 1 when locked.
 */
const JUDGE = `
local windows = #KEYS / 2
for i = 1, windows do
  local failed = 0
  for _, key in ipairs(KEYS[i] == KEYS[windows + i] and { KEYS[i] } or { KEYS[i], KEYS[windows + i] }) do
    redis.call('ZREMRANGEBYSCORE', key, '-inf', ARGV[1] - ARGV[2 + 2 * i])
    failed = failed + redis.call('ZCARD', key)
  end
  if failed >= tonumber(ARGV[1 + 2 * i]) then return 1 end
end
if ARGV[2] == '' then return 0 end
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

/**
 * Throws `login_locked` (the same bytes each time) when the account, by its normalised email, or the address failed too
 * often: no password is looked at then. Throws `dependency_unavailable` when the counters can't be reached: sign-in fails
 * closed.
 */
export async function assertUnlocked(ctx: Context, email: string): Promise<void> {
  await judge(ctx, email, "");
}

/**
 * Judges an attempt whose password has been looked at, and counts it if that was wrong. Throws as `assertUnlocked` does,
 * whether the password was right or wrong: of attempts side by side only so many learn what became of their guess as may
 * fail, while right ones, which are not counted even as they are looked at, lock nobody out.
 */
export async function settleAttempt(ctx: Context, email: string, isRight: boolean): Promise<void> {
  await judge(ctx, email, isRight ? "" : newId(ctx.now()));
}

async function judge(ctx: Context, email: string, failure: string): Promise<void> {
  const keysOf = (address: string | null): string[] => [
    accountKey(email),
    `lock:address:${address ?? "unknown"}`,
    `lock:address-hour:${address ?? "unknown"}`,
  ];
  const limits = WINDOWS.flatMap(({ limit, length }) => [limit, length]);
  let locked: number;
  try {
    locked = await ctx.redis.eval<unknown[], number>(
      JUDGE,
      [...keysOf(ctx.addressHash), ...keysOf(ctx.addressHashBefore)],
      [ctx.now().getTime(), failure, ...limits],
    );
  } catch {
    throw signInUnavailable();
  }
  if (locked === 1)
    throw new Problem("login_locked", "Too many failed sign-ins. Try again in 15 minutes or reset the password.");
}

/** The 503 of a sign-in that can't be judged while Redis is away: it fails closed. */
export function signInUnavailable(): Problem {
  return new Problem("dependency_unavailable", "Sign-in is not available right now. Try again in a few seconds.", {
    headers: { "Retry-After": "5" },
  });
}
