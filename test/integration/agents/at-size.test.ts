import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inBulk } from "../../stack/bulk.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { countRows } from "../operations/daily-support.ts";
import { fetched, type Recorder, startRecorder } from "../http/plans-support.ts";
import { quietQueueClient } from "../runs/support.ts";
import { addTeam } from "../workspaces/teams-support.ts";

const AGENTS = 5000;
/** How many agents are counted at most, for a refusal to tell. */
const MOST_TOLD = 1000;

let service: TestService;
let recorder: Recorder;
let owner: User;
let agent: string;
/** The most agents that a statement read. */
let most = 0;

beforeAll(async () => {
  quietQueueClient();
  recorder = await startRecorder(async (statement) => {
    if (counting) most = Math.max(most, await fetched(service, statement, "agents"));
  });
  service = await startService({ settings: { NEON_LOCAL_PROXY: recorder.url } });
  owner = await newUser(service, { plan: "team" });
  const strangers = Array.from({ length: 10 }, () => crypto.randomUUID());
  await service.sql(
    inBulk(
      ["agents"],
      `insert into agents (user_id, name, connection_mode, endpoint)
        select u.id::uuid, 'Agent ' || n, 'http_endpoint', 'http://127.0.0.1:9/' || n
        from unnest('{${[owner.id, ...strangers].join(",")}}'::text[]) u(id), generate_series(1, ${AGENTS}) n`,
    ),
  );
  await service.sql("analyze agents");
  agent =
    (await service.sql<{ id: string }>("select id from agents where user_id = $1 limit 1", [owner.id]))[0]?.id ?? "";
});

afterAll(async () => {
  await service.settled();
  await service.stop();
  await recorder.close();
});

let counting = false;

/** Calls as the owner; returns the status, and the most agents that a statement of it read. */
async function read(method: string, path: string, body?: object): Promise<[status: number, most: number]> {
  [counting, most] = [true, 0];
  const { status } = await owner.call(method, path, body);
  counting = false;
  return [status, most];
}

describe("among thousands of agents of its owner", () => {
  it("one is changed, made, switched on and moved without the others being read, where the plan has no limit", async () => {
    const team = await addTeam(service, owner);
    await service.sql("update agents set is_active = false where id = $1", [agent]);
    const path = `/api/v1/agents/${agent}`;
    const reads = [
      await read("PATCH", path, { description: "Changed" }),
      await read("PATCH", path, { is_active: true }),
      await read("POST", "/api/v1/agents", { name: "One more" }),
      await read("POST", `${path}/transfer-to-workspace`, { team_id: team }),
    ];
    expect(reads.map(([status]) => status)).toEqual([200, 200, 201, 200]);
    expect(Math.max(...reads.map(([, rows]) => rows))).toBeLessThan(30);
  });

  it("none is counted by a change where the plan has a limit, and a thousand where that is met", async () => {
    await service.sql("update users set plan = 'free' where id = $1", [owner.id]);
    const [mine] = await service.sql<{ id: string }>(
      "update agents set is_active = false where id = (select id from agents where user_id = $1 and team_id is null limit 1) returning id",
      [owner.id],
    );
    const changed = await read("PATCH", `/api/v1/agents/${mine?.id}`, { description: "Changed" });
    expect(changed[0]).toBe(200);
    expect(changed[1]).toBeLessThan(30);
    for (const [method, path, body] of [
      ["PATCH", `/api/v1/agents/${mine?.id}`, { is_active: true }],
      ["POST", "/api/v1/agents", { name: "Too many" }],
    ] as const) {
      const [status, rows] = await read(method, path, body);
      expect(status).toBe(402);
      expect(rows).toBeLessThan(MOST_TOLD + 30);
    }
    const { body } = await owner.call("POST", "/api/v1/agents", { name: "Too many" });
    expect(body).toMatchObject({ code: "quota_exceeded", limit: 3, used: MOST_TOLD });
    await service.sql("update users set plan = 'team' where id = $1", [owner.id]);
  });

  it("those at an endpoint are found without the others, by a coding agent, too", async () => {
    const others = "/api/v1/agents?active_only=false";
    const at = (url: string) => `${others}&endpoint=${encodeURIComponent(url)}`;
    const { body } = await owner.call("GET", at("HTTP://127.0.0.1:9/./77"));
    expect(body.items).toMatchObject([{ name: "Agent 77", endpoint: "http://127.0.0.1:9/77", user_id: owner.id }]);
    expect((await owner.call("GET", `${at("http://127.0.0.1:9/77")}&q=78`)).body.total).toBe(0);
    expect((await owner.call("GET", at("http://127.0.0.1:9/none"))).body.total).toBe(0);
    const [status, rows] = await read("GET", at("http://127.0.0.1:9/78"));
    expect(status).toBe(200);
    expect(rows).toBeLessThan(10);
    service.faults.set({ service: "qstash", mode: "error" });
    const screened = await read("POST", "/mcp", {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: "screen_agent",
        arguments: { endpoint: "http://127.0.0.1:9/79", suite: "core", skip_test: true },
      },
    });
    expect(screened[0]).toBe(200);
    // Each of its runs names its agent.
    expect(screened[1]).toBeLessThan(200);
    const found = await service.sql(
      "select a.name from screening_sessions s join agents a on a.id = s.agent_id where a.user_id = $1",
      [owner.id],
    );
    expect(found).toEqual([{ name: "Agent 79" }]);
  });

  it("nobody is told without an account who is called at an endpoint", async () => {
    const { status, body } = await caller(service).call(
      "GET",
      "/api/v1/agents?endpoint=http%3A%2F%2F127.0.0.1%3A9%2F77",
    );
    expect([status, body.code]).toEqual([401, "unauthenticated"]);
  });

  it("those of a name are hidden a thousand a statement, and all of them named, the oldest first", async () => {
    const admin = await newUser(service, { email: "admin@example.test", verified: true });
    const found = await service.sql<{ name: string }>(
      "select name from agents where is_public and name like '%Agent 4%' order by id",
    );
    expect(found.length).toBeGreaterThan(10_000);
    const counted = await countRows(service, ["agents"]);
    const { status, body } = await admin.call("POST", "/api/v1/agents/admin/scrub-public?name_pattern=AGENT%204");
    expect([status, body.updated]).toEqual([200, found.length]);
    expect(body.names).toEqual(found.map(({ name }) => name));
    const changed = await counted();
    expect([changed.most["agents"], changed.all["agents"]]).toEqual([1000, found.length]);
  });
});
