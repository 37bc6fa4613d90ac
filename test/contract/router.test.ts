import * as fc from "fast-check";
import { TrieRouter } from "hono/router/trie-router";
import { describe, expect, it } from "vitest";
import { PAGE_PLACES, PLACES } from "../../functions/places.static.ts";
import { ByBeginning } from "../../shared/http/by-beginning.ts";
import { asHono } from "../../shared/http/paths.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const ROUTES: [method: string, path: string][] = [
  ["ALL", "*"],
  ...[...PLACES, ...PAGE_PLACES].map(({ method, path }): [string, string] => [method.toUpperCase(), asHono(path)]),
  ["POST", "/queues/dispatch"],
  ["ALL", "/api/*"],
];
const NAMES = [...new Set(ROUTES.flatMap(([, path]) => path.split("/").filter((name) => /^[\w.-]+$/.test(name))))];

const all = new TrieRouter<number>();
const byBeginning = new ByBeginning<number>();
for (const [n, [method, path]] of ROUTES.entries()) {
  all.add(method, path, n);
  byBeginning.add(method, path, n);
}

/** What both routers find is the same, in the same order. */
function expectAlike(path: string): void {
  for (const method of METHODS)
    expect([method, path, byBeginning.match(method, path)]).toEqual([method, path, all.match(method, path)]);
}

describe("a router that looks at what a path begins with finds what one of all routes does", () => {
  it.each(["01938e7a-0000-7000-8000-000000000003", "bulk", "export", "a:b", "*", ":id", "é ü"])(
    "at every path, with the parameter %s",
    (value) => {
      for (const [, path] of ROUTES) {
        const asked = path.replaceAll(/:\w+(?:\{\.\+\})?/g, value);
        for (const one of [asked, `${asked}/`, `${asked}/more`, asked.replace(/\/[^/]*$/, "")]) expectAlike(one || "/");
      }
    },
  );

  it("at any path made of their names", () => {
    const name = fc.oneof(fc.constantFrom(...NAMES), fc.constantFrom("", "api", "v1", ":", "*", "x"), fc.string());
    fc.assert(fc.property(fc.array(name, { maxLength: 7 }), (names) => expectAlike(`/${names.join("/")}`)));
  });

  it("when a route is added after a first request", () => {
    const router = new ByBeginning<string>();
    router.add("GET", "/api/v1/runs/:id", "run");
    expect(router.match("GET", "/api/v1/runs/export")).toMatchObject([[["run", { id: "export" }]]]);
    router.add("GET", "/api/v1/runs/export", "export");
    expect(router.match("GET", "/api/v1/runs/export")[0]).toHaveLength(2);
  });
});
