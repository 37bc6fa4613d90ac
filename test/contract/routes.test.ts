import { describe, expect, test } from "vitest";
import * as z from "zod";
import { ENDPOINTS as SERVED } from "../../functions/endpoints.ts";
import { ROUTES } from "../../functions/routes.ts";
import { createApp } from "../../shared/http/app.ts";
import { problemsOf } from "../../shared/http/route-problems.ts";
import { type Route, scopeOf } from "../../shared/http/route.ts";
import { PROBLEMS, type ProblemCode } from "../../shared/platform/problem.ts";
import { type Callers, CLASSES, ENDPOINTS } from "./endpoints.ts";
import { looseObjects, shapesOf } from "./json-schema.ts";
import { BASE_URL, endpointsOf, sealedService } from "./sealed.ts";
import { modules } from "./sources.ts";

/** What callers have to show where the auth class lets everybody through to the handler. */
const NEEDED_BY: Partial<Record<Callers, Route["needs"]>> = {
  "agent or owner": "runToken",
  "receiver credential": "receiver",
  "refresh cookie": "refresh",
};
const NEEDS: Record<string, Route["needs"]> = {
  "POST /api/v1/payment-provider/webhook": "signature",
  "POST /api/v1/auth/second-factor": "firstStep",
  "POST /api/v1/auth/logout": "ending",
};

/** What any API key may do: its answers are the same for everybody, or ask for each scope by themselves. */
const ANY_KEY = [
  "GET /api/v1/auth/me",
  "POST /mcp",
  "GET /api/v1/agents/{agent_id}/badge.svg",
  "GET /api/v1/leaderboard",
  "GET /api/v1/leaderboard/history/{day}",
  "GET /api/v1/suites",
  "GET /api/v1/suites/{id}",
  "GET /api/v1/suites/{id}/field",
  "GET /api/v1/tasks",
  "GET /api/v1/tasks/{task_id}",
  "GET /api/v1/billing/status",
  "POST /api/v1/billing/notify-me",
  "POST /api/v1/billing/enterprise-waitlist",
  "GET /api/v1/certify/diagnostic",
  "GET /api/v1/credentials/status/{list}",
  "GET /api/v1/marketplace/listings",
  "GET /api/v1/marketplace/listings/{id}",
  "GET /api/v1/epochs",
  "GET /log/checkpoint",
  "GET /log/key",
  "GET /log/tile/{tile_path}",
  "POST /api/v1/evidence/verify",
  "POST /api/v1/evidence/regrade",
];

/** Fields of bodies that take any JSON on purpose. */
const FREE_FORM: Record<string, string[]> = {
  createAgent: ["declared_configuration"],
  updateAgent: ["declared_configuration"],
  addPasskey: ["credential", "credential.response"],
  signInByPasskey: ["credential", "credential.response"],
  updateRun: ["output", "tool_calls[].arguments", "usage"],
  queryGraphql: ["variables", "extensions"],
  createTask: ["input", "output_schema", "tools[].parameters", "expected_output", "fields"],
  submitTask: ["input", "output_schema", "tools[].parameters", "expected_output", "fields"],
  reportCsp: ["", "csp-report", "[]", "[].body"],
};

/** Statuses without a body; by MCP's standard a notification is answered by a 202 without one, too. */
const BODILESS = ["204", "302"];

/** Codes that no route declares because the app itself answers with them, at paths and methods that no route has. */
const OF_THE_APP: ProblemCode[] = ["method_not_allowed"];

/** Codes of single findings that are no problems of their own; `validation_failed` stands above them. */
const FINDINGS = ["always_on", "invalid_format", "missing_field", "not_unique", "too_big"];

/** The modules that pass a code on instead of naming one. */
const PASSING_ON = ["functions/site/parts/api.ts", "shared/http/validation.ts", "shared/platform/problem.ts"];

/** Lists that come whole, as the contract says of them or of what they belong to. */
const WHOLE = [
  "GET /api/v1/agents/{agent_id}/blueprint/versions",
  "GET /api/v1/agents/{agent_id}/history",
  "GET /api/v1/runs/{run_id}/phases",
  "GET /api/v1/runs/{run_id}/spans",
  "GET /api/v1/suites/{id}/field",
  "GET /api/v1/usage",
];

const named = ROUTES.map((route): [string, Route] => [`${route.method.toUpperCase()} ${route.path}`, route]);
const codes = Object.keys(PROBLEMS) as ProblemCode[];
const running = modules();

function found(pattern: RegExp): string[] {
  const hits = running.flatMap(({ text }) => [...text.matchAll(pattern)].map(([, code = ""]) => code));
  return [...new Set(hits)].toSorted();
}

/** Every code that some module names where it throws or reports, and `not_found` for its helper. */
const emitted = found(/\b(?:new Problem|bodyProblem)\(\s*"(\w+)"/g);
const reported = found(/(?:\bpointer\b[^{}]*?,\s*code: |\bparams: \{ code: )"(\w+)"/g);

describe("the routes together", () => {
  test.each<[string, (route: Route) => string]>([
    ["ids", ({ id }) => id],
    ["pairs of method and path", ({ method, path }) => `${method} ${path}`],
    ["pairs of method and shape of the path", ({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, "{}")}`],
  ])("have unique %s", (_what, key) => {
    const seen = ROUTES.map(key);
    expect(seen.filter((one, index) => seen.indexOf(one) !== index)).toEqual([]);
  });

  test.each([
    ["in the order of the list", ROUTES],
    ["in the opposite order", ROUTES.toReversed()],
  ])("are reached, each at its own path, when they are declared %s", async (_order, routes) => {
    const { service } = await sealedService();
    const open = routes.map(({ id, method, path, tag, summary, returns }): Route => {
      const handler = () => new Response(null, { status: 204, headers: { "X-Reached": id } });
      return { id, method, path, tag, summary, returns, auth: "none", limit: null, handler };
    });
    const app = createApp(service, endpointsOf(open));
    const reached = await Promise.all(
      open.map(async ({ method, path }) => {
        const url = BASE_URL + path.replaceAll(/\{\w+\}/g, "01938e7a-0000-7000-8000-000000000003");
        const answer = await app.request(url, { method: method.toUpperCase() });
        return answer.headers.get("x-reached");
      }),
    );
    expect(reached).toEqual(open.map(({ id }) => id));
  });

  const patterns = new Map(
    SERVED.map(({ path }) => [
      path,
      new RegExp(`^${path.replaceAll(/\{\w+_path\}$/g, ".+").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
    ]),
  );
  /** Each path that has a name where another one has a parameter, with a method that only the other one has. */
  const hidden = [...patterns.keys()].flatMap((path) => {
    const own = SERVED.filter((one) => one.path === path).map(({ method }) => method);
    const others = SERVED.filter((one) => one.path !== path && patterns.get(one.path)?.test(path));
    return [...new Set(others.map(({ method }) => method))]
      .filter((method) => !own.includes(method))
      .map((method) => [method, path, own] as const);
  });

  test("have paths with a name where others have a parameter", () => {
    expect(hidden.map(([method, path]) => `${method} ${path}`)).toEqual(
      expect.arrayContaining(["get /api/v1/agents/bulk", "delete /api/v1/agents/bulk", "get /api/v1/runs/batch"]),
    );
  });

  test.each(hidden)("refuse %s at %s, which is no id, and name what is allowed there", async (method, path, own) => {
    const { service } = await sealedService();
    const app = createApp(service, SERVED);
    const url = BASE_URL + path.replaceAll(/\{\w+\}/g, "01938e7a-0000-7000-8000-000000000003");
    const { status, headers } = await app.request(url, { method: method.toUpperCase() });
    const allowed = own.flatMap((one) => (one === "get" ? ["GET", "HEAD"] : [one.toUpperCase()]));
    expect([status, headers.get("allow")?.split(", ").toSorted()]).toEqual([405, allowed.toSorted()]);
  });

  test("are the contract's endpoints, no more and no fewer", () => {
    const listed = ENDPOINTS.map(([method, path]) => `${method} ${path}`);
    expect(new Set(listed).size).toBe(listed.length);
    expect(named.map(([name]) => name).toSorted()).toEqual(listed.toSorted());
  });
});

describe.each(named)("%s", (name, route) => {
  test("lets in whom the contract says", () => {
    const listed = ENDPOINTS.find(([method, path]) => `${method} ${path}` === name);
    if (listed === undefined) throw new Error(`${name} is not in the contract's list`);
    expect(CLASSES[listed[2]]).toContain(route.auth);
    expect(route.ownTokens !== undefined).toBe(listed[2] === "agent or owner");
    expect(route.needs).toBe(NEEDS[name] ?? NEEDED_BY[listed[2]]);
  });

  test("asks API keys for a scope, unless what it tells is everybody's", () => {
    const takesKeys = !["none", "visitor", "session", "admin"].includes(route.auth);
    expect(scopeOf(route) !== null).toBe(takesKeys && !ANY_KEY.includes(name));
  });

  test("looks at a browser's cookie alone, if and only if it is a page", () => {
    expect(route.auth === "visitor").toBe(route.tag === "Pages");
  });

  test("has a name, a tag and a summary that a reader can use", () => {
    expect(route.id).toMatch(/^[a-z][A-Za-z]+$/);
    expect(route.tag).toMatch(/^[A-Z][a-z]+/);
    expect(route.summary).toMatch(/^\S.{3,80}[^.\s]$/);
  });

  test("declares exactly the parameters of its path", () => {
    const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, parameter = ""]) => parameter);
    expect(Object.keys(route.params?.shape ?? {}).toSorted()).toEqual(inPath.toSorted());
    expect(route.path).toMatch(/^\/(?:[a-z0-9._-]+|\{[a-z_]+\})?(?:\/(?:[a-z0-9._-]+|\{[a-z_]+\}))*$/);
  });

  test("takes a body only by a method that has one, and no member that it does not name", () => {
    if (route.body === undefined) return expect(FREE_FORM[route.id]).toBeUndefined();
    expect(["post", "patch", "delete"]).toContain(route.method);
    expect(looseObjects(route.body)).toEqual(FREE_FORM[route.id] ?? []);
  });

  test("judges the right to what its path names before what is sent, where it changes it", () => {
    const changes = route.method !== "get" && route.params !== undefined;
    expect(route.right !== undefined).toBe(changes && route.auth !== "admin");
  });

  test("declares codes of the closed table, each once", () => {
    const declared = route.problems ?? [];
    expect(declared.filter((code) => !codes.includes(code))).toEqual([]);
    expect(new Set(declared).size).toBe(declared.length);
  });

  test("says what it returns on success", () => {
    const statuses = Object.keys(route.returns).map(Number);
    expect(statuses.some((status) => status >= 200 && status < 400)).toBe(true);
    for (const [status, returned] of Object.entries(route.returns))
      expect(returned === null).toBe(BODILESS.includes(status) || (route.id === "callMcp" && status === "202"));
  });

  test("gives a list in pages, unless the contract says otherwise", () => {
    const answer = route.returns[200];
    if (route.method !== "get" || !(answer instanceof z.ZodType)) return;
    const shapes = shapesOf(answer);
    expect(shapes.filter(({ type }) => type === "array")).toEqual([]);
    const lists = shapes.filter(({ properties = {} }) => properties["items"] !== undefined);
    const paged = lists.filter(({ properties = {} }) => properties["page_size"] !== undefined);
    expect(lists.length - paged.length).toBe(WHOLE.includes(name) ? lists.length : 0);
    expect(paged.length > 0).toBe(route.query?.shape["page_size"] !== undefined);
  });

  test("goes without limit, Idempotency-Key and cache where they could do harm", () => {
    // Without a limit nobody's credentials are read, so a closed route would be closed to all.
    if (route.limit === null) expect(route.auth).toBe("none");
    if (route.idempotent === true) expect(route.method).toBe("post");
    if (route.cache !== undefined)
      expect([route.method, route.auth]).toEqual(["get", route.tag === "Pages" ? "visitor" : "open"]);
  });
});

describe("the table of problems", () => {
  const declared = new Set(ROUTES.flatMap(problemsOf));
  const own = new Set(ROUTES.flatMap(({ problems }) => problems ?? []));

  test("has no code that nothing answers with", () => {
    const unused = codes.filter((code) => !declared.has(code) && !OF_THE_APP.includes(code));
    expect(unused).toEqual([]);
  });

  test("holds every code that the source names", () => {
    expect(emitted.length).toBeGreaterThan(20);
    expect(emitted.filter((code) => !codes.includes(code as ProblemCode))).toEqual([]);
  });

  test("holds every code of a finding that is not listed as a finding's own", () => {
    const known = new Set<string>([
      ...codes,
      ...FINDINGS,
      ...found(/^\s*code: ((?:"\w+" \| )+"\w+");/gm).flatMap(split),
    ]);
    expect(reported.length).toBeGreaterThan(5);
    expect(reported.filter((code) => !known.has(code))).toEqual([]);
  });

  test("is drawn on in words: a code is named where it is thrown", () => {
    const indirect = running.filter(({ text }) => /\b(?:new Problem|(?<!function )bodyProblem)\(\s*[^"\s]/.test(text));
    expect(indirect.map(({ path }) => path)).toEqual(PASSING_ON);
  });

  test("is documented: what the source emits some route declares or implies", () => {
    expect(emitted.filter((code) => !declared.has(code as ProblemCode))).toEqual(OF_THE_APP);
  });

  test("is not overstated: what a route declares of its own the source emits", () => {
    const silent = [...own].filter((code) => !emitted.includes(code) && !reported.includes(code));
    expect(silent).toEqual([]);
  });

  test.each(codes.map((code) => [code, ...PROBLEMS[code]] as const))(
    "gives %s the error status %i and a title",
    (code, status, title) => {
      expect(code).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(600);
      expect(title).toMatch(/^[A-Z].*[^.]$/);
    },
  );
});

function split(union: string): string[] {
  return union.split(" | ").map((quoted) => quoted.slice(1, -1));
}
