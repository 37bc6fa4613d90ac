import { afterAll, beforeAll, expect, it } from "vitest";
import { caller, newUser } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addTeam } from "../runs/schedules-support.ts";
import { addAgent, addSuite, quietQueueClient, range, startAgent, unique } from "../runs/support.ts";

let service: TestService;

beforeAll(async () => {
  quietQueueClient();
  service = await startService();
});

afterAll(() => service.stop());

const deadlocks = async () => {
  const [row] = await service.sql<{ n: number }>(
    "select deadlocks::integer as n from pg_stat_database where datname = current_database()",
  );
  return row?.n;
};

it("submissions, changes and cancellations of one agent wait for each other in no circle", async () => {
  const owner = await newUser(service, { plan: "enterprise" });
  const endpoint = await startAgent();
  const agent_id = await addAgent(owner, { endpoint: endpoint.url });
  const { id: suite_id, tasks } = await addSuite(service, 20);
  service.faults.set({ service: "qstash", mode: "hang" });
  const { body: queued } = await owner.call("POST", "/api/v1/runs/batch", { agent_id, suite_id, repeats: 2 });
  let calls = 0;
  const from = () => ({ "cf-connecting-ip": `10.9.0.${(calls += 1)}` });
  for (const round of range(6)) {
    const answers = await Promise.all(
      range(4).flatMap((n) => [
        owner.call("POST", "/api/v1/runs", { agent_id, task_id: tasks[n] }, from()),
        owner.call("PATCH", `/api/v1/agents/${agent_id}`, { description: `${round} ${n}` }, from()),
        owner.call("POST", `/api/v1/runs/${queued[round * 4 + n].id}/cancel`, undefined, from()),
      ]),
    );
    expect(answers.map(({ status }) => status)).toEqual(range(4).flatMap(() => [202, 200, 200]));
  }
  await service.sql("delete from outbox");
  service.faults.set({ service: "qstash", mode: "none" });
  expect(await deadlocks()).toBe(0);
  await endpoint.stop();
});

it("the key of a workspace makes and revives nothing in it once it is deleted", async () => {
  const owner = await newUser(service, { plan: "enterprise" });
  for (const _round of range(10)) {
    const team = await addTeam(service, owner);
    const scopes = ["agents:write", "teams:read"];
    const { body } = await owner.call("POST", `/api/v1/teams/${team}/api-keys`, { name: unique("Key"), scopes });
    const key = caller(service, { "x-api-key": body.key });
    const { body: retired } = await key.call("POST", "/api/v1/agents", { name: unique("Retired") });
    expect((await key.call("DELETE", `/api/v1/agents/${retired.id}`)).status).toBe(204);
    await Promise.all([
      owner.call("DELETE", `/api/v1/teams/${team}`),
      ...range(3).map(() => key.call("POST", "/api/v1/agents", { name: unique("Ghost") })),
      key.call("PATCH", `/api/v1/agents/${retired.id}`, { is_active: true }),
    ]);
    const ghosts = await service.sql(
      `select id from agents a where a.team_id = $1 and a.is_active
        and not exists (select from team_members m where m.team_id = a.team_id)`,
      [team],
    );
    expect(ghosts).toEqual([]);
  }
});

it("a workspace that is renamed while it is deleted keeps no name", async () => {
  const owner = await newUser(service, { plan: "team" });
  for (const _round of range(8)) {
    const team = await addTeam(service, owner);
    const [deleted] = await Promise.all([
      owner.call("DELETE", `/api/v1/teams/${team}`),
      ...range(3).map((n) => owner.call("PATCH", `/api/v1/teams/${team}`, { name: `Secret ${n}` })),
    ]);
    expect(deleted?.status).toBe(204);
    expect(await service.sql("select name from teams where id = $1", [team])).toEqual([{ name: "Deleted workspace" }]);
  }
});
