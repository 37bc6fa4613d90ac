import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROUTES } from "../../../functions/routes.ts";
import type { Route } from "../../../shared/http/route.ts";
import { type Answer, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";

const NOBODYS = "01938e7a-0000-7000-8000-000000000009";

let service: TestService;
let operator: User;
let addresses = 0;

beforeAll(async () => {
  service = await startService({ settings: { ADMIN_EMAILS: "operator@example.test" } });
  operator = await newUser(service, { email: "operator@example.test", verified: true });
});

afterAll(() => service.stop());

/** Calls an endpoint as the operator, from an address of its own, with this body and no more headers than are given. */
async function send(
  { method, path }: Pick<Route, "method" | "path">,
  body: string | undefined,
  headers: Record<string, string> = {},
  id = NOBODYS,
): Promise<Answer<{ code: string; errors: { in: string; pointer: string; code: string }[] }>> {
  addresses += 1;
  const from = { "cf-connecting-ip": `172.28.${addresses >> 8}.${addresses & 255}` };
  const who = caller(service, { authorization: `Bearer ${operator.token}`, ...from });
  return who.call(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, id), body, headers);
}

const JSON_TYPE = { "content-type": "application/json" };
const named = (routes: readonly Route[]) => routes.map((route): [string, Route] => [route.id, route]);
const unsafe = ROUTES.filter(({ method }) => method !== "get");
const bodiless = unsafe.filter(({ body }) => body === undefined);
/** Endpoints whose body may be left out: each of its fields may. */
const optional = unsafe.filter(
  ({ body, accepts }) => accepts?.asBytes !== true && body?.safeParse({}).success === true,
);

describe("an endpoint that declares no body", () => {
  it.each(named(bodiless.filter(({ params, query }) => params === undefined && query === undefined)))(
    "refuses any: %s",
    async (_id, route) => {
      const answers = await Promise.all([
        send(route, '{"no_such_field":1}', JSON_TYPE),
        send(route, "[]", JSON_TYPE),
        send(route, '{"', JSON_TYPE),
        send(route, "a=b", { "content-type": "application/x-www-form-urlencoded" }),
      ]);
      expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
        [422, "unrecognized_field"],
        [422, "validation_failed"],
        [400, "malformed_json"],
        [415, "unsupported_media_type"],
      ]);
      expect(answers[0]?.body.errors).toMatchObject([
        { in: "body", pointer: "/no_such_field", code: "unrecognized_field" },
      ]);
    },
  );

  it("refuses one before it does anything", async () => {
    const logout = ROUTES.find(({ id }) => id === "logout") as Route;
    expect((await send(logout, '{"all":true}', JSON_TYPE)).status).toBe(422);
    expect((await send({ method: "get", path: "/api/v1/auth/me" }, undefined)).status).toBe(200);
  });

  it.each<[string, string | undefined, Record<string, string>]>([
    ["nothing", undefined, {}],
    ["an empty body", "", JSON_TYPE],
    ["white space", " \r\n\t", JSON_TYPE],
    ["an empty object", "{}", JSON_TYPE],
    ["an empty object of no type that is known", " {}\n", { "content-type": "text/plain" }],
  ])("takes %s", async (_what, body, headers) => {
    const route = ROUTES.find(({ id }) => id === "resendVerification") as Route;
    expect((await send(route, body, headers)).status).toBe(202);
  });

  it("refuses more than 1 MiB as every other does", async () => {
    const route = ROUTES.find(({ id }) => id === "resendVerification") as Route;
    const answer = await send(route, " ".repeat(1024 * 1024 + 1), JSON_TYPE);
    expect([answer.status, answer.body.code]).toEqual([413, "payload_too_large"]);
  });
});

describe("a body whose every field is optional", () => {
  it("is declared by the endpoints that change parts, and by some more", () => {
    expect(optional.map(({ id }) => id)).toEqual(expect.arrayContaining(["updateAgent", "rotateWebhookSecret"]));
  });

  it.each(named(optional))("may be left out: %s", async (_id, route) => {
    const [full, empty, blank, none] = [
      await send(route, "{}", JSON_TYPE),
      await send(route, "", JSON_TYPE),
      await send(route, " \r\n\t", JSON_TYPE),
      await send(route, undefined),
    ];
    const told = ({ status, body }: typeof full) => [status, body?.code];
    expect([told(empty), told(blank), told(none)]).toEqual([told(full), told(full), told(full)]);
    expect(["malformed_json", "unsupported_media_type", "validation_failed"]).not.toContain(full.body?.code);
  });

  it("changes nothing when it is left out", async () => {
    const made = await operator.call("POST", "/api/v1/agents", { name: "Still" });
    const patch = { method: "patch", path: "/api/v1/agents/{agent_id}" } as const;
    const { status, text } = await send(patch, undefined, {}, made.body.id);
    expect([status, JSON.parse(text)]).toEqual([200, { ...made.body, updated_at: JSON.parse(text).updated_at }]);
  });

  it("is not left out where a field is needed", async () => {
    const create = { method: "post", path: "/api/v1/agents" } as const;
    expect((await send(create, undefined)).status).toBe(415);
    expect((await send(create, "", JSON_TYPE)).status).toBe(400);
  });
});

describe("the agent of a certification that is asked about", () => {
  it.each(["eligibility", "status"] as const)("may be any text, and 404 where it names none: %s", async (what) => {
    const ask = (query: string) => send({ method: "get", path: `/api/v1/certify/${what}${query}` }, undefined);
    for (const id of ["x", "", "not-a-uuid", "1' or '1'='1", "é", crypto.randomUUID()]) {
      const { status, body } = await ask(`?agent_id=${encodeURIComponent(id)}`);
      expect([id, status, body.code]).toEqual([id, 404, "not_found"]);
    }
    const none = await ask("");
    expect([none.status, none.body.errors]).toMatchObject([422, [{ in: "query", pointer: "/agent_id" }]]);
  });
});
