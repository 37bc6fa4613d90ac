import { afterAll, beforeAll, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, range, startAgent } from "../runs/support.ts";
import { addTeam } from "../workspaces/teams-support.ts";

let service: TestService;
let endpoint: Consumer;
let owner: User;
let members: User[];
let team: string;
let agents: string[];
let task: string;

beforeAll(async () => {
  service = await startService();
  endpoint = await startAgent();
  const { tasks } = await addSuite(service, 1);
  task = tasks[0] ?? "";
  owner = await newUser(service, { plan: "enterprise" });
  const others = await Promise.all(range(3).map(() => newUser(service)));
  members = [owner, ...others];
  const [runner, editor] = others as [User, User];
  team = await addTeam(service, owner, { runner, editor });
  const elsewhere = await addTeam(service, owner);
  agents = await Promise.all(range(3).map(() => addAgent(owner, { team_id: team, endpoint: `${endpoint.url}/run` })));
  // Over 60 days, the edges of the 30 among them; of members, of one who is none, and of nobody; for other expenses too.
  await service.sql(
    `select setseed(0.42);
     insert into runs (id, agent_id, task_id, user_id, status, trigger, team_id, scope, created_at)
     select uuidv7(at - now()), agent_id, '${task}', user_id, 'completed', 'manual', team_id,
       case when team_id is null then 'personal' else 'team' end, at
     from (
       select ('{${agents.join(",")}}'::uuid[])[1 + n % 2] as agent_id,
         ('{${[...members.map(({ id }) => id), "NULL"].join(",")}}'::uuid[])[1 + floor(random() * 5)::integer] as user_id,
         ('{${team},${team},${elsewhere},NULL}'::uuid[])[1 + floor(random() * 4)::integer] as team_id,
         date_trunc('day', now(), 'UTC') - n % 60 * interval '1 day'
           + case n % 3 when 0 then interval '0' when 1 then interval '23:59:59.999' else random() * interval '1 day' end as at
       from generate_series(1, 900) n) x where at <= now() order by random()`,
  );
});

afterAll(async () => {
  await service.stop();
  await endpoint.stop();
});

/** What every agent tells a member, and what the runs themselves say. */
async function expectTold(): Promise<void> {
  const told = await Promise.all(
    agents.map(async (id) => (await owner.call("GET", `/api/v1/agents/${id}`)).body.workspace_activity),
  );
  const rows = await service.sql(
    `select coalesce(sum(1) filter (where recent), 0)::integer as runs_30d,
       count(distinct m.user_id) filter (where recent)::integer as active_members_30d,
       to_char(max(r.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as last_run_at
     from unnest($1::uuid[]) with ordinality a(id, n) left join (
       select *, created_at >= date_trunc('day', now(), 'UTC') - interval '29 days' as recent from runs
     ) r on r.agent_id = a.id and r.team_id = $2
       left join team_members m on m.team_id = r.team_id and m.user_id = r.user_id
     group by a.n order by a.n`,
    [agents, team],
  );
  expect(told).toEqual(rows);
  const { body } = await owner.call("GET", `/api/v1/agents?team_id=${team}`);
  const listed = new Map(body.items.map((item: Record<string, unknown>) => [item["id"], item["workspace_activity"]]));
  expect(agents.map((id) => listed.get(id))).toEqual(rows);
}

it("tells of the runs of today and of the 29 days before, whoever asked for them", async () => {
  await expectTold();
});

it("counts each of the runs that come at once, while an account that asked for others goes", async () => {
  const [one, other, , gone] = members as [User, User, User, User];
  const runs = range(8).flatMap((n) => [one, other].map((who) => addRun(who, agents[1 + (n % 2)] ?? "", task)));
  await Promise.all([...runs, service.sql("delete from users where id = $1", [gone.id])]);
  await expectTold();
  expect(await service.sql("select from run_days where user_id = $1", [gone.id])).toEqual([]);
  await service.settled();
  await expectTold();
});

it("forgets runs that are deleted, and what is told of an agent goes with it", async () => {
  await service.sql("delete from runs where random() < 0.5 and created_at < now() - interval '2 days'");
  await expectTold();
  const [agent] = agents.splice(0, 1);
  await service.sql("delete from agents where id = $1", [agent]);
  expect(await service.sql("select from run_days where agent_id = $1", [agent])).toEqual([]);
  await service.sql("delete from runs");
  expect(await service.sql("select from run_days")).toEqual([]);
  await expectTold();
});
