import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { EVERY_MINUTE } from "../../../functions/scheduled.ts";
import { endUncallable } from "../../../shared/runs/uncallable.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { contextOf } from "./run-events-support.ts";
import {
  addAgent,
  addRun,
  addSuite,
  answersRightly,
  quietQueueClient,
  startAgent,
  type TestSuite,
  used,
} from "./support.ts";

const REPEATS = 10;

let service: TestService;
let owner: User;
let endpoint: Consumer;
let suite: TestSuite;

beforeAll(async () => {
  quietQueueClient();
  endpoint = await startAgent();
  service = await startService();
  suite = await addSuite(service, 4);
});

afterAll(async () => {
  await service.stop();
  await endpoint.stop();
});

beforeEach(async () => {
  endpoint.seen.length = 0;
  endpoint.answer = answersRightly;
  service.faults.set({ service: "qstash", mode: "none" });
  owner = await newUser(service, { plan: "pro" });
});

/** How the runs of an agent ended. */
const endsOf = (agent: string) =>
  service.sql<{ how: string; counted: boolean; runs: number }>(
    `select coalesce(failure_code, status) as how, counted, count(*)::int as runs from runs where agent_id = $1
     group by 1, 2 order by 1`,
    [agent],
  );

const WAYS: [string, method: string, body?: object][] = [
  ["is deleted", "DELETE"],
  ["is switched off", "PATCH", { is_active: false }],
  ["is disconnected", "PATCH", { connection_mode: "mock" }],
  ["loses its endpoint", "PATCH", { connection_mode: "mock", endpoint: null }],
];

describe("an agent with runs in the queue that", () => {
  it.each(WAYS)("%s is not called any more: they are cancelled, and cost nothing", async (_what, method, body) => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    service.logs.length = 0;
    let change: ReturnType<User["call"]> | undefined;
    // None is answered, and no further one begins, before the change is made.
    endpoint.answer = async (request) => {
      change ??= owner.call(method, `/api/v1/agents/${agent}`, body);
      expect((await change).status).toBeLessThan(300);
      return answersRightly(request);
    };
    const batch = { agent_id: agent, task_ids: suite.tasks, repeats: REPEATS };
    const { body: runs } = await owner.call("POST", "/api/v1/runs/batch", batch);
    await service.settled();
    const all = suite.tasks.length * REPEATS;
    const called = endpoint.seen.length;
    // Those that were under way go on, and count.
    expect(called).toBeLessThanOrEqual(8);
    expect(await endsOf(agent)).toEqual([
      { how: "cancelled", counted: false, runs: all - called },
      { how: "completed", counted: true, runs: called },
    ]);
    expect(await used(service, "user", owner.id)).toBe(called);
    const session = await owner.call("GET", `/api/v1/screening-sessions/${runs[0].screening_session_id}`);
    expect(session.body.status).toBe("cancelled");
    expect(service.logs.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

  it("came back just before they are ended keeps them", async () => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    service.faults.set({ service: "qstash", mode: "error" });
    const run = await addRun(owner, agent, suite.tasks[0] ?? "");
    await endUncallable(
      contextOf(service, () => new Date()),
      [run],
    );
    expect(await endsOf(agent)).toEqual([{ how: "queued", counted: false, runs: 1 }]);
  });

  it("came back just after it could not be called has the run carried out", async () => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    const isActive = (on: boolean) => service.sql("update agents set is_active = $1 where id = $2", [on, agent]);
    const { fetch } = globalThis;
    let claims = 0;
    vi.stubGlobal("fetch", async (input: string | URL | Request, init?: RequestInit) => {
      const isClaim = typeof init?.body === "string" && init.body.includes("kept_carry_on");
      const isFirstClaim = isClaim && claims++ === 0;
      if (isFirstClaim) await isActive(false);
      const answer = await fetch(input, init);
      if (isFirstClaim) await isActive(true);
      return answer;
    });
    await addRun(owner, agent, suite.tasks[0] ?? "");
    await service.settled().finally(() => vi.unstubAllGlobals());
    expect(await endsOf(agent)).toEqual([{ how: "completed", counted: true, runs: 1 }]);
    expect([claims > 1, endpoint.seen.length]).toEqual([true, 1]);
  });

  it("is deleted while one of them is lost has that ended as our fault", async () => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    endpoint.answer = (request) => {
      // It answers, and the database does not take that.
      service.faults.set({ service: "db", mode: "error", count: 4 });
      return answersRightly(request);
    };
    await addRun(owner, agent, suite.tasks[0] ?? "");
    await service.settled();
    expect(await endsOf(agent)).toEqual([{ how: "running", counted: false, runs: 1 }]);
    service.faults.set({ service: "db", mode: "none" });
    expect((await owner.call("DELETE", `/api/v1/agents/${agent}`)).status).toBe(204);
    await service.sql("update runs set lease_expires_at = now() - interval '1 second' where agent_id = $1", [agent]);
    await service.app.scheduled(EVERY_MINUTE);
    await service.settled();
    expect(await endsOf(agent)).toEqual([{ how: "service_error", counted: false, runs: 1 }]);
    expect([endpoint.seen.length, await used(service, "user", owner.id)]).toEqual([1, 0]);
  });
});
