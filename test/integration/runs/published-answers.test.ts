import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { published, reveal, signedInAgain, speaking } from "./regrading-support.ts";
import { addAgent, addRun, addSuite, range, startAgent } from "./support.ts";

const RIGHT = {
  valid: true,
  instance_matches: true,
  response_matches: true,
  correctness: 1,
  passed: true,
  agrees: true,
};

/** What a task can't do without. */
const COLUMNS =
  "title, domain, prompt, output_format, grader, expected_output, reference_cost_usd, reference_latency_ms";

let service: TestService;
let owner: User;
let outsiders: Caller[];
let endpoint: Consumer;
let agent: string;
let task: string;
let time = Date.parse("2026-11-22T12:00:00Z");
const runs: Record<string, string> = {};

const publish = (on: boolean, id = agent) => owner.call("PATCH", `/api/v1/agents/${id}`, { publish_answers: on });
const output = (who: Caller, run = "") => who.call("GET", `/api/v1/runs/${run}/output`);

/** What each outsider is answered about the output of each run. */
async function statuses(): Promise<Record<string, number[]>> {
  const asked = Object.entries(runs).map(async ([name, id]) => {
    const answers = await Promise.all(outsiders.map((who) => output(who, id)));
    return [name, answers.map(({ status }) => status)] as const;
  });
  return Object.fromEntries(await Promise.all(asked));
}

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(time) } });
  owner = await newUser(service, { plan: "enterprise" });
  endpoint = await startAgent(speaking((right) => right));
  agent = await addAgent(owner, { endpoint: endpoint.url });
  const [row] = await service.sql<{ id: string }>(
    "select id from tasks where is_active and slug ~ '^core-math-' limit 1",
  );
  task = row?.id ?? "";
  const fixed = (await addSuite(service, 1)).tasks[0] ?? "";
  const open = await addAgent(owner, { endpoint: endpoint.url });
  const mock = await addAgent(owner);
  for (const id of [open, mock]) await publish(true, id);

  runs["before"] = await addRun(owner, agent, task);
  expect((await publish(true)).body).toMatchObject({ publish_answers: true });
  runs["while"] = await addRun(owner, agent, task);
  runs["while, ending after"] = await addRun(owner, agent, task);
  runs["private"] = await addRun(owner, agent, task, { private: true });
  runs["fixed"] = await addRun(owner, agent, fixed);
  expect((await publish(false)).body).toMatchObject({ publish_answers: false });
  runs["after"] = await addRun(owner, agent, task);
  runs["simulated"] = await addRun(owner, mock, task);
  runs["secret"] = await addRun(owner, open, task);
  await service.settled();
  // As it would be of a secret task, which no owner can run.
  await service.sql(
    `with secret as (
       insert into tasks (${COLUMNS}, slug, is_secret) select ${COLUMNS}, 's', true from tasks where id = $1 returning id)
     update runs set task_id = secret.id from secret where runs.id = $2`,
    [task, runs["secret"]],
  );
}, 60_000);

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

describe("the outputs of an agent that publishes its answers", () => {
  it("are the owner's alone until their epoch is revealed", async () => {
    outsiders = [caller(service), await newUser(service)];
    expect(await statuses()).toEqual(
      Object.fromEntries(Object.keys(runs).map((name) => [name, name === "private" ? [404, 404] : [403, 403]])),
    );
    expect((await output(owner, runs["while"])).status).toBe(200);
  });

  it("are everybody's from then on: of counted runs of minted, open tasks, submitted while it was so", async () => {
    await reveal(service, (ms) => (time += ms));
    owner = await signedInAgain(service, owner);
    outsiders = [caller(service), await newUser(service)];
    const refused = Object.fromEntries(
      ["before", "fixed", "after", "simulated", "secret"].map((name) => [name, [403, 403]]),
    );
    const shown = { while: [200, 200], "while, ending after": [200, 200] };
    expect(await statuses()).toEqual({ ...refused, ...shown, private: [404, 404] });
    const { body } = await output(outsiders[0] ?? owner, runs["while"]);
    expect(body).toEqual((await output(owner, runs["while"])).body);
    expect(body).toMatchObject({ run_id: runs["while"], instance: { world: null }, explanation: expect.any(String) });
  });

  it("let an outsider grade a run again from what is public alone", async () => {
    const anonymous = caller(service);
    const evidence = await published(service, anonymous, runs["while, ending after"] ?? "");
    expect((await anonymous.call("POST", "/api/v1/evidence/regrade", evidence)).body).toEqual(RIGHT);
  });

  it("take no round trip more than the owner's own look", async () => {
    const count = async (who: Caller) => {
      await service.settled();
      service.counters.reset();
      expect((await output(who, runs["while"])).status).toBe(200);
      await service.settled();
      return service.counters.snapshot().db.requests;
    };
    expect([await count(outsiders[0] ?? owner), await count(owner)]).toEqual([1, 1]);
  });

  it("stay public when their agent ceases to be, and are gone with one that is deleted", async () => {
    const anonymous = caller(service);
    const status = async () => (await output(anonymous, runs["while"])).status;
    await owner.call("PATCH", `/api/v1/agents/${agent}`, { is_public: false });
    expect(await status()).toBe(200);
    expect((await anonymous.call("GET", `/api/v1/runs/${runs["while"]}`)).status).toBe(404);
    expect((await owner.call("DELETE", `/api/v1/agents/${agent}`)).status).toBe(204);
    expect(await status()).toBe(404);
    expect((await anonymous.call("GET", `/api/v1/runs/${runs["while"]}/evidence`)).status).toBe(200);
  });
});

it("a batch that is submitted while the owner decides anew is published as a whole or not at all", async () => {
  const mock = await addAgent(owner);
  const batch = { agent_id: mock, task_ids: [task], repeats: 5 };
  const answers = await Promise.all(
    range(6).flatMap((n) => [publish(n % 2 === 0, mock), owner.call("POST", "/api/v1/runs/batch", batch)]),
  );
  expect(answers.map((answer) => answer.status)).toEqual(range(12).map(() => 200));
  await service.settled();
  const sessions = await service.sql<{ kinds: number; runs: number }>(
    `select count(distinct publishes_answer)::int as kinds, count(*)::int as runs from runs where agent_id = $1
     group by screening_session_id`,
    [mock],
  );
  expect(sessions).toEqual(range(6).map(() => ({ kinds: 1, runs: 5 })));
});
