import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  addAgent,
  addSuite,
  answersRightly,
  KEY,
  quietQueueClient,
  range,
  startAgent,
  type TestSuite,
} from "./support.ts";

const AGENTS = 5;
const REPEATS = 4;

let service: TestService;
let owner: User;
let endpoint: Consumer;
let suite: TestSuite;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "enterprise" });
  // Half of the answers are wrong, at random places: the order in which runs end must not matter.
  endpoint = await startAgent((request) =>
    JSON.parse(request.body.toString()).repeat_index % 2 === 0 ? json(200, { output: "41" }) : answersRightly(request),
  );
  suite = await addSuite(service, 3);
  quietQueueClient();
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

/** Screens fresh agents on the suite, all at once; resolves to their ids once all is over. */
async function screen(): Promise<string[]> {
  const agents = await Promise.all(range(AGENTS).map(() => addAgent(owner, { endpoint: endpoint.url })));
  const batches = await Promise.all(
    agents.map((agent_id) =>
      owner.call("POST", "/api/v1/runs/batch", { agent_id, suite_id: suite.id, repeats: REPEATS }),
    ),
  );
  expect(batches.map(({ status }) => status)).toEqual(agents.map(() => 200));
  await service.settled();
  return agents;
}

/** All that is summed up of an agent. */
const sums = (agent: string) =>
  service.sql<{ cells: unknown[]; entries: unknown[] }>(
    `select (select jsonb_agg(to_jsonb(s) order by s.task_id, s.period) from task_scores s where s.agent_id = $1) as cells,
      (select jsonb_agg(to_jsonb(b) order by b.domain, b.period) from board_entries b where b.agent_id = $1) as entries`,
    [agent],
  );

describe("runs of several agents that end side by side", () => {
  it("are summed up together, to exactly what the nightly job finds, and each is scored once", async () => {
    service.counters.reset();
    const agents = await screen();
    const runs = AGENTS * suite.tasks.length * REPEATS;
    // Each was claimed and its answer kept; what follows is shared.
    expect(service.counters.snapshot().db.requests).toBeLessThan(runs * 3);
    const [left] = await service.sql(
      `select count(*)::int as runs, count(*) filter (where status = 'completed' and evidence_signed)::int as signed,
        (select count(*)::int from run_evidence e join runs x on x.id = e.run_id where x.agent_id = any($1)) as statements,
        (select count(*)::int from run_phases p join runs x on x.id = p.run_id
          where x.agent_id = any($1) and phase = 'scored') as scored,
        (select count(*)::int from screening_sessions where agent_id = any($1) and finished_at is not null) as finished,
        (select count(*)::int from outbox o join runs x on x.id = o.id) as owed
       from runs where agent_id = any($1)`,
      [agents],
    );
    expect(left).toEqual({ runs, signed: runs, statements: runs, scored: runs, finished: AGENTS, owed: 0 });
    const before = await Promise.all(agents.map(sums));
    expect(before.map(([of]) => of?.cells.length)).toEqual(agents.map(() => 3 * suite.tasks.length));
    await service.app.scheduled(DAILY);
    const recomputed = service.logs.findLast((line) => line.includes('"recomputed"')) ?? "{}";
    expect(JSON.parse(recomputed)).toMatchObject({ differed: 0 });
    expect(await Promise.all(agents.map(sums))).toEqual(before);
  });

  it("end all but the one that can't be", async () => {
    const poison = await addAgent(owner, { endpoint: endpoint.url });
    await service.sql(`create function refuse() returns trigger language plpgsql as $$ begin
      if exists (select from runs where id = new.run_id and agent_id = '${poison}') then raise 'fault'; end if;
      return new; end $$`);
    await service.sql("create trigger refuse before insert on run_evidence for each row execute function refuse()");
    const batch = { agent_id: poison, task_ids: suite.tasks.slice(0, 1) };
    const [agents, refused] = await Promise.all([screen(), owner.call("POST", "/api/v1/runs/batch", batch)]);
    await service.settled();
    const states = await service.sql(
      "select status, count(*)::int as n from runs where agent_id = any($1) group by 1 order by 1",
      [[...agents, poison]],
    );
    expect(states).toEqual([
      { status: "completed", n: AGENTS * suite.tasks.length * REPEATS },
      { status: "running", n: 1 },
    ]);
    await service.sql("drop function refuse cascade");
    await service.broker.advance(60_000);
    await service.settled();
    const [run] = refused.body;
    expect((await owner.call("GET", `/api/v1/runs/${run.id}`)).body.status).toBe("completed");
  });
});

it("a run whose model has a name that no database holds is scored under a storable one", async () => {
  const agent = await addAgent(owner, { endpoint: endpoint.url });
  endpoint.answer = () =>
    json(200, { output: KEY, usage: { calls: [{ model: "m\u0000\ud800", input_tokens: 1, output_tokens: 1 }] } });
  const batch = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, task_ids: suite.tasks.slice(0, 1) });
  await service.settled();
  const [run] = batch.body;
  expect((await owner.call("GET", `/api/v1/runs/${run.id}`)).body.status).toBe("completed");
});
