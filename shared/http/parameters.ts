import type { MiddlewareHandler } from "hono";
import * as z from "zod";
import type { Finding } from "../platform/problem.ts";
import { nearest } from "../platform/text.ts";
import type { Route } from "./route.ts";
import { escapePointer, findingsProblem } from "./validation.ts";
import type { HttpContext } from "./variables.ts";

/** Everything below this path is the API; what stands beside it are pages, which people link to with parameters of their own. */
const API = "/api/v1/";
const MAX_FINDINGS = 20;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The query parameters that an endpoint knows; null where it ignores all others: a page, or an endpoint of the API whose
 * query is declared as a loose object because another party's standard says to ignore what is not known.
 */
export function knownParameters({ path, query }: Pick<Route, "path" | "query">): readonly string[] | null {
  if (!path.startsWith(API)) return null;
  const others = query?.def.catchall;
  if (others !== undefined && others._zod.def.type !== "never") return null;
  return Object.keys(query?.shape ?? {});
}

/** Refuses a request that has query parameters beside `known` with 422 `unrecognized_parameter`. */
export function refuseUnknown(known: readonly string[]): MiddlewareHandler {
  return async (c, next) => {
    const start = c.req.url.indexOf("?");
    if (start >= 0) {
      const sent = new Set(new URLSearchParams(c.req.url.slice(start)).keys());
      const unknown = [...sent].filter((name) => !known.includes(name));
      if (unknown.length > 0) throw findingsProblem(unknown.slice(0, MAX_FINDINGS).map((name) => finding(name, known)));
    }
    await next();
  };
}

function finding(name: string, known: readonly string[]): Finding {
  const like = nearest(name, known);
  const message =
    like === null
      ? "This endpoint takes no query parameters; remove it."
      : `This parameter is not known here; the nearest known one is ${like}.`;
  return { in: "query", pointer: `/${escapePointer(name)}`, code: "unrecognized_parameter", message };
}

/** The validated query of a request, ordered by name; what would be so by default is left out, whether it was sent or not. */
export function canonicalQuery({ query }: Route, c: HttpContext): [name: string, value: unknown][] {
  if (query === undefined) return [];
  const byDefault = (name: string): unknown => {
    const field = query.shape[name];
    return field instanceof z.ZodDefault ? field.def.defaultValue : undefined;
  };
  return ordered(c.get("query")).filter(([name, value]) => value !== byDefault(name));
}

/**
 * What a request asks for, the same for all of its spellings: order and number format of the parameters, defaults said or
 * left out, capitals in an id.
 */
export function canonicalKey(route: Route, c: HttpContext): string {
  return JSON.stringify([route.id, ordered(c.get("params")), canonicalQuery(route, c)], (_name, value: unknown) =>
    typeof value === "string" && UUID.test(value) ? value.toLowerCase() : value,
  );
}

function ordered(values: Record<string, unknown>): [string, unknown][] {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}
