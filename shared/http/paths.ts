import { shapeOf } from "./order.ts";
import type { Endpoint } from "./route.ts";

/** A parameter at the end of a path whose name ends in `_path` takes all that is left of the path, slashes included. */
const REST = /\{(\w+_path)\}$/;

/**
 * A path as Hono writes it.
 * @example
 * asHono("/runs/{run_id}") // "/runs/:run_id"
 */
export function asHono(path: string): string {
  return path.replace(REST, ":$1{.+}").replaceAll(/\{(\w+)\}/g, ":$1");
}

/**
 * The paths that hide this endpoint where both fit a request: in the place of its parameter they have a name, so that
 * `DELETE /agents/bulk` does not delete the agent whose id is "bulk".
 */
export function hidingOf(endpoint: Endpoint, endpoints: readonly Endpoint[]): string[] {
  const shape = shapeOf(endpoint.path);
  const others = endpoints.map(({ path }) => path).filter((path) => shapeOf(path) < shape && fits(endpoint.path, path));
  return [...new Set(others)];
}

/** Whether a declared path fits; its pattern is only made where the names before its first parameter fit. */
export function fits(declared: string, path: string): boolean {
  const brace = declared.indexOf("{");
  if (brace < 0) return declared === path;
  return path.startsWith(declared.slice(0, brace)) && patternOf(declared).test(path);
}

function patternOf(declared: string): RegExp {
  const names = declared.replaceAll(".", "\\.").replace(REST, ".+");
  return new RegExp(`^${names.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}

/** The methods that are allowed at a path: those of the endpoints that fit it best; none where nothing is there. */
export function methodsAt(endpoints: readonly Endpoint[], path: string): string[] {
  const fitting = endpoints.filter((one) => fits(one.path, path));
  const best = fitting.map((one) => shapeOf(one.path)).toSorted()[0];
  const found = fitting.filter((one) => shapeOf(one.path) === best).map(({ method }) => method.toUpperCase());
  return [...new Set(found)].flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
}
