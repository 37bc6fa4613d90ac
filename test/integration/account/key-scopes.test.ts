import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROUTES } from "../../../functions/routes.ts";
import { KEY_SCOPES } from "../../../shared/db/schema/index.ts";
import { type Route, scopeOf } from "../../../shared/http/route.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, startAgent, unique } from "../runs/support.ts";
import { startReceiver } from "../webhooks/support.ts";

const KEYS = "/api/v1/api-keys";

let service: TestService;
let owner: User;
let receiver: Consumer;

beforeAll(async () => {
  [service, receiver] = await Promise.all([startService(), startReceiver()]);
  owner = await newUser(service, { verified: true });
  await service.sql("update users set plan = 'pro' where id = $1", [owner.id]);
});

afterAll(() => Promise.all([service.stop(), receiver.stop()]));

const make = (fields: object) => owner.call("POST", KEYS, { name: unique("Key"), ...fields });

async function holder(scopes: readonly string[]): Promise<Caller> {
  const { body } = await make({ scopes, rate_limit_per_minute: 6000 });
  return caller(service, { "x-api-key": body.key });
}

const guarded = ROUTES.filter(({ subject }) => subject !== undefined);

function ask(by: Caller, { method, path }: Route) {
  const url = path.replaceAll(/\{\w+\}/g, () => randomUUID());
  return by.call(method.toUpperCase(), url, method === "get" || method === "delete" ? undefined : {});
}

describe("a key's scopes", () => {
  it.each([
    ["both kinds", { scope: "read", scopes: ["runs:read"] }, ["/scope", "/scopes"], "conflicting_parameters"],
    ["neither kind", {}, ["/scopes"], "validation_failed"],
    ["no scope in the list", { scopes: [] }, ["/scopes"], "validation_failed"],
    ["a scope that there is not", { scopes: ["runs:own"] }, ["/scopes/0"], "validation_failed"],
  ])("are refused with %s", async (_what, fields, pointers, code) => {
    const { status, body } = await make(fields);
    expect([status, body.code]).toEqual([422, code]);
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers);
    expect(body.errors.map((one: { code: string }) => one.code)).not.toContain("custom");
  });

  it("are shown as they were named, once each, and outlive a rotation", async () => {
    const { body: made } = await make({ scopes: ["runs:write", "agents:read", "runs:write"] });
    const shown = { scope: "write", scopes: ["runs:write", "agents:read"] };
    expect(made).toMatchObject(shown);
    expect((await owner.call("POST", `${KEYS}/${made.id}/rotate`)).body).toMatchObject(shown);
    expect((await make({ scopes: ["teams:read"] })).body).toMatchObject({ scope: "read", scopes: ["teams:read"] });
  });

  it.each(["read", "write"])("of a key of scope %s are what such a key could always do", async (scope) => {
    const { body } = await make({ scope });
    expect(body.scopes).toEqual([`agents:${scope}`, `runs:${scope}`]);
    const refused = await caller(service, { "x-api-key": body.key }).call("GET", "/api/v1/webhooks");
    expect([refused.status, refused.body.code]).toEqual([403, "session_required"]);
  });

  it("open what they name, and nothing else, at each endpoint that takes keys", async () => {
    const [enough, others] = [new Map<string, Caller>(), new Map<string, Caller>()];
    for (const scope of KEY_SCOPES) {
      const [subject] = scope.split(":");
      enough.set(scope, await holder([scope]));
      const without = KEY_SCOPES.filter((one) => !one.startsWith(`${subject}:`));
      others.set(scope, await holder(scope.endsWith("write") ? [...without, `${subject}:read`] : without));
    }
    const wrong: string[] = [];
    const refusal = (scope: string) => `403 insufficient_scope Bearer error="insufficient_scope", scope="${scope}"`;
    await Promise.all(
      guarded.map(async (route) => {
        const scope = scopeOf(route) ?? "";
        const [good, bad] = [enough.get(scope), others.get(scope)];
        if (good === undefined || bad === undefined) throw new Error(`no key for ${scope}`);
        const [let_in, kept_out] = [await ask(good, route), await ask(bad, route)];
        const said = `${kept_out.status} ${kept_out.body.code} ${kept_out.headers.get("www-authenticate")}`;
        if (said !== refusal(scope)) wrong.push(`${route.id} without ${scope}: ${said}`);
        if (
          let_in.status >= 500 ||
          (["insufficient_scope", "session_required"].includes(let_in.body?.code) && route.id !== "updateRun")
        )
          wrong.push(`${route.id} with ${scope}: ${let_in.text}`);
      }),
    );
    expect(guarded.length).toBeGreaterThan(60);
    expect(wrong).toEqual([]);
  });

  it("are needed where a run is started or reported on, too", async () => {
    const by = await holder(KEY_SCOPES.filter((one) => one !== "runs:write"));
    const asked = [
      await by.call("POST", "/api/v1/runs", { agent_id: randomUUID(), task_id: randomUUID() }),
      await by.call("PATCH", `/api/v1/runs/${randomUUID()}`, { status: "running" }),
    ];
    expect(asked.map(({ body }) => body.code)).toEqual(["insufficient_scope", "insufficient_scope"]);
  });

  it("let a key look after webhooks, schedules and scorecards in its owner's name", async () => {
    const by = await holder(["webhooks:write", "schedules:write", "scorecards:write", "agents:write"]);
    const { body: agent } = await by.call("POST", "/api/v1/agents", { name: unique("Agent") });
    const created = [
      await by.call("POST", "/api/v1/webhooks", {
        url: receiver.url,
        event_types: ["run.completed"],
      }),
      await by.call("POST", "/api/v1/screening-schedules", {
        agent_id: agent.id,
        task_ids: [(await owner.call("GET", "/api/v1/tasks?page_size=1")).body.items[0].id],
        repeats: 1,
        cron: "0 4 * * *",
        timezone: "UTC",
      }),
      await by.call("POST", "/api/v1/scorecards", { name: "Ours", weights: { correctness: 1 } }),
    ];
    expect(created.map(({ status, text }) => (status === 201 ? status : text))).toEqual([201, 201, 201]);
    for (const { headers } of created) {
      const at = headers.get("location") ?? "";
      expect((await owner.call("GET", at)).status).toBe(200);
      expect((await by.call("DELETE", at)).status).toBe(204);
    }
  });

  it("of agents alone tell of single runs what everybody sees, by REST and by GraphQL", async () => {
    const endpoint = await startAgent(() => ({ status: 500, body: "secret of the host" }));
    const { tasks } = await addSuite(service, 1);
    const [shown, hidden] = [
      await addAgent(owner, { endpoint: endpoint.url, is_public: true }),
      await addAgent(owner, { endpoint: endpoint.url, is_public: false }),
    ];
    for (const isPrivate of [false, true])
      await owner.call("POST", "/api/v1/runs/batch", { agent_id: shown, task_ids: tasks, private: isPrivate });
    await owner.call("POST", "/api/v1/runs/batch", { agent_id: hidden, task_ids: tasks });
    await service.settled();
    const byRest = async (by: Caller, id: string) => (await by.call("GET", `/api/v1/agents/${id}/stats`)).body;
    const [narrow, wide] = [await holder(["agents:write"]), await holder(["agents:read", "runs:read"])];
    for (const [agent, all, open] of [
      [shown, 2, 1],
      [hidden, 1, 0],
    ] as const) {
      const [few, many] = [await byRest(narrow, agent), await byRest(wide, agent)];
      expect(many.recent_runs).toHaveLength(all);
      expect(many.recent_runs[0].failure_detail).toContain("secret of the host");
      expect(few).toEqual({
        ...many,
        recent_runs: open === 0 ? [] : (await byRest(caller(service), agent)).recent_runs,
      });
      expect(few.recent_runs).toHaveLength(open);
      const query = `{ agent(id: "${agent}") { stats { totalRuns recentRuns { isPrivate } } } }`;
      const { stats } = (await narrow.call("POST", "/graphql", { query })).body.data.agent;
      expect(stats).toEqual({ totalRuns: all, recentRuns: open === 0 ? [] : [{ isPrivate: false }] });
    }
    await endpoint.stop();
  });
});
