import { connect as connectTcp } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { createRedisCommandExecutor, createVirtualConnection, RedisServerState } from "js-redis-server/core";
import { encodeCommand, RespDecoder, RespError, type RespValue } from "./resp.ts";

/** Redis commands, each a name and its arguments. */
export type Commands = readonly (readonly string[])[];

/** A Redis that commands can be sent to. */
export interface RedisClient {
  /**
   * Sends commands together on one connection, so that nothing comes between them, and gives their replies in order.
   * Connects if there is no connection; commands that were under way when one breaks are not sent again.
   * @throws when Redis cannot be reached, refuses the URL's credentials, or goes away before it has answered.
   */
  send(commands: Commands): Promise<RespValue[]>;
  /** Cuts the connection. */
  close(): void;
}

interface Connection {
  exchange(commands: Commands): Promise<RespValue[]>;
  destroy(error: Error): void;
}

interface Exchange {
  readonly expected: number;
  readonly replies: RespValue[];
  resolve(replies: RespValue[]): void;
  reject(error: Error): void;
}

/** A client of the Redis at `redis://` or `rediss://[user][:password@]host[:port][/database]`; connects when used. */
export function connectRedis(url: string): RedisClient {
  const { hostname, port, protocol, username, password, pathname } = new URL(url);
  const address = { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 6379), noDelay: true };
  const greeting: string[][] = [];
  const user = username === "" ? [] : [decodeURIComponent(username)];
  if (password !== "") greeting.push(["AUTH", ...user, decodeURIComponent(password)]);
  if (pathname.length > 1) greeting.push(["SELECT", pathname.slice(1)]);
  return createClient(() => (protocol === "rediss:" ? connectTls(address) : connectTcp(address)), greeting);
}

/** A client of a Redis of its own inside this process, empty, kept in memory; its time is that of `Date.now`. */
export function embedRedis(): RedisClient {
  const state = new RedisServerState();
  const executor = createRedisCommandExecutor();
  const client = createClient(() => createVirtualConnection({ state, executor }).clientSocket, []);
  return {
    send: (commands) => client.send(commands),
    close() {
      client.close();
      state.close();
    },
  };
}

function createClient(connect: () => Duplex, greeting: Commands): RedisClient {
  let current: Connection | undefined;

  function connection(): Connection {
    if (current !== undefined) return current;
    const opened = converse(connect(), greeting, () => {
      if (current === opened) current = undefined;
    });
    current = opened;
    return opened;
  }

  return {
    send: (commands) => connection().exchange(commands),
    close: () => current?.destroy(new Error("the Redis client was closed")),
  };
}

function converse(socket: Duplex, greeting: Commands, onClose: () => void): Connection {
  const decoder = new RespDecoder();
  const exchanges: Exchange[] = [];
  let failure = new Error("Redis closed the connection");

  function take(reply: RespValue): void {
    const oldest = exchanges[0];
    if (oldest === undefined) throw new Error("Redis sent a reply to nothing");
    oldest.replies.push(reply);
    if (oldest.replies.length === oldest.expected) exchanges.shift()?.resolve(oldest.replies);
  }

  function exchange(commands: Commands): Promise<RespValue[]> {
    return new Promise((resolve, reject) => {
      if (commands.length === 0) return resolve([]);
      exchanges.push({ expected: commands.length, replies: [], resolve, reject });
      // What is written before the connection stands waits in the socket.
      socket.write(Buffer.concat(commands.map(encodeCommand)));
    });
  }

  async function greet(): Promise<void> {
    const refusal = (await exchange(greeting)).find((reply) => reply instanceof RespError);
    if (refusal === undefined) return;
    socket.destroy();
    throw refusal;
  }

  socket.on("data", (chunk: Buffer) => {
    try {
      decoder.push(chunk).forEach(take);
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  });
  socket.on("error", (error) => {
    failure = error;
  });
  socket.on("close", () => {
    onClose();
    for (const pending of exchanges.splice(0)) pending.reject(failure);
  });

  const greeted = greet();
  return {
    async exchange(commands) {
      await greeted;
      return exchange(commands);
    },
    destroy: (error) => void socket.destroy(error),
  };
}
