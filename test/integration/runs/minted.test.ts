import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { core } from "../../../shared/suites/public/core/index.ts";
import { samples } from "../../../shared/templates/index.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { derived, honest, keyOf, MATH, secretOf, tasksBySlug, told } from "./minted-support.ts";
import { addAgent, addRun, addSuite, deliver, range, startAgent } from "./support.ts";

const MINUTE = 60_000;
/** A minute before the epoch ends. */
const START = Date.parse("2026-11-22T23:59:00Z");

let service: TestService;
let owner: User;
let anonymous: Caller;
let agent: Consumer;
let time = START;
/** The tasks of the domain math, whose templates are known, by slug. */
let tasks: Map<string, string>;

/** An answer by heart fits one instance in 20 at most: five of twelve would be one screening in 5,000. */
const LUCK = 4;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(time) } });
  owner = await newUser(service, { plan: "enterprise" });
  anonymous = caller(service);
  agent = await startAgent(honest);
  tasks = await tasksBySlug(service, MATH);
  expect(tasks.size).toBe(4);
});

beforeEach(() => {
  time = START;
  agent.answer = honest;
  agent.seen.length = 0;
  service.logs.length = 0;
});

afterAll(async () => {
  await agent.stop();
  await service.stop();
});

const taskOf = (slug = MATH[0]) => tasks.get(slug ?? "") ?? "";

async function run(id: string) {
  return (await owner.call("GET", `/api/v1/runs/${id}`)).body;
}

async function output(id: string, who: Caller = owner) {
  return who.call("GET", `/api/v1/runs/${id}/output`);
}

/** Screens all four tasks in three sessions of one repeat, which have no canaries; resolves to how many passed. */
async function screen(): Promise<number> {
  const batch = { agent_id: await addAgent(owner, { endpoint: agent.url }), task_ids: [...tasks.values()] };
  const ids: string[] = [];
  for (const _session of range(3)) {
    const { body } = await owner.call("POST", "/api/v1/runs/batch", batch);
    ids.push(...(body as unknown as { id: string }[]).map(({ id }) => id));
  }
  await service.settled();
  const runs = await Promise.all(ids.map(run));
  expect(runs.map(({ status }) => status)).toEqual(range(12).map(() => "completed"));
  return runs.filter(({ passed }) => passed).length;
}

describe("a run of a minted task", () => {
  it("is asked what nobody was asked before, and graded by that: who knows the answers of old gains nothing", async () => {
    expect(await screen()).toBe(12);
    const asked = agent.seen.map(({ body }) => told(body).task);
    const texts = asked.map(({ prompt, input }) => JSON.stringify([prompt, input ?? null]));
    const old = core.tasks.map(({ prompt, input }) => JSON.stringify([prompt, input ?? null]));
    expect(new Set([...texts, ...old]).size).toBe(12 + core.tasks.length);
    // One that has the published key of each sample by heart, and one that gives every right answer again.
    const slugOf = async (id: string) => {
      const [row] = await service.sql<{ slug: string }>(
        "select t.slug from runs r join tasks t on t.id = r.task_id where r.id = $1",
        [id],
      );
      return row?.slug ?? "";
    };
    const remembered = new Map<string, unknown>();
    for (const { body } of agent.seen) {
      const { run_id } = told(body);
      remembered.set(await slugOf(run_id), (await output(run_id)).body["output"]);
    }
    expect(remembered.size).toBe(4);
    agent.answer = async ({ body }) => json(200, { output: keyOf(await slugOf(told(body).run_id)) });
    expect(await screen()).toBeLessThanOrEqual(LUCK);
    agent.answer = async ({ body }) => json(200, { output: remembered.get(await slugOf(told(body).run_id)) });
    expect(await screen()).toBeLessThanOrEqual(LUCK);
  });

  it("keeps its instance when it is taken up again on another day", async () => {
    const id = await addRun(owner, await addAgent(owner, { endpoint: agent.url }), taskOf());
    let release: () => void = () => undefined;
    agent.answer = () => new Promise((resolve) => (release = () => resolve(json(200, { output: null }))));
    const first = deliver(service, "dispatch", id);
    await expect.poll(() => agent.seen.length).toBe(1);
    // Whoever carried it out is gone.
    await service.sql("update runs set lease_token = null, lease_expires_at = null where id = $1", [id]);
    time += 2 * MINUTE;
    agent.answer = honest;
    await deliver(service, "dispatch", id);
    release();
    await first;
    await service.settled();
    const [before, after] = agent.seen.map(({ body }) => told(body).task);
    expect(after).toEqual(before);
    const [row] = await service.sql<{ epoch: string }>("select epoch from runs where id = $1", [id]);
    expect(row?.epoch).toBe("2026-11-22");
    expect(await run(id)).toMatchObject({ status: "completed", passed: true });
  });

  it("says in its evidence what was asked, so that who has the secret of the epoch can open it without the owner", async () => {
    const id = await addRun(owner, await addAgent(owner, { endpoint: agent.url }), taskOf());
    await service.settled();
    const sent = agent.seen.map(({ body }) => told(body)).find(({ run_id }) => run_id === id);
    const { body: evidence } = await anonymous.call("GET", `/api/v1/runs/${id}/evidence`);
    const subject = decodeJwt(String(evidence["jws"]))["credentialSubject"] as {
      task: object;
      instance: object;
      commitments: { request: string };
    };
    const secret = await secretOf(service, "2026-11-22");
    const hmac = (parts: unknown) => derived(secret, parts);
    const hash = (salt: Uint8Array, bytes: string) => createHash("sha256").update(salt).update(bytes).digest("hex");
    const { body: shown } = (await output(id)) as unknown as {
      body: { instance: Record<string, unknown> & { template: { id: string } } };
    };
    expect(shown.instance["prompt"]).toBe(sent?.task.prompt);
    const template = samples[MATH[0] ?? ""];
    expect(subject.task).toMatchObject({ template });
    expect(shown.instance.template).toEqual(template);
    const commitment = hash(hmac(["salt", id]), canonicalize(shown.instance) ?? "");
    expect(subject.instance).toEqual({ epoch: "2026-11-22", commitment });

    const { body: record } = await anonymous.call("GET", `/api/v1/runs/${id}`);
    const { body: task } = await anonymous.call("GET", `/api/v1/tasks/${record.task_id}`);
    const { prompt, input, output_format, output_schema, tools } = shown.instance;
    const asked = Object.entries({ domain: task.domain, prompt, input, output_format, output_schema, tools });
    const request = (lateMs: number) => ({
      protocol: "2026-11",
      run_id: id,
      screening_session_id: record.screening_session_id,
      repeat_index: record.repeat_index ?? 1,
      repeat_total: record.repeat_total ?? 1,
      task: Object.fromEntries(asked.filter(([, value]) => value !== null)),
      deadline: new Date(Date.parse(String(record.started_at)) + Number(task.time_limit_ms) + lateMs).toISOString(),
    });
    const commitments = range(10_000).map((ms) => hash(hmac(["request-salt", id]), canonicalize(request(ms)) ?? ""));
    expect(commitments).toContain(subject.commitments.request);
  });

  it("shows its instance to the owner once it is final, and to nobody else; one of a fixed task has none", async () => {
    const { promise: looked, resolve: look } = Promise.withResolvers<void>();
    agent.answer = async (request) => {
      await looked;
      return honest(request);
    };
    const id = await addRun(owner, await addAgent(owner, { endpoint: agent.url }), taskOf());
    expect((await output(id)).body).toMatchObject({ instance: null });
    look();
    await service.settled();
    expect((await output(id)).body).toMatchObject({ instance: { world: null, template: samples[MATH[0] ?? ""] } });
    expect((await output(id, await newUser(service))).status).toBe(403);
    const { tasks: fixed } = await addSuite(service, 1);
    const other = await addRun(owner, await addAgent(owner, { endpoint: agent.url }), fixed[0] ?? "");
    await service.settled();
    expect((await output(other)).body).toMatchObject({ instance: null });
    const { body } = await anonymous.call("GET", `/api/v1/runs/${other}/evidence`);
    expect(decodeJwt(String(body["jws"]))["credentialSubject"]).toMatchObject({
      instance: null,
      task: { template: null },
    });
    const read = async (task: string) => (await anonymous.call("GET", `/api/v1/tasks/${task}`)).body;
    expect(await read(fixed[0] ?? "")).toMatchObject({ instances: "fixed", template: null });
    expect(await read(taskOf())).toMatchObject({ instances: "minted", template: samples[MATH[0] ?? ""] });
  });

  it("takes no more round trips than one of a fixed task", async () => {
    const { tasks: fixed } = await addSuite(service, 1);
    const agentId = await addAgent(owner, { endpoint: agent.url });
    const count = async (task: string) => {
      service.counters.reset();
      await addRun(owner, agentId, task);
      await service.settled();
      return service.counters.snapshot().db.requests;
    };
    await count(taskOf());
    expect(await count(taskOf())).toBe(await count(fixed[0] ?? ""));
  });

  it("is answered from the key of its instance where it is simulated", async () => {
    const mock = await addAgent(owner);
    const { body } = await owner.call("POST", "/api/v1/runs/batch", {
      agent_id: mock,
      task_ids: [taskOf()],
      repeats: 10,
    });
    await service.settled();
    const runs = await Promise.all((body as unknown as { id: string }[]).map(({ id }) => run(id)));
    // Five in eight are right, by their ids: that none of ten is has a chance of one in 18,000.
    expect(runs.filter(({ passed }) => passed).length).toBeGreaterThan(0);
  });

  it.each([
    ["is missing", "delete from epochs where name = '2026-11-22'"],
    ["came late into the log", "update epochs set is_timely = false where name = '2026-11-22'"],
    [
      "is not in the log",
      "update epochs set is_timely = null, log_index = null, committed_at = null where name = '2026-11-22'",
    ],
  ])(
    "ends as our fault, with an alarm, where the commitment to its epoch %s; its agent is never called",
    async (_why, sql) => {
      const before = await service.sql("select * from epochs where name = '2026-11-22'");
      await service.sql(sql);
      const id = await addRun(owner, await addAgent(owner, { endpoint: agent.url }), taskOf());
      await service.settled();
      for (const _attempt of range(6)) {
        await service.sql(
          "update runs set lease_expires_at = now() - interval '1 second' where id = $1 and status = 'running'",
          [id],
        );
        await service.app.scheduled("* * * * *");
        await service.settled();
      }
      expect(await run(id)).toMatchObject({ status: "failed", failure_code: "service_error" });
      expect(agent.seen).toEqual([]);
      expect(service.logs.some((line) => line.includes("no usable epoch") && line.includes(id))).toBe(true);
      expect((await anonymous.call("GET", "/readyz")).body).toMatchObject({ minting: "down" });
      await service.sql("delete from epochs where name = '2026-11-22'");
      await service.sql("insert into epochs select * from jsonb_populate_recordset(null::epochs, $1)", [
        JSON.stringify(before),
      ]);
    },
  );
});
