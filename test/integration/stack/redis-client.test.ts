import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { Redis } from "@upstash/redis/cloudflare";
import * as fc from "fast-check";
import {
  createRedisCommandExecutor,
  RedisServerState,
  Resp2SessionAdapter,
  SocketConnectionTransport,
  ClientSession,
} from "js-redis-server/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCounters } from "../../stack/counters.ts";
import { createFaults } from "../../stack/faults.ts";
import { connectRedis } from "../../stack/redis/client.ts";
import { startRedisFront } from "../../stack/redis/front.ts";
import { encodeCommand, RespDecoder, RespError, type RespValue } from "../../stack/redis/resp.ts";

const line = fc.string({ unit: "grapheme" }).filter((text) => !/[\r\n]/.test(text));
const { reply } = fc.letrec<{ reply: RespValue }>((tie) => ({
  reply: fc.oneof(
    { maxDepth: 3 },
    line,
    line.map((message) => new RespError(message)),
    fc.maxSafeInteger(),
    fc.constant(null),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc.array(tie("reply")),
  ),
}));

function encode(value: RespValue): Buffer {
  if (value === null) return Buffer.from("$-1\r\n");
  if (typeof value === "number") return Buffer.from(`:${value}\r\n`);
  if (typeof value === "string") return Buffer.from(`+${value}\r\n`);
  if (value instanceof RespError) return Buffer.from(`-${value.message}\r\n`);
  if (Array.isArray(value)) return Buffer.concat([Buffer.from(`*${value.length}\r\n`), ...value.map(encode)]);
  return Buffer.concat([Buffer.from(`$${value.length}\r\n`), value, Buffer.from("\r\n")]);
}

describe("RESP", () => {
  test("replies are read the same however the bytes are cut", () => {
    fc.assert(
      fc.property(fc.array(reply), fc.array(fc.nat(40), { minLength: 1 }), (replies, cuts) => {
        const bytes = Buffer.concat(replies.map(encode));
        const decoder = new RespDecoder();
        const read: RespValue[] = [];
        for (let start = 0, turn = 0; start < bytes.length; turn += 1) {
          const end = start + 1 + (cuts[turn % cuts.length] ?? 0);
          read.push(...decoder.push(bytes.subarray(start, end)));
          start = end;
        }
        expect(read).toEqual(replies);
      }),
    );
  });

  test("a nil array is nil, and what is no reply is refused", () => {
    expect(new RespDecoder().push(Buffer.from("*-1\r\n"))).toEqual([null]);
    expect(() => new RespDecoder().push(Buffer.from("HTTP/1.1 400 Bad Request\r\n"))).toThrow(/not a RESP2 reply/);
  });

  test("a command is an array of bulk strings, measured in bytes", () => {
    expect(encodeCommand(["SET", "é", ""]).toString()).toBe("*3\r\n$3\r\nSET\r\n$2\r\né\r\n$0\r\n\r\n");
  });
});

describe("a Redis over TCP", () => {
  const sockets = new Set<Socket>();
  let server: Server;
  let address: string;

  beforeAll(async () => {
    const state = new RedisServerState({ requirepass: "p@ss", databaseCount: 3 });
    const executor = createRedisCommandExecutor();
    server = createServer((socket) => {
      sockets.add(socket);
      const transport = new SocketConnectionTransport(socket);
      const session = new ClientSession({ server: state, executor, signal: transport.signal });
      void new Resp2SessionAdapter({ transport, session }).run();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const bound = server.address();
    address = `127.0.0.1:${typeof bound === "object" ? bound?.port : ""}`;
  });

  afterAll(async () => {
    server.close();
    await once(server, "close");
  });

  test("is asked with the URL's credentials, in the URL's database", async () => {
    const first = connectRedis(`redis://:p%40ss@${address}/1`);
    const second = connectRedis(`redis://default:p%40ss@${address}`);
    expect(
      await first.send([
        ["SET", "key", "one"],
        ["GET", "key"],
      ]),
    ).toEqual(["OK", Buffer.from("one")]);
    expect(await second.send([["GET", "key"]])).toEqual([null]);
    first.close();
    second.close();
  });

  test.each([
    ["a wrong password", ":wrong@", "", /WRONGPASS/],
    ["a database that is not there", ":p%40ss@", "/99", /out of range/],
  ])("with %s takes no command", async (_, credentials, database, error) => {
    const client = connectRedis(`redis://${credentials}${address}${database}`);
    await expect(client.send([["SET", "leaked", "1"]])).rejects.toThrow(error);
    const allowed = connectRedis(`redis://:p%40ss@${address}`);
    expect(await allowed.send([["EXISTS", "leaked"]])).toEqual([0]);
    allowed.close();
  });

  test("is connected to anew after the connection broke, and what was under way fails", async () => {
    const client = connectRedis(`redis://:p%40ss@${address}`);
    await client.send([["SET", "key", "1"]]);
    const waiting = client.send([["BLPOP", "empty", "0"]]);
    const failed = expect(waiting).rejects.toThrow(/closed the connection|ECONNRESET/);
    for (const socket of sockets) socket.destroy();
    await failed;
    expect(await client.send([["GET", "key"]])).toEqual([Buffer.from("1")]);
    client.close();
  });

  test("that is not there fails each command", async () => {
    const client = connectRedis("redis://127.0.0.1:1");
    await expect(client.send([["PING"]])).rejects.toThrow(/ECONNREFUSED/);
    await expect(client.send([["PING"]])).rejects.toThrow(/ECONNREFUSED/);
  });

  test("answers through the front like the embedded one, and its absence is a 500", async () => {
    const options = { faults: createFaults(), counters: createCounters(), token: "a-token" };
    const front = await startRedisFront({ ...options, redisUrl: `redis://:p%40ss@${address}/2` });
    const redis = new Redis({ url: front.url, token: "a-token", retry: false, enableTelemetry: false });
    expect(await redis.multi().set("key", { a: 1 }).get("key").exec()).toEqual(["OK", { a: 1 }]);
    expect(await redis.eval("#!lua flags=allow-key-locking\nreturn redis.call('GET', KEYS[1])", ["key"], [])).toEqual({
      a: 1,
    });
    await front.close();

    const astray = await startRedisFront({ ...options, redisUrl: "redis://127.0.0.1:1" });
    const lost = new Redis({ url: astray.url, token: "a-token", retry: false, enableTelemetry: false });
    await expect(lost.ping()).rejects.toThrow(/ECONNREFUSED/);
    await astray.close();
  });
});
