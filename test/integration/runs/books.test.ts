import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EVERY_MINUTE } from "../../../functions/scheduled.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Answer, newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { roaming, subscribe } from "../webhooks/support.ts";
import { honest, MATH, tasksBySlug, told } from "./minted-support.ts";
import { addAgent, addSuite, answersRightly, quietQueueClient, range, startAgent } from "./support.ts";

const ROUNDS = 3;

let service: TestService;
let endpoint: Consumer;
let receiver: Consumer;
let asked = 0;

/** Answers as agents do: rightly or not, not at all, and at two prices. */
const moody: Consumer["answer"] = (request) => {
  asked += 1;
  if (asked % 7 === 0) return json(500, {});
  if (asked % 5 === 0) return json(200, { output: "no" });
  return told(request.body).task.prompt.includes("six times seven") ? answersRightly(request) : honest(request);
};

beforeAll(async () => {
  quietQueueClient();
  service = await startService();
  endpoint = await startAgent(moody);
  receiver = await startAgent(() => ({ status: 200 }));
  const minted = [...(await tasksBySlug(service, MATH)).values()].slice(0, 2);
  await service.sql("update tasks set is_active = false where id <> all($1)", [minted]);
  const { tasks } = await addSuite(service, 2, { slug: "core", columns: { domain: "coding" } });
  const owners = await Promise.all(range(2).map(() => newUser(service, { plan: "enterprise" })));
  const agents = await Promise.all(
    owners.flatMap((owner) =>
      [{ endpoint: endpoint.url }, { endpoint: endpoint.url, is_public: false }, {}].map(async (fields) => ({
        owner: roaming(owner),
        id: await addAgent(owner, fields),
      })),
    ),
  );
  await Promise.all(owners.map((owner) => subscribe(owner, receiver.url)));
  for (const round of range(ROUNDS)) {
    service.broker.setChaos({ duplicate: true, shuffle: true });
    const started = agents.map(async ({ owner, id }, place) => {
      const fields = {
        agent_id: id,
        task_ids: [...tasks, ...minted],
        repeats: 2 + (place % 2),
        private: place === round,
      };
      const { body } = await owner.call("POST", "/api/v1/runs/batch", fields);
      const session = `/api/v1/screening-sessions/${body[0]?.screening_session_id}`;
      if ((place + round) % 3 === 0) await owner.call("POST", `${session}/cancel`);
      return `${session}/rerun`;
    });
    service.faults.set({ service: "db", mode: round === 1 ? "lost" : "down", count: round * 5 });
    const sessions = await Promise.all(started);
    await service.settled();
    await catchUp();
    await Promise.all(agents.map(({ owner }, place) => owner.call("POST", sessions[place] ?? "", {})));
    await Promise.all(agents.slice(0, round).map(flip));
    await service.settled();
  }
  service.broker.setChaos({ duplicate: false, shuffle: false });
  await catchUp();
});

afterAll(async () => {
  await endpoint.stop();
  await receiver.stop();
  await service.stop();
});

/** Hides an agent from the board, or shows it again. */
async function flip({ owner, id }: { owner: Pick<User, "call">; id: string }): Promise<Answer> {
  const { body } = await owner.call("GET", `/api/v1/agents/${id}`);
  return owner.call("PATCH", `/api/v1/agents/${id}`, { is_public: body.is_public !== true });
}

/** Has all that was lost on the way found again: what is owed, and what is held by nobody. */
async function catchUp(): Promise<void> {
  service.faults.set({ service: "db", mode: "none" });
  for (const _ of range(3)) {
    await service.sql("update outbox set due_at = now() - interval '1 second'");
    await service.sql("update runs set lease_expires_at = now() where status = 'running' and lease_token is not null");
    await service.app.scheduled(EVERY_MINUTE);
    await service.broker.advance(600_000);
    await service.settled();
  }
}

/** What must never be, as SQL that finds it; and a change after which it does. */
const BOOKS: [statement: string, finds: string, change: string][] = [
  [
    "every run ends, and holds nothing any more",
    `select id from runs where finalized_at is null or finalized_at < coalesce(answered_at, started_at, created_at)
       or num_nonnulls(lease_token, callback_hash) > 0 or canary is null`,
    "update runs set finalized_at = created_at - interval '1 second' where id = (select max(id::text)::uuid from runs)",
  ],
  [
    "every session is over when its runs are, and has all of them",
    `select s.id from screening_sessions s join runs r on r.screening_session_id = s.id
     group by s.id having s.finished_at is null or count(*) <> jsonb_array_length(s.task_plan) * s.repeats`,
    "update screening_sessions set finished_at = null where id = (select max(id::text)::uuid from screening_sessions)",
  ],
  [
    "an allowance is what its runs took and did not get back",
    `select * from (select owner, period, used from allowances where kind = 'user') w full join (
       select paid_owner as owner, paid_period as period, count(*) as taken from runs
       where status <> 'cancelled' and failure_code is distinct from 'service_error' and not canary group by 1, 2
     ) x using (owner, period) where coalesce(used, 0) <> coalesce(taken, 0)`,
    "update allowances set used = used + 1 where kind = 'user'",
  ],
  [
    "a run counts exactly if it was signed, and is neither private nor a canary",
    `select id from runs where counted <> (evidence_signed and not is_private) or (simulated or canary) and evidence_signed
       or evidence_signed <> exists (select from run_evidence e where e.run_id = runs.id)`,
    "update runs set counted = false where counted",
  ],
  [
    "the log has each statement once, and no other",
    `select * from (select encode(sha256(convert_to(jws, 'UTF8')), 'hex') as sha256 from run_evidence) e full join (
       select convert_from(entry, 'UTF8')::jsonb ->> 'sha256' as sha256, count(*) as entries, count(position) as placed
       from log_entries where convert_from(entry, 'UTF8')::jsonb ->> 'kind' = 'run' group by 1
     ) l using (sha256) where (entries, placed) is distinct from (1, 1) or e is null`,
    "update run_evidence set jws = jws || 'x'",
  ],
  [
    "the tallies of an agent are sums over its runs",
    `select * from (
       select agent_id, simulated, sum(runs) as runs, sum(judged) as judged, sum(passed) as passed, sum(cost_usd) as cost_usd
       from run_tallies group by 1, 2
     ) t full join (
       select r.agent_id, r.simulated, sum(y.runs) as runs, sum(y.judged) as judged, sum(y.passed) as passed, sum(y.cost_usd) as cost_usd
       from runs r cross join run_tally(r) y group by 1, 2
     ) r using (agent_id, simulated) where (t.runs, t.judged, t.passed, t.cost_usd) is distinct from (r.runs, r.judged, r.passed, r.cost_usd)`,
    "update run_tallies set passed = passed + 1",
  ],
  [
    "the days of an agent are sums over its runs",
    `select * from (select agent_id, sum(runs) as runs, sum(passed) as passed, sum(cost_usd) as cost from run_days group by 1) d
     full join (
       select agent_id, count(*) as runs, count(*) filter (where passed) as passed,
         coalesce(sum(evidence_cost_usd) filter (where not simulated), 0) as cost
       from runs group by 1
     ) r using (agent_id) where (d.runs, d.passed, d.cost) is distinct from (r.runs, r.passed, r.cost)`,
    "update run_days set cost_usd = cost_usd + 1",
  ],
  [
    "a board's total is the number of its rows, and they stand as their agents do",
    `select b.domain from board_totals b cross join lateral (
       select count(*) filter (where e.listed) as listed, bool_and(e.listed = (a.is_public and a.is_active)) as alike
       from board_entries e join agents a on a.id = e.agent_id where (e.domain, e.period) = (b.domain, b.period)
     ) e where b.listed <> e.listed or not e.alike`,
    "update board_totals set listed = listed + 1",
  ],
  [
    "nothing is owed any more",
    "select consumer from outbox union all select 'log' from log_entries where position is null",
    "insert into log_entries (entry) values ('{}')",
  ],
  [
    "each event was delivered to each subscription once",
    `select 1 from webhook_deliveries group by webhook_id, event_id
       having count(*) filter (where status = 'succeeded') <> 1 and not bool_or(status = 'exhausted')
     union all select 1 from runs r join agents a on a.id = r.agent_id where r.status = 'completed' and 1 <> (
       select count(*) from webhook_events e where e.body::jsonb #>> '{data,run,id}' = r.id::text)`,
    "delete from webhook_events",
  ],
];

describe("after a busy time with messages that came twice, and a database that went away", () => {
  it("there are runs that passed, that did not, and that failed", async () => {
    const kinds = await service.sql<{ kind: string }>(
      "select distinct concat_ws(' ', status, passed::text) as kind from runs where not simulated",
    );
    const wanted = ["completed true", "completed false", "failed false"];
    expect(kinds.map(({ kind }) => kind)).toEqual(expect.arrayContaining(wanted));
  });

  it.each(BOOKS)("%s", async (_statement, finds) => {
    expect(await service.sql(finds)).toEqual([]);
  });

  it.each(BOOKS)("it would be found if it were not so that %s", async (_statement, finds, change) => {
    await service.sql(change);
    expect(await service.sql(finds)).not.toEqual([]);
  });
});
