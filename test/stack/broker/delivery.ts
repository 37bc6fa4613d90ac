import { createHash, createHmac, randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import type { Message } from "./message.ts";

/** What an attempt came to: the destination's answer, or status 0 and an `error` when there was none. */
export interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string[]>;
  readonly body: Buffer;
  readonly error?: string;
}

/** Makes delivery attempts. */
export interface Sender {
  /** One attempt; never rejects. Redirects are answers like any other. */
  send(message: Message): Promise<Answer>;
  /** Cuts what is under way. */
  close(): void;
}

const SIGNATURE_LIFETIME_S = 300;
const MAX_ANSWER_BYTES = 1024 * 1024;
// Below the idle limits of workerd and Node (5 s), so that no attempt meets a connection that is just being closed.
const IDLE_SOCKET_MS = 2000;

/**
 * The `Upstash-Signature` of a delivery: a JWT (HS256) with the destination as `sub` and the SHA-256 of the body, see
 * https://upstash.com/docs/qstash/features/security#claims. `at` in Unix seconds.
 */
export function signature(key: string, url: string, body: Buffer, at: number): string {
  const claims = {
    iss: "Upstash",
    sub: url,
    exp: at + SIGNATURE_LIFETIME_S,
    nbf: at,
    iat: at,
    jti: `jwt_${randomUUID().replaceAll("-", "")}`,
    body: createHash("sha256").update(body).digest("base64url"),
  };
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`;
  return `${signed}.${createHmac("sha256", key).update(signed).digest("base64url")}`;
}

/** A sender that signs with what `signingKey` gives at the time of the attempt. */
export function createSender(signingKey: () => string): Sender {
  const agent = new Agent({ keepAlive: true, timeout: IDLE_SOCKET_MS });

  function attempt(message: Message): Promise<Answer> {
    return new Promise((resolve) => {
      const outgoing = request(message.url, {
        method: message.method,
        agent,
        headers: headersOf(message, signingKey()),
      });
      const deadline = setTimeout(() => outgoing.destroy(new Error("timeout")), message.timeoutMs);
      const finish = (answer: Answer): void => {
        clearTimeout(deadline);
        resolve(answer);
      };
      outgoing.on("error", (error) => finish(noAnswer(error)));
      outgoing.once("response", (incoming) => {
        const chunks: Buffer[] = [];
        let room = MAX_ANSWER_BYTES;
        incoming.on("data", (chunk: Buffer) => {
          if (room > 0) chunks.push(chunk.subarray(0, room));
          room -= chunk.length;
        });
        incoming.once("end", () =>
          finish({
            status: incoming.statusCode ?? 0,
            headers: incoming.headersDistinct,
            body: Buffer.concat(chunks),
          }),
        );
        incoming.on("error", (error) => finish(noAnswer(error)));
      });
      outgoing.end(message.body.length > 0 ? message.body : undefined);
    });
  }

  return { send: (message) => attempt(message).catch(noAnswer), close: () => agent.destroy() };
}

function noAnswer(error: Error): Answer {
  return { status: 0, headers: {}, body: Buffer.alloc(0), error: error.message };
}

function headersOf(message: Message, key: string): Record<string, string | number> {
  return {
    "user-agent": "Upstash-QStash",
    ...message.headers,
    ...(message.body.length > 0 && { "content-length": message.body.length }),
    ...(message.scheduleId !== undefined && { "upstash-schedule-id": message.scheduleId }),
    "upstash-message-id": message.id,
    "upstash-retried": message.retried,
    // By the wall clock and not by virtual time, since the receiver checks it by the wall clock.
    "upstash-signature": signature(key, message.url, message.body, Math.floor(Date.now() / 1000)),
  };
}
