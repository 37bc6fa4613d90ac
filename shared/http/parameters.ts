import type { MiddlewareHandler } from "hono";
import * as z from "zod";
import type { Finding } from "../platform/problem.ts";
import { nearest } from "../platform/text.ts";
import type { Route } from "./route.ts";
import { escapePointer, findingsProblem, MAX_FINDINGS } from "./validation.ts";
import type { HttpContext } from "./variables.ts";

/** The API is below this path. Everything else are pages, which people link to with parameters of their own. */
const API = "/api/v1/";
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The query parameters that an endpoint knows; null where it ignores all others: for a page, and for an endpoint whose
 * query is declared as a loose object because the standard that it follows says to ignore unknown parameters.
 */
export function knownParameters({ path, query }: Pick<Route, "path" | "query">): readonly string[] | null {
  if (!path.startsWith(API)) return null;
  const others = query?.def.catchall;
  if (others !== undefined && others._zod.def.type !== "never") return null;
  return Object.keys(query?.shape ?? {});
}

/** Refuses a request with other query parameters than `known`: 422 `unrecognized_parameter`. */
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
      : `This endpoint does not know this parameter; the nearest known one is ${like}.`;
  return { in: "query", pointer: `/${escapePointer(name)}`, code: "unrecognized_parameter", message };
}

/** The validated query of a request, ordered by name and without default values, whether they were sent or not. */
export function canonicalQuery({ query }: Route, c: HttpContext): [name: string, value: unknown][] {
  if (query === undefined) return [];
  const byDefault = (name: string): unknown => {
    const field = query.shape[name];
    return field instanceof z.ZodDefault ? field.def.defaultValue : undefined;
  };
  return ordered(c.get("query")).filter(([name, value]) => value !== byDefault(name));
}

/**
 * One key for all spellings of a request: they may differ in the order and number format of the parameters, in defaults
 * that are sent or left out, and in capitals of an id.
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
