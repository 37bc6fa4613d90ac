import { afterAll, beforeAll, expect, it } from "vitest";
import { DOMAINS } from "../../../shared/catalogue/domains.ts";
import { PERIODS } from "../../../shared/db/schema/board.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, range } from "../runs/support.ts";

const AGENTS = 12;
const ROUNDS = 4;

let service: TestService;
let owners: { owner: User; agent: string }[];

beforeAll(async () => {
  service = await startService();
  owners = await Promise.all(
    range(AGENTS).map(async () => {
      const owner = await newUser(service);
      return { owner, agent: await addAgent(owner) };
    }),
  );
  // Each agent's entries lie in an order of their own, as they do once they were written at different times.
  await service.sql(
    `insert into board_entries (agent_id, domain, period, tier, composite_score, score_variance, success_rate, reliability,
       cost_efficiency, correctness, robustness, runs, tasks, last_run_at, listed, verified)
     select a.id, d.domain, p.period, 0, 50, 0, 0, 0, 0, 0, 0, 1, 20, now(), true, false
     from agents a cross join unnest($1::text[]) d(domain) cross join unnest($2::text[]) p(period) order by random()`,
    [["all", ...DOMAINS], PERIODS],
  );
  await service.sql("analyze board_entries");
});

afterAll(() => service.stop());

const wrong = () =>
  service.sql(`select t.*, e.* from board_totals t cross join lateral (
      select count(*) filter (where e.listed) as listed, count(*) filter (where e.listed and e.verified) as verified
      from board_entries e where (e.domain, e.period) = (t.domain, t.period)) e
    where (t.listed, t.verified) <> (e.listed, e.verified)`);

it("agents of many owners leave all boards and come back at the same moment, and none waits for another in a circle", async () => {
  const answers: number[] = [];
  for (const round of range(ROUNDS)) {
    const change = { is_public: round % 2 === 1 };
    const changed = await Promise.all(
      owners.map(({ owner, agent }) => owner.call("PATCH", `/api/v1/agents/${agent}`, change)),
    );
    answers.push(...changed.map(({ status }) => status));
  }
  const ended = await Promise.all(owners.map(({ owner, agent }) => owner.call("DELETE", `/api/v1/agents/${agent}`)));
  expect([new Set(answers), new Set(ended.map(({ status }) => status))]).toEqual([new Set([200]), new Set([204])]);
  expect(
    await service.sql("select deadlocks::integer as n from pg_stat_database where datname = current_database()"),
  ).toEqual([{ n: 0 }]);
  expect(await wrong()).toEqual([]);
});
