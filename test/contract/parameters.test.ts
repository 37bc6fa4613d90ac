import { describe, expect, test } from "vitest";
import { ROUTES } from "../../functions/routes.ts";
import { createApp } from "../../shared/http/app.ts";
import { problemsOf } from "../../shared/http/route-problems.ts";
import type { Route } from "../../shared/http/route.ts";
import { BASE_URL, endpointsOf, sealedService } from "./sealed.ts";

/** Of the API, what must ignore parameters that it does not know: OAuth's callback (RFC 6749 section 4.1.2). */
const LENIENT = ["endCodeHost"];

const { service } = await sealedService();

/** The routes as they are declared, but open to all and without work: what is left to refuse is the query. */
const spied = ROUTES.map((route): Route => {
  const { params: _params, body: _body, cache: _cache, right: _right, ...rest } = route;
  return { ...rest, auth: "none", limit: null, handler: () => new Response(null, { status: 204 }) };
});
const app = createApp(service, endpointsOf(spied));

async function ask(route: Route, query: string) {
  const path = route.path.replaceAll(/\{\w+\}/g, "01938e7a-0000-7000-8000-000000000003");
  const answer = await app.request(`${BASE_URL}${path}?${query}`, { method: route.method.toUpperCase() });
  return { status: answer.status, body: answer.status === 422 ? await answer.json() : null };
}

const strict = spied.filter(({ id, path }) => path.startsWith("/api/v1/") && !LENIENT.includes(id));
const lenient = spied.filter((route) => !strict.includes(route));
const named = (routes: readonly Route[]) =>
  routes.map((route) => [`${route.method.toUpperCase()} ${route.path}`, route] as const);

describe("a query parameter that is not known", () => {
  test.each(named(strict))("is refused by %s, which says what is nearest to it", async (_name, route) => {
    const known = Object.keys(route.query?.shape ?? {});
    for (const [name, pointer] of [
      ["pagesize", "/pagesize"],
      ["__proto__", "/__proto__"],
      ["constructor", "/constructor"],
      ["a/b~c", "/a~1b~0c"],
      ["", "/"],
    ] as const) {
      const { status, body } = await ask(route, `${encodeURIComponent(name)}=1`);
      const errors = [{ in: "query", pointer, code: "unrecognized_parameter", message: expect.any(String) }];
      expect({ status, body }).toMatchObject({ status: 422, body: { code: "unrecognized_parameter", errors } });
      const [{ message }] = (body as { errors: [{ message: string }] }).errors;
      if (known.length === 0) expect(message).toContain("takes no query parameters");
      else expect(known).toContain(/nearest known one is (\w+)\.$/.exec(message)?.[1]);
      if (name === "pagesize" && known.includes("page_size")) expect(message).toContain("page_size");
    }
  });

  test.each(named(strict))("is declared among the problems of %s", (_name, route) => {
    expect(problemsOf(route)).toContain("unrecognized_parameter");
  });

  test.each(named(lenient))("is ignored by %s", async (_name, route) => {
    expect((await ask(route, "utm_source=x&pagesize=1")).status).toBe(204);
    expect(problemsOf(route)).not.toContain("unrecognized_parameter");
  });

  test("is named once however often it was sent, and the first twenty of very many", async () => {
    const route = spied.find(({ id }) => id === "listTasks") as Route;
    const pointers = async (query: string) =>
      ((await ask(route, query)).body as { errors: { pointer: string }[] }).errors.map(({ pointer }) => pointer);
    expect(await pointers("x=1&x=2&domain=math&y=1")).toEqual(["/x", "/y"]);
    expect(await pointers(Array.from({ length: 500 }, (_, n) => `p${n}=`).join("&"))).toHaveLength(20);
  });
});
