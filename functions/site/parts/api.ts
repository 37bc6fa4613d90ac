import { Buffer } from "node:buffer";
import type { Context as HonoContext } from "hono";
import type * as z from "zod";
import { idempotencyKey } from "../../../shared/http/idempotency.ts";
import { ProblemDetails } from "../../../shared/http/problem-details.ts";
import type { Context } from "../../../shared/platform/context.ts";
import { Problem } from "../../../shared/platform/problem.ts";

/** What the platform says of where a request comes from. */
const ADDRESS = ["cf-connecting-ip", "cf-worker"];
/** What of the visitor's request goes along with a page's own requests: who it is, and which site's form it sends. */
const PASSED_ON = ["cookie", "origin", "sec-fetch-site", "user-agent", "accept-language", ...ADDRESS];
/** What says where a request comes from. Of a page that is only looked at it says where the link stood, and that may be anywhere. */
const OF_SENDERS = new Set(["origin", "sec-fetch-site"]);
/** What of it says nothing of who it is; the address is what requests are counted by. */
const OF_STRANGERS = ["user-agent", ...ADDRESS];
/** What of a program's request goes along: pages take no API keys, programs send them. */
const OF_PROGRAMS = [...PASSED_ON, "authorization", "x-api-key"];
const SENT = { visitor: PASSED_ON, stranger: OF_STRANGERS, program: OF_PROGRAMS };

/** The service's own interface, called in this process as the page's visitor: with its checks, rights and limits. */
export interface Api {
  /** Reads `path`. Throws the `Problem` that the interface answers with. */
  read<T>(path: string, schema: z.ZodType<T>): Promise<T>;
  /** Reads the bytes at `path`, of whatever type. Throws the `Problem` that the interface answers with. */
  bytes(path: string): Promise<Buffer>;
  /**
   * Sends a change, with `key` as its Idempotency-Key, and hands on the cookies that the answer sets. Returns the answer's
   * JSON, null without one. Throws the `Problem` that the interface answers with.
   */
  send(method: "POST" | "PATCH" | "DELETE", path: string, body?: unknown, key?: string): Promise<unknown>;
}

/** What a page's own requests say of where they come from, as somebody of this kind, and that they want JSON. */
export function headersOf({ req }: HonoContext, as: keyof typeof SENT): Headers {
  const headers = new Headers({ accept: "application/json" });
  for (const name of SENT[as]) {
    const value = req.header(name);
    if (value !== undefined && (req.method === "POST" || !OF_SENDERS.has(name))) headers.set(name, value);
  }
  return headers;
}

/** The interface for one visit: as the visitor, as the program that called, or as somebody whom nothing is known of. */
export function apiOf(
  c: HonoContext,
  ctx: Context,
  own: (request: Request) => Promise<Response>,
  { as }: { as: keyof typeof SENT },
): Api {
  const headers = headersOf(c, as);
  headers.set("x-request-id", ctx.requestId);

  async function answered(path: string, init: RequestInit): Promise<Response> {
    const answer = await own(new Request(ctx.env.BASE_URL + path, init));
    for (const line of answer.headers.getSetCookie()) c.header("Set-Cookie", line, { append: true });
    if (answer.status >= 400) throw problemOf(await answer.text(), answer.headers);
    return answer;
  }

  async function ask(path: string, init: RequestInit): Promise<unknown> {
    const text = await (await answered(path, init)).text();
    return text === "" ? null : JSON.parse(text);
  }

  return {
    read: async (path, schema) => schema.parse(await ask(path, { headers })),
    bytes: async (path) => Buffer.from(await (await answered(path, { headers })).arrayBuffer()),
    async send(method, path, body = {}, key) {
      const sent = new Headers(headers);
      sent.set("content-type", "application/json");
      // A form's key is what its sender made of it, and there is text that no header takes.
      if (key !== undefined) sent.set("idempotency-key", idempotencyKey(key));
      return ask(path, { method, headers: sent, body: JSON.stringify(body) });
    },
  };
}

/** A problem as the interface told it. */
export function problemOf(text: string, headers: Headers): Problem {
  const { code, detail, errors, limit, used, resets_at, larger_plan } = ProblemDetails.parse(JSON.parse(text));
  const retry = headers.get("retry-after");
  return new Problem(code, detail, {
    ...(errors === undefined ? {} : { errors }),
    ...(limit === undefined ? {} : { members: { limit, used, resets_at, larger_plan } }),
    ...(retry === null ? {} : { headers: { "Retry-After": retry } }),
  });
}
