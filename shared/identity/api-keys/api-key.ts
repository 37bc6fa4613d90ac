import { eq, sql } from "drizzle-orm";
import { api_keys, teams } from "../../db/schema/index.ts";
import type { Context, Question } from "../../platform/context.ts";
import { isCredential, newCredential } from "../../platform/credential.ts";
import { sha256 } from "../../platform/crypto.ts";
import type { KeyPrincipal } from "../principal.ts";
import type { Grant } from "./scopes.ts";

const PREFIX = "ask_";

/** How long Redis may go on with an old record of a key when it could not be told that the key was changed. */
const CACHE_SECONDS = 60;

/** Longer than any request that read a key's record just before a change may take to put it into the cache. */
const CHANGE_SECONDS = 30;

/** A new API key: `ask_` and 43 base62 characters, the last 6 of which are a checksum. */
export function newApiKey(): string {
  return newCredential(PREFIX);
}

/** Whether a text can be one of our keys: form and checksum, without any look-up. */
export function isApiKey(text: string): boolean {
  return isCredential(PREFIX, text);
}

/** What a key may do, as the cache in Redis holds it. */
interface KeyRecord {
  id: string;
  /** The account or the workspace that it acts for. */
  user_id: string;
  /** The owner of that workspace; null for an account's key, not there where `scopes` is not. */
  team_owner_id?: string | null;
  scope: Grant["scope"];
  /** Not there in a record that an earlier version of the service cached. */
  scopes?: Grant["scopes"];
  per_minute: number;
  per_day: number;
  /** Unix time in milliseconds, or null. */
  expires_at: number | null;
}

/** Where a key stands in its two windows after one more request; `reset` in seconds. */
export interface KeyUse {
  principal: KeyPrincipal;
  minute: { limit: number; remaining: number; reset: number; refused: boolean };
  day: { limit: number; remaining: number; reset: number; refused: boolean };
}

/** The cache entry of a key that was just changed: it keeps requests from caching what they read before the change. */
const CHANGED = "changed";

/**
 * Reads the record of a key and counts one request against both of its windows in one round trip. ARGV: the record as
 * the database gave it, empty where it was not asked; how long to cache it; the mark of a change. A refused request is
 * counted in neither window. Returns {record, minute used, day used}, or nil when the database has to be asked.
 */
const COUNT_SCRIPT = `
local record = ARGV[1]
local cached = redis.call('GET', KEYS[1])
if cached and cached ~= ARGV[3] then record = cached end
if record == '' then return nil end
if not cached then redis.call('SET', KEYS[1], record, 'EX', ARGV[2]) end
local key = cjson.decode(record)
local minute = tonumber(redis.call('GET', KEYS[2]) or '0')
local day = tonumber(redis.call('GET', KEYS[3]) or '0')
if minute < key.per_minute and day < key.per_day then
  redis.call('INCR', KEYS[2])
  redis.call('EXPIRE', KEYS[2], 60)
  redis.call('INCR', KEYS[3])
  redis.call('EXPIRE', KEYS[3], 86400)
end
return {record, minute + 1, day + 1}`;

const cacheKey = (hash: string): string => `key:${hash}`;

/**
 * The caller to whom an API key belongs, and how much of its limits is used: one round trip to Redis where the key is
 * cached, otherwise one more to the database. Null for a key that is unknown, revoked or expired. Without Redis the
 * database decides, and the request is not counted.
 */
export async function authenticateKey(ctx: Context, key: string): Promise<KeyUse | null> {
  if (!isApiKey(key)) return null;
  const hash = sha256(key);
  let reachable = true;
  const counted = await count(ctx, hash, null).catch(() => {
    reachable = false;
    return null;
  });
  if (counted !== null) return counted;
  const record = await load(ctx, hash);
  if (record === null) return null;
  const uncounted = (): KeyUse | null => toUse(ctx, hash, record, 1, 1);
  // Redis did not answer the first time, so it is not asked again.
  return reachable ? count(ctx, hash, record).catch(uncounted) : uncounted();
}

/**
 * Null for a key that has expired, or that Redis does not know when no `loaded` record is given; throws when Redis does
 * not answer. The first request of each minute notes when the key was used.
 */
async function count(ctx: Context, hash: string, loaded: KeyRecord | null): Promise<KeyUse | null> {
  const now = ctx.now().getTime();
  const keys = [
    cacheKey(hash),
    `key:${hash}:m:${Math.floor(now / 60_000)}`,
    `key:${hash}:d:${Math.floor(now / 86_400_000)}`,
  ];
  const given = [loaded === null ? "" : JSON.stringify(loaded), CACHE_SECONDS, CHANGED];
  const result = await ctx.redis.eval<unknown[], [KeyRecord, number, number] | null>(COUNT_SCRIPT, keys, given);
  if (result === null) return null;
  const [record, minute, day] = result;
  const use = toUse(ctx, hash, record, minute, day);
  if (use !== null && minute === 1 && !use.day.refused) ctx.defer(() => noteUse(ctx, record.id));
  return use;
}

async function noteUse(ctx: Context, keyId: string): Promise<void> {
  await ctx.db.update(api_keys).set({ last_used_at: ctx.now().toISOString() }).where(eq(api_keys.id, keyId));
}

async function load(ctx: Context, hash: string): Promise<KeyRecord | null> {
  const [row] = await ctx.db
    .select({
      id: api_keys.id,
      user_id: sql<string>`coalesce(${api_keys.team_id}, ${api_keys.user_id})`,
      team_owner_id: teams.owner_id,
      scope: api_keys.scope,
      scopes: api_keys.scopes,
      per_minute: api_keys.rate_limit_per_minute,
      per_day: api_keys.quota_per_day,
      expires_at: api_keys.expires_at,
    })
    .from(api_keys)
    .leftJoin(teams, eq(teams.id, api_keys.team_id))
    .where(sql`${eq(api_keys.key_hash, hash)} and ${api_keys.revoked_at} is null`);
  return row === undefined ? null : { ...row, expires_at: row.expires_at === null ? null : Date.parse(row.expires_at) };
}

function toUse(ctx: Context, hash: string, record: KeyRecord, minute: number, day: number): KeyUse | null {
  const now = ctx.now().getTime();
  if (record.expires_at !== null && record.expires_at <= now) return null;
  const window = (used: number, limit: number, length: number) => ({
    limit,
    remaining: Math.max(0, limit - used),
    reset: Math.ceil((length - (now % length)) / 1000),
    refused: used > limit,
  });
  return {
    principal: {
      kind: "key",
      userId: record.user_id,
      teamOwnerId: record.team_owner_id ?? null,
      keyId: record.id,
      keyHash: hash,
      scope: record.scope,
      scopes: record.scopes ?? null,
    },
    minute: window(minute, record.per_minute, 60_000),
    day: window(day, record.per_day, 86_400_000),
  };
}

/**
 * Has the row of a key that was let in decide each write that follows: a body may come long after its headers, and a key that was
 * revoked or replaced meanwhile makes nothing any more. For reads it has been found to hold.
 */
export function keyDecidesWrites({ keyId, keyHash }: KeyPrincipal): Question {
  const condition = sql`exists (select from ${api_keys} where ${api_keys.id} = ${keyId}::uuid
    and ${api_keys.key_hash} = ${keyHash} and ${api_keys.revoked_at} is null)`;
  return { condition, found: Promise.resolve(true) };
}

/**
 * Makes the database decide from now on about a key that was changed or revoked. Never rejects: when Redis does not
 * answer, the record that it has cached stays in use for CACHE_SECONDS at most.
 */
export async function forgetKey(ctx: Context, hash: string): Promise<void> {
  await ctx.redis.set(cacheKey(hash), CHANGED, { ex: CHANGE_SECONDS }).catch((error: unknown) => {
    ctx.log.warn("key cache unavailable", { reason: error instanceof Error ? error.name : "unknown" });
  });
}
