import { randomUUID } from "node:crypto";
import * as z from "zod";
import type { Counters } from "../counters.ts";
import type { Faults } from "../faults.ts";
import { bearer, json, listen, type Listening, type Reply, type Request } from "../http.ts";
import { REDIS } from "../limits.ts";
import { connectRedis, embedRedis, type RedisClient } from "./client.ts";
import { RespError, type RespValue } from "./resp.ts";
import { createScripts } from "./scripts.ts";

/** The front, and the bearer token that it asks for. */
export interface RedisFront extends Listening {
  readonly token: string;
}

// Arguments come as JSON values; what is not a string is sent as its JSON text.
const Argument = z.union([z.string(), z.unknown().transform((value) => JSON.stringify(value))]);
const Command = z.tuple([z.string()], Argument);
const Batch = z.array(Command).min(1);
type Command = readonly string[];

// They would hold up or change the connection that all callers share. Upstash refuses them over REST, too.
const REFUSED = new Set(
  (
    "AUTH BLMOVE BLMPOP BLPOP BRPOP BRPOPLPUSH BZMPOP BZPOPMAX BZPOPMIN CLIENT DISCARD EXEC HELLO MONITOR MULTI " +
    "PSUBSCRIBE QUIT RESET SELECT SSUBSCRIBE SUBSCRIBE UNWATCH WAIT WATCH"
  ).split(" "),
);

/** A request that is refused with 400 and this text. */
class Refusal extends Error {}

/**
 * Serves Upstash's REST protocol in front of a Redis: a command as a JSON array or as a path, `/pipeline`,
 * `/multi-exec`; values in base64 where `Upstash-Encoding` asks for it; errors as `{error}`.
 * @param options.redisUrl the Redis behind it; without one, an embedded Redis of its own, empty at the start.
 * @param options.token the bearer token to ask for; a random one when not given.
 * @throws the listen error, such as `EADDRINUSE`.
 */
export async function startRedisFront(options: {
  faults: Faults;
  counters: Counters;
  port?: number | undefined;
  redisUrl?: string | undefined;
  token?: string | undefined;
}): Promise<RedisFront> {
  const { faults, counters, redisUrl, token = randomUUID() } = options;
  const redis = redisUrl === undefined ? embedRedis() : connectRedis(redisUrl);
  const scripts = createScripts();

  async function send(commands: readonly Command[], transaction: boolean): Promise<RespValue[]> {
    const refused = commands.find(([name = ""]) => REFUSED.has(name.toUpperCase()));
    const long = commands.flatMap(keysOf).find((key) => Buffer.byteLength(key) > REDIS.keyBytes);
    if (long !== undefined) {
      const actual = Buffer.byteLength(long);
      throw new Refusal(`ERR max key size exceeded. Limit: ${REDIS.keyBytes} bytes, Actual: ${actual} bytes`);
    }
    if (refused !== undefined) throw new Refusal(`ERR Command is not available: '${refused[0]}'`);
    counters.redis.commands += commands.length;
    const sent = commands.map((command) => scripts.toRedis(command));
    const replies = await (transaction ? execute(redis, sent) : redis.send(sent));
    return replies.map((reply, index) => scripts.fromRedis(commands[index] ?? [], reply));
  }

  async function rest(request: Request): Promise<Reply> {
    const { pathname, searchParams } = request.url;
    if ((bearer(request.headers) ?? searchParams.get("_token")) !== token) {
      return json(401, { error: "WRONGPASS invalid or missing auth token" });
    }
    if (request.body.length + request.url.pathname.length > REDIS.requestBytes) {
      throw new Refusal("ERR max request size exceeded");
    }
    const base64 = request.headers["upstash-encoding"] === "base64";
    if (pathname === "/pipeline" || pathname === "/multi-exec") {
      const replies = await send(parse(Batch, request.body), pathname === "/multi-exec");
      return json(
        200,
        replies.map((reply) => entry(reply, base64)),
      );
    }
    const command = pathname === "/" ? parse(Command, request.body) : commandOfPath(request);
    const [reply = null] = await send([command], false);
    return json(reply instanceof RespError ? 400 : 200, entry(reply, base64));
  }

  const faulty = faults.around("redis", (request) => rest(request).catch(failure));
  const server = await listen((request) => {
    counters.redis.requests += 1;
    return faulty(request);
  }, options.port);

  return {
    ...server,
    token,
    async close() {
      await server.close();
      redis.close();
    },
  };
}

/** The keys that a command names: those that a script declares, else the first argument. */
function keysOf([name = "", ...args]: Command): readonly string[] {
  return /^(EVAL|FCALL)/i.test(name) ? args.slice(2, 2 + Number(args[1])) : args.slice(0, 1);
}

/** Runs the commands as one transaction, and gives their replies. */
async function execute(redis: RedisClient, commands: readonly Command[]): Promise<RespValue[]> {
  const replies = await redis.send([["MULTI"], ...commands, ["EXEC"]]);
  const outcome = replies.at(-1);
  if (Array.isArray(outcome)) return outcome;
  throw new Refusal(outcome instanceof RespError ? outcome.message : "EXECABORT Transaction discarded");
}

function parse<T>(schema: z.ZodType<T>, body: Buffer): T {
  try {
    return schema.parse(JSON.parse(body.toString()));
  } catch (error) {
    throw new Refusal("ERR failed to parse the command", { cause: error });
  }
}

/** `/SET/key/value?EX=10`, where a body is one more argument, before those of the query. */
function commandOfPath({ url, body }: Request): Command {
  const path = url.pathname.slice(1).split("/").map(decodeURIComponent);
  const query = [...url.searchParams].filter(([name]) => name !== "_token").flat();
  return [...path, ...(body.length > 0 ? [body.toString()] : []), ...query.filter((part) => part !== "")];
}

/** A reply as the protocol words it. Only the status OK of a whole command goes without base64. */
function entry(reply: RespValue, base64: boolean): { result: unknown } | { error: string } {
  if (reply instanceof RespError) return { error: reply.message };
  return { result: reply === "OK" ? reply : shape(reply, base64 ? "base64" : "utf8") };
}

function shape(value: RespValue, encoding: "base64" | "utf8"): unknown {
  if (Array.isArray(value)) return value.map((item) => shape(item, encoding));
  if (value === null || typeof value === "number") return value;
  return Buffer.from(value instanceof RespError ? value.message : value).toString(encoding);
}

function failure(error: unknown): Reply {
  if (error instanceof Refusal) return json(400, { error: error.message });
  return json(500, { error: String(error) });
}
