import { afterAll, beforeAll, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addTeam } from "../runs/schedules-support.ts";
import { addAgent, addRun, addSuite, quietQueueClient, startAgent } from "../runs/support.ts";

let service: TestService;
let endpoint: Consumer;
let owner: User;
let suite: { id: string; tasks: string[] };

beforeAll(async () => {
  quietQueueClient();
  service = await startService();
  endpoint = await startAgent();
  owner = await newUser(service, { plan: "team" });
  suite = await addSuite(service, 2);
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

it("a member who is removed sees, lists, exports and cancels no private run that they asked for in the workspace", async () => {
  const runner = await newUser(service, { plan: "pro" });
  const team = await addTeam(service, owner, { runner });
  const agent = await addAgent(owner, { team_id: team, endpoint: endpoint.url });
  const own = await addRun(runner, await addAgent(runner), suite.tasks[0] ?? "", { private: true });
  const asked = { agent_id: agent, suite_id: suite.id, private: true };
  const [ended] = (await runner.call("POST", "/api/v1/runs/batch", asked)).body;
  await service.settled();
  service.faults.set({ service: "qstash", mode: "hang" });
  const [queued] = (await runner.call("POST", "/api/v1/runs/batch", asked)).body;
  const session = `/api/v1/screening-sessions/${ended.screening_session_id}`;
  const paths = [`/api/v1/runs/${ended.id}`, `/api/v1/runs/${ended.id}/phases`, session];
  const statuses = async () => {
    const seen: number[] = [];
    for (const path of paths) seen.push((await runner.call("GET", path)).status);
    return seen;
  };
  const listed = async () => {
    const lists = ["/api/v1/runs?mine=true", "/api/v1/runs", `/api/v1/runs?agent_id=${agent}`];
    const totals: number[] = [];
    for (const path of lists) totals.push((await runner.call("GET", path)).body.total);
    const { text } = await runner.call("GET", "/api/v1/runs/export.csv");
    const sessions = await runner.call("GET", `/api/v1/agents/${agent}/screening-sessions`);
    const stats = await runner.call("GET", `/api/v1/agents/${agent}/stats`);
    return [...totals, text.trim().split("\n").length - 1, sessions.body.total, stats.body.total_runs];
  };
  expect(await statuses()).toEqual([200, 200, 200]);
  expect(await listed()).toEqual([5, 5, 4, 5, 2, 4]);

  expect((await owner.call("DELETE", `/api/v1/teams/${team}/members/${runner.id}`)).status).toBe(204);
  expect(await statuses()).toEqual([404, 404, 404]);
  expect(await listed()).toEqual([1, 1, 0, 1, 0, 0]);
  expect((await runner.call("POST", `/api/v1/runs/${queued.id}/cancel`)).status).toBe(404);
  expect((await runner.call("GET", `/api/v1/runs/${own}`)).status).toBe(200);
  expect((await owner.call("GET", `/api/v1/runs/${ended.id}`)).status).toBe(200);
  await service.sql("delete from outbox");
  service.faults.set({ service: "qstash", mode: "none" });
});
