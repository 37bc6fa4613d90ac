import { bodyLimit } from "hono/body-limit";
import type { MiddlewareHandler } from "hono";
import * as z from "zod";
import { Problem, type ProblemCode } from "../platform/problem.ts";
import type { Route } from "./route.ts";
import { findingsProblem, refuseItems, unstorable, validationProblem } from "./validation.ts";
import type { HttpContext, HttpEnv } from "./variables.ts";

export const MAX_BODY_BYTES = 1024 * 1024;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** The body that an endpoint without a declared one accepts. */
const NOTHING = z.strictObject({});

/**
 * The steps that read and validate the body of a route's requests. A route without a declared body accepts an empty one
 * or `{}`. The content of a GET has no meaning (RFC 9110 section 9.3.1) and is never read.
 */
export function bodySteps(route: Route): MiddlewareHandler<HttpEnv>[] {
  if (route.method === "get") return [];
  const { types = [], maxBytes = MAX_BODY_BYTES, asBytes = false, invalid } = route.accepts ?? {};
  const limit: MiddlewareHandler<HttpEnv> = bodyLimit({ maxSize: maxBytes, onError: () => tooLarge(maxBytes) });
  if (route.body === undefined) return [limit, refuseBody];
  return [limit, asBytes ? readBytes(types) : readBody(types, { schema: route.body, itemsIn: route.itemsIn, invalid })];
}

function tooLarge(bytes: number): never {
  throw new Problem("payload_too_large", `The body is larger than ${bytes} bytes; send less in one request.`);
}

/** The body as text: UTF-8, as it comes. Bytes that are none would be replaced one by one, and kept so. */
async function textOf(c: HttpContext): Promise<string> {
  const encoding = c.req.header("content-encoding")?.trim().toLowerCase() ?? "";
  if (encoding !== "" && encoding !== "identity") {
    throw new Problem(
      "unsupported_media_type",
      "Send the body without Content-Encoding; it is not decompressed here.",
      {
        headers: { "Accept-Encoding": "identity" },
      },
    );
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await c.req.arrayBuffer());
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Problem("malformed_json", "The body is not UTF-8, whatever its Content-Type says; send it as UTF-8.");
  }
}

/** Refuses a body whose media type is neither JSON nor one of `others`. */
function assertMedia(c: HttpContext, others: readonly string[]): void {
  const type = c.req.header("content-type") ?? "";
  const name = type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (JSON_TYPE.test(type) || others.includes(name)) return;
  const named = ["application/json", ...others].join(" or ");
  throw new Problem("unsupported_media_type", `Send the body with Content-Type: ${named}.`);
}

/** What a body is validated by; `itemsIn` and `invalid` are those of the route. */
interface Wanted {
  schema: z.ZodType;
  itemsIn?: string | undefined;
  invalid?: ProblemCode | undefined;
}

/**
 * The body as its schema returns it. What can't be stored is refused before the schema sees it, because a schema may
 * recurse as deep as the body does. In the list `itemsIn` only the items that can't be stored are refused.
 */
function parse(text: string, { schema, itemsIn, invalid }: Wanted): unknown {
  const sent = parseJson(text);
  const body = itemsIn === undefined ? sent : refuseItems(sent, itemsIn);
  const findings = unstorable("body", body);
  if (findings.length > 0) throw findingsProblem(findings, invalid);
  const result = schema.safeParse(body);
  if (!result.success) throw validationProblem("body", result.error, invalid);
  return result.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem("malformed_json", "The body can't be parsed as JSON; check quotes and commas.");
  }
}

/** Reads the body. One that is empty, or white space, counts as `{}`, whatever its media type, if the schema accepts that. */
function readBody(types: readonly string[], wanted: Wanted): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const text = await textOf(c);
    const empty = text.trim() === "" ? wanted.schema.safeParse({}) : undefined;
    if (empty?.success === true) {
      c.set("body", empty.data);
    } else {
      assertMedia(c, types);
      c.set("body", parse(text, wanted));
    }
    await next();
  };
}

function readBytes(types: readonly string[]): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    assertMedia(c, types);
    c.set("body", new Uint8Array(await c.req.arrayBuffer()));
    await next();
  };
}

const refuseBody: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const text = c.req.raw.body === null ? "" : (await textOf(c)).trim();
  // Clients that send `{}` for an empty body do not always name its media type.
  if (text !== "" && text !== "{}") {
    assertMedia(c, []);
    parse(text, { schema: NOTHING });
  }
  await next();
};
