import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROUTES } from "../../../functions/routes.ts";
import type { AuthClass, Route } from "../../../shared/http/route.ts";
import { isApiKey, newApiKey } from "../../../shared/identity/api-keys/api-key.ts";
import { type Answer, type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { STATUSES } from "./matrix-statuses.ts";

type Kind =
  | "anonymous"
  | "session"
  | "unverified"
  | "other user"
  | "admin"
  | "grace"
  | "deleted"
  | "read key"
  | "write key"
  | "revoked key"
  | "unknown key"
  | "malformed key";

const KINDS: readonly Kind[] = [
  "anonymous",
  "session",
  "unverified",
  "other user",
  "admin",
  "grace",
  "deleted",
  "read key",
  "write key",
  "revoked key",
  "unknown key",
  "malformed key",
];

const UNAUTHENTICATED = [401, "unauthenticated"] as const;
const SESSION_REQUIRED = [403, "session_required"] as const;
const SCOPE = [403, "insufficient_scope"] as const;
const FORBIDDEN = [403, "forbidden"] as const;

/** Credentials that are none, or not any more. */
const BAD = {
  deleted: UNAUTHENTICATED,
  "revoked key": UNAUTHENTICATED,
  "unknown key": UNAUTHENTICATED,
  "malformed key": UNAUTHENTICATED,
} as const;

const NO_KEYS = {
  anonymous: UNAUTHENTICATED,
  ...BAD,
  "read key": SESSION_REQUIRED,
  "write key": SESSION_REQUIRED,
} as const;

/** Who is turned away by each auth class, and how; everybody else gets through to the endpoint itself. */
const REFUSALS: Record<AuthClass, Partial<Record<Kind, readonly [number, string]>>> = {
  none: {},
  visitor: {},
  open: BAD,
  read: { anonymous: UNAUTHENTICATED, ...BAD },
  write: { anonymous: UNAUTHENTICATED, ...BAD, "read key": SCOPE },
  session: NO_KEYS,
  // Keys that were made with a scope alone are let in nowhere that they were not before scopes could be named.
  scoped: NO_KEYS,
  admin: {
    anonymous: UNAUTHENTICATED,
    ...BAD,
    "read key": SESSION_REQUIRED,
    "write key": SESSION_REQUIRED,
    session: FORBIDDEN,
    unverified: FORBIDDEN,
    "other user": FORBIDDEN,
    grace: FORBIDDEN,
  },
};

const NOBODYS = "01938e7a-0000-7000-8000-000000000009";
let service: TestService;
let callers: Record<Kind, Caller>;
/** What the caller `session` owns and shows to nobody, by the beginning of its path. */
let owned: Record<string, string>;
let requests = 0;

async function keyOf(owner: User, scope: "read" | "write", name: string): Promise<{ id: string; key: string }> {
  const made = await owner.call("POST", "/api/v1/api-keys", { name, scope });
  expect(made.status, made.text).toBe(201);
  expect(isApiKey(made.body.key)).toBe(true);
  return made.body;
}

beforeAll(async () => {
  service = await startService({ settings: { ADMIN_EMAILS: "operator@example.test" } });
  const session = await newUser(service, { verified: true });
  const grace = await newUser(service);
  const deleted = await newUser(service);
  await service.sql("update users set deletion_scheduled_for = now() + interval '3 days' where id = $1", [grace.id]);
  await service.sql("update users set deletion_scheduled_for = now() - interval '1 day' where id = $1", [deleted.id]);
  await service.app.scheduled("17 3 * * *");
  const revoked = await keyOf(session, "write", "revoked");
  expect((await session.call("DELETE", `/api/v1/api-keys/${revoked.id}`)).status).toBe(204);
  const keyed = ({ key }: { key: string }) => caller(service, { "x-api-key": key });
  callers = {
    anonymous: caller(service),
    session,
    unverified: await newUser(service),
    "other user": await newUser(service, { verified: true }),
    admin: await newUser(service, { email: "operator@example.test", verified: true }),
    grace,
    deleted,
    "read key": keyed(await keyOf(session, "read", "read")),
    "write key": keyed(await keyOf(session, "write", "write")),
    "revoked key": keyed(revoked),
    "unknown key": keyed({ key: newApiKey() }),
    "malformed key": keyed({ key: "ask_nonsense" }),
  };
  // The keys serve the whole matrix within one minute.
  await service.sql("update api_keys set rate_limit_per_minute = 6000");
});

beforeAll(async () => {
  const { session } = callers;
  const agent = await session.call("POST", "/api/v1/agents", { name: "Hidden", is_public: false });
  const tasks = await session.call("GET", "/api/v1/tasks?page_size=1");
  const batch = await session.call("POST", "/api/v1/runs/batch", {
    agent_id: agent.body.id,
    task_ids: [tasks.body.items[0].id],
    private: true,
  });
  await service.settled();
  const [keys, sessions] = [
    await session.call("GET", "/api/v1/api-keys"),
    await session.call("GET", "/api/v1/auth/sessions"),
  ];
  owned = {
    "/api/v1/agents/": agent.body.id,
    "/agents/": agent.body.id,
    "/api/v1/runs/": batch.body[0].id,
    "/api/v1/screening-sessions/": batch.body[0].screening_session_id,
    "/api/v1/api-keys/": keys.body.items[0].id,
    "/api/v1/auth/sessions/": sessions.body.items[0].id,
  };
});

afterAll(() => service.stop());

/** The smallest request that an endpoint's declaration lets one make: an empty body, and ids of nothing. */
function ask(kind: Kind, { method, path, body }: Route, id = NOBODYS): Promise<Answer> {
  requests += 1;
  const address = { "cf-connecting-ip": `10.77.${(requests >> 8) & 255}.${requests & 255}` };
  const target = path.replaceAll(/\{\w+\}/g, id);
  return callers[kind].call(method.toUpperCase(), target, body === undefined ? undefined : {}, address);
}

describe("every endpoint for every kind of caller", () => {
  it("has its expectation", () => {
    expect(Object.keys(STATUSES).toSorted()).toEqual(ROUTES.map(({ id }) => id).toSorted());
  });

  it("is described as it is: nobody without an account gets what its description says needs one, and only there", () => {
    for (const { id, auth, needs } of ROUTES.filter((route) => ["open", "visitor", "none"].includes(route.auth))) {
      const expected = STATUSES[id];
      const status = typeof expected === "object" ? (expected["anonymous"] ?? expected.others) : (expected ?? 0);
      // Whoever has nothing to end has signed out already.
      if (needs !== undefined && needs !== "ending") expect([id, status >= 400]).toEqual([id, true]);
      if (status === 401) expect([id, auth, needs]).toEqual([id, auth, expect.any(String)]);
    }
  });

  // Signing out and deleting end the caller's own session: they come last.
  const ENDING = ["logout", "endSessions", "requestDeletion"];
  const ordered = ROUTES.toSorted((a, b) => Number(ENDING.includes(a.id)) - Number(ENDING.includes(b.id)));

  describe.each(ordered.filter(({ id }) => !ENDING.includes(id)).map((route) => [route.id, route] as const))(
    "%s",
    (id, route) => {
      it.each(KINDS)("%s", async (kind) => {
        const answer = await ask(kind, route);
        const refusal = REFUSALS[route.auth][kind];
        if (refusal !== undefined) {
          expect([answer.status, (answer.body as { code?: string } | undefined)?.code]).toEqual(refusal);
          return;
        }
        const expected = STATUSES[id];
        const own = typeof expected === "object" ? (expected[kind] ?? expected.others) : expected;
        expect(answer.status, answer.text.slice(0, 200)).toBe(own);
      });
    },
  );

  it.each(ordered.filter(({ id }) => ENDING.includes(id)).map((route) => [route.id, route] as const))(
    "%s turns away whom it must",
    async (_id, route) => {
      for (const [kind, refusal] of Object.entries(REFUSALS[route.auth])) {
        const answer = await ask(kind as Kind, route);
        expect([answer.status, (answer.body as { code?: string } | undefined)?.code], kind).toEqual(refusal);
      }
    },
  );

  const idOf = ({ path }: Route) => Object.entries(owned).find(([start]) => path.startsWith(start))?.[1];
  const PRIVATE = /^(?:\/api\/v1)?\/(?:agents|runs|screening-sessions|api-keys|auth\/sessions)\/\{/;

  describe.each(ROUTES.filter(({ path }) => PRIVATE.test(path)).map((route) => [route.id, route] as const))(
    "%s of what is another's and private",
    (_id, route) => {
      it.each(["anonymous", "other user", "unverified", "admin", "grace", "revoked key"] as const)(
        "answers %s as for what is nobody's",
        async (kind) => {
          const id = idOf(route);
          expect(id).toBeDefined();
          const [real, none] = [await ask(kind, route, id), await ask(kind, route)];
          const plain = ({ text }: Answer) => text.replace(/"request_id":"[^"]+"/, "");
          expect([real.status, plain(real)]).toEqual([none.status, plain(none)]);
        },
      );
    },
  );
});
