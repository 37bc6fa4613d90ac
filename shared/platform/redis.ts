import type { Redis } from "@upstash/redis/cloudflare";

/** The commands that the service sends, the limiter's among them: the client that is deployed has no others. */
export const REDIS_COMMANDS = [
  "del",
  "eval",
  "evalsha",
  "get",
  "getex",
  "mget",
  "ping",
  "set",
] as const satisfies readonly (keyof Redis)[];

/** What verbs of the domain may ask Redis for. */
export type RedisCommands = Pick<Redis, (typeof REDIS_COMMANDS)[number]>;
