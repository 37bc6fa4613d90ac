import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser } from "../../stack/client.ts";
import { type Handler, json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, deliver, KEY, range, startAgent } from "./support.ts";

const START = Date.UTC(2026, 10, 21, 9);

let orderly: TestService;
let chaotic: TestService;
let endpoint: Consumer;

beforeAll(async () => {
  // The clock stands still, so that no time tells the two apart.
  const overrides = { now: () => new Date(START) };
  [orderly, chaotic] = await Promise.all([startService({ overrides }), startService({ overrides })]);
  chaotic.broker.setChaos({ duplicate: true, shuffle: true });
  endpoint = await startAgent(byRepeat);
});

afterAll(async () => {
  await endpoint.stop();
  await Promise.all([orderly.stop(), chaotic.stop()]);
});

/** Answers by the repeat: right, wrong, a failure, or later by callback. */
const byRepeat: Handler = async ({ body }) => {
  const { repeat_index: repeat, callback } = JSON.parse(body.toString());
  const usage = { calls: [{ model: "m", cost_usd: 0.001 * repeat }] };
  if (repeat === 3) return json(500, {});
  if (repeat === 4) {
    await fetch(callback.url, {
      method: "PATCH",
      headers: { "content-type": "application/json", authorization: `Bearer ${callback.token}` },
      body: JSON.stringify({ status: "completed", output: KEY, usage }),
    });
    return { status: 202 };
  }
  return json(200, { output: repeat === 2 ? "41" : KEY, usage });
};

/** Screens one agent, 4 tasks 5 times each, and gives all that is left of it, without ids and times. */
async function screen(service: TestService) {
  const owner = await newUser(service);
  const agent = await addAgent(owner, { endpoint: endpoint.url, name: "Screened" });
  const suite = await addSuite(service, 4);
  const before = endpoint.seen.length;
  const batch = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id, repeats: 5 });
  expect(batch.status).toBe(200);
  await service.settled();
  const rows = (text: string) => service.sql(text, [agent]);
  return {
    calls: endpoint.seen.length - before,
    runs: await rows(`select position, repeat_index, status, passed, correctness, failure_code, attempt, axes, counted,
      evidence_cost_usd, evidence_cost_source, evidence_signed from runs where agent_id = $1 order by position, repeat_index`),
    phases: await rows(`select r.position, r.repeat_index, p.sequence, p.phase, p.outcome, p.metadata
      from run_phases p join runs r on r.id = p.run_id where r.agent_id = $1 order by 1, 2, 3`),
    evidence: await rows(`select r.position, r.repeat_index from run_evidence e join runs r on r.id = e.run_id
      where r.agent_id = $1 order by 1, 2`),
    cells: await rows(`select t.position, to_jsonb(s) - 'agent_id' - 'task_id' as cell from task_scores s
      join tasks t on t.id = s.task_id where s.agent_id = $1 order by t.position, s.period`),
    entries: await rows(
      `select to_jsonb(b) - 'agent_id' as entry from board_entries b where agent_id = $1 order by domain, period`,
    ),
    totals: await service.sql("select * from board_totals order by domain, period"),
    outbox: await service.sql("select o.consumer from outbox o join runs r on r.id = o.id"),
    allowances: await service.sql("select kind, used from allowances"),
  };
}

describe("messages that come twice and in any order", () => {
  it("leave exactly what orderly ones do", async () => {
    const expected = await screen(orderly);
    const seen = await screen(chaotic);
    expect(expected.calls).toBe(20);
    expect(expected.runs).toHaveLength(20);
    expect(expected.evidence).toHaveLength(20);
    expect(expected.outbox).toEqual([]);
    expect(expected.allowances).toEqual([{ kind: "user", used: 20 }]);
    expect(seen).toEqual(expected);
  });

  it("call the agent once, however many dispatches of a run come at once", async () => {
    const owner = await newUser(orderly);
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    const { tasks } = await addSuite(orderly, 1);
    orderly.faults.set({ service: "qstash", mode: "hang" });
    const runId = await addRun(owner, agent, tasks[0] ?? "");
    const before = endpoint.seen.length;
    const statuses = await Promise.all(range(10).map(() => deliver(orderly, "dispatch", runId)));
    expect(statuses).toEqual(range(10).map(() => 200));
    expect(endpoint.seen.length - before).toBe(1);
    const scored = await Promise.all(range(10).map(() => deliver(orderly, "score", runId)));
    expect(scored).toEqual(range(10).map(() => 200));
    orderly.faults.set({ service: "qstash", mode: "none" });
    await orderly.settled();
    const [left] = await orderly.sql(
      `select r.status, r.attempt, (select count(*)::int from run_evidence where run_id = r.id) as evidence,
        (select count(*)::int from run_phases where run_id = r.id and phase = 'scored') as scored,
        (select n from task_scores s where s.agent_id = r.agent_id and period = 'all') as n
       from runs r where id = $1`,
      [runId],
    );
    expect(left).toEqual({ status: "completed", attempt: 1, evidence: 1, scored: 1, n: 1 });
  });

  it("change nothing about a final run, ten of each consumer's at once", async () => {
    const owner = await newUser(orderly);
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    const { tasks } = await addSuite(orderly, 1);
    const runId = await addRun(owner, agent, tasks[0] ?? "");
    await orderly.settled();
    const all = () =>
      orderly.sql(
        `select to_jsonb(r) as run, (select jsonb_agg(p order by sequence) from run_phases p where p.run_id = r.id) as phases,
          (select jws from run_evidence where run_id = r.id) as jws,
          (select jsonb_agg(b order by domain, period) from board_entries b where b.agent_id = r.agent_id) as entries
         from runs r where id = $1`,
        [runId],
      );
    const before = await all();
    const statuses = await Promise.all(
      ["dispatch", "score", "expire"].flatMap((consumer) => range(10).map(() => deliver(orderly, consumer, runId))),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    await orderly.settled();
    expect(await all()).toEqual(before);
  });
});
