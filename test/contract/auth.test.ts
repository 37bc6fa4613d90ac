import { beforeEach, describe, expect, test } from "vitest";
import { ROUTES } from "../../functions/routes.ts";
import { createApp } from "../../shared/http/app.ts";
import type { Call, Route } from "../../shared/http/route.ts";
import { verifyAccessToken } from "../../shared/identity/sessions/access-token.ts";
import { badApiKeys, badTokens, genuineToken } from "./credentials.ts";
import { BASE_URL, endpointsOf, sealedService } from "./sealed.ts";

const { service, touched, context } = await sealedService();
const reached: { id: string; principal: Call<"open", undefined, undefined, undefined>["principal"] }[] = [];

/** The routes as they are declared, but for validation and handler: what is left to refuse a caller is authentication. */
const spied = ROUTES.map((route): Route => {
  const { params: _params, query: _query, body: _body, cache: _cache, ...rest } = route;
  return {
    ...rest,
    handler({ principal }) {
      reached.push({ id: route.id, principal });
      return new Response(null, { status: 204 });
    },
  };
});
const app = createApp(service, endpointsOf(spied));

const genuine = await genuineToken(context());

type Caller = [name: string, headers: Record<string, string>];
const tokens = Object.entries(await badTokens(context()));
const keys = Object.entries(badApiKeys());

/** Callers whose credentials are as good as none: a browser sends stale cookies unasked. */
const ANONYMOUS: Caller[] = [
  ["nothing", {}],
  ["an empty cookie", { cookie: "service_session=" }],
  ...tokens.map(([what, token]): Caller => [`cookie: ${what}`, { cookie: `service_session=${token}` }]),
];

/** Callers who claim to be somebody and are not. */
const IMPOSTORS: Caller[] = [
  ["an empty Authorization", { authorization: "" }],
  ["an empty bearer token", { authorization: "Bearer " }],
  ["another scheme", { authorization: "Basic YWRtaW46YWRtaW4=" }],
  ...tokens.map(([what, token]): Caller => [`bearer: ${what}`, { authorization: `Bearer ${token}` }]),
  ...keys.map(([what, key]): Caller => [`bearer key: ${what}`, { authorization: `Bearer ${key}` }]),
  ...keys.map(([what, key]): Caller => [`X-API-Key: ${what}`, { "x-api-key": key }]),
];

const RUN_TOKEN: Caller = ["the callback token of a run", { authorization: `Bearer run_${"x".repeat(43)}` }];
const CALLERS = [...ANONYMOUS, ...IMPOSTORS, RUN_TOKEN];

function passes({ auth, ownTokens }: Route, caller: Caller): boolean {
  if (auth === "none" || auth === "visitor") return true;
  return auth === "open" && (ANONYMOUS.includes(caller) || (ownTokens !== undefined && caller === RUN_TOKEN));
}

async function call(route: Route, [, headers]: Caller): Promise<Response> {
  const path = route.path.replaceAll(/\{\w+\}/g, "01938e7a-0000-7000-8000-000000000003");
  return app.request(BASE_URL + path, { method: route.method.toUpperCase(), headers });
}

beforeEach(() => {
  reached.length = 0;
  touched.length = 0;
});

test("the token that the bad ones are made from is good", async () => {
  expect(await verifyAccessToken(context(), genuine)).toMatchObject({ kind: "session" });
});

test("the routes are of kinds that let somebody in and kinds that do not", () => {
  const kinds = new Set(ROUTES.map(({ auth }) => auth));
  expect([...kinds]).toEqual(expect.arrayContaining(["none", "open", "session", "read", "write"]));
});

describe.each(spied.map((route) => [`${route.method.toUpperCase()} ${route.path} (${route.auth})`, route] as const))(
  "%s",
  (_name, route) => {
    test("lets in exactly the callers of its class, as nobody in particular", async () => {
      const admitted: string[] = [];
      for (const caller of CALLERS) {
        reached.length = 0;
        const { status } = await call(route, caller);
        if (reached.length > 0) admitted.push(caller[0]);
        expect({ caller: caller[0], status }).toEqual({ caller: caller[0], status: passes(route, caller) ? 204 : 401 });
        for (const visit of reached) expect(visit).toEqual({ id: route.id, principal: { kind: "anonymous" } });
      }
      expect(admitted).toEqual(CALLERS.filter((caller) => passes(route, caller)).map(([name]) => name));
    });

    test("gives nothing to a genuine token that no store confirms, and starts no change for it", async () => {
      for (const header of [{ authorization: `Bearer ${genuine}` }, { cookie: `service_session=${genuine}` }]) {
        reached.length = 0;
        const { status } = await call(route, ["genuine", header]);
        if (route.auth === "none" || (route.auth === "visitor" && header.cookie === undefined)) {
          for (const { principal } of reached) expect(principal).toEqual({ kind: "anonymous" });
          expect(status).toBe(204);
          continue;
        }
        expect(status).toBeGreaterThanOrEqual(500);
        if (route.method !== "get") expect(reached).toEqual([]);
      }
    });

    test("asks nothing of database, queue or network to tell them apart, and of Redis the limiter alone", async () => {
      for (const caller of CALLERS) await call(route, caller);
      const limit = route.limit === undefined ? (route.method === "get" ? "read" : "write") : route.limit;
      const limiter = new RegExp(`^redis\\.eval(?:sha)? limit:${limit}:\\S+ limit:${limit}:\\S+$`);
      expect(touched.filter((what) => !limiter.test(what))).toEqual([]);
      expect(touched.length).toBe(limit === null ? 0 : CALLERS.length);
    });
  },
);

describe("a refusal", () => {
  const closed = spied.filter(({ auth }) => !["none", "open", "visitor"].includes(auth));

  test.each(closed.map((route) => [route.id, route] as const))(
    "by %s is an RFC 9457 problem that asks for credentials",
    async (_id, route) => {
      const response = await call(route, ["nothing", {}]);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      expect(response.headers.get("cache-control")).toBe("no-store");
      expect(await response.json()).toMatchObject({ status: 401, code: "unauthenticated" });
    },
  );

  test("is the same whatever is wrong with the credentials", async () => {
    const [route] = closed;
    if (route === undefined) throw new Error("there is no closed route");
    const answers = new Set<string>();
    for (const caller of IMPOSTORS) {
      const response = await call(route, [caller[0], { ...caller[1], "x-request-id": "same" }]);
      answers.add(`${response.headers.get("www-authenticate")} ${await response.text()}`);
    }
    expect(answers.size).toBe(1);
  });
});
