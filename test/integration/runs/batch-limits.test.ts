import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forgetAllowances } from "../../../shared/allowances/forget.ts";
import { type Caller, caller, newUser, PASSWORD } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { contextOf } from "./run-events-support.ts";
import { addAgent, addSuite, from, quietQueueClient, range, tally, type TestSuite, used } from "./support.ts";

const DAY_MS = 86_400_000;

let service: TestService;
let suite: TestSuite;
let trialAgent: string;
let anonymous: Caller;
let time = Date.now();

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(time) } });
  // What is reserved shall stay as it is: nothing is carried out here.
  service.faults.set({ service: "qstash", mode: "hang" });
  quietQueueClient();
  suite = await addSuite(service, 3);
  anonymous = caller(service);
  trialAgent = await addAgent(await newUser(service), { allow_trial: true });
});

afterAll(() => service.stop());

/** What was made for one agent, the messages that have its runs dispatched included; `strays` belong to no run. */
async function made(agentId: string) {
  const [row] = await service.sql(
    `select (select count(*)::int from runs where agent_id = $1) as runs,
      (select count(*)::int from screening_sessions where agent_id = $1) as sessions,
      (select count(*)::int from outbox o join runs r on r.id = o.id where r.agent_id = $1) as messages,
      (select count(*)::int from screening_sessions s where not exists (
        select from runs r where r.screening_session_id = s.id)) as empty,
      (select count(*)::int from outbox o where consumer = 'dispatch'
        and not exists (select from runs r where r.id = o.id)) as strays`,
    [agentId],
  );
  return row;
}

describe("100 batches at once take exactly the monthly limit", () => {
  it("of 50 where each takes 3: 16 are reserved whole, 84 not at all", async () => {
    const owner = await newUser(service);
    const agent = await addAgent(owner);
    const answers = await Promise.all(
      range(100).map((n) => owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id }, from(n))),
    );
    expect(tally(answers)).toEqual({ 200: 16, 402: 84 });
    // Those that waited for others tell what these left, and not what there was before.
    expect(new Set(answers.flatMap(({ body }) => body.used ?? []))).toEqual(new Set([48]));
    expect(await used(service, "user", owner.id)).toBe(48);
    expect(await made(agent)).toEqual({ runs: 48, messages: 48, sessions: 16, empty: 0, strays: 0 });
    const refusal = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id });
    expect(refusal.body).toMatchObject({ code: "quota_exceeded", limit: 50, used: 48 });
    expect(new Date(refusal.body.resets_at).getTime()).toBeGreaterThan(time);
  });

  it("of 50 where they take 1, 2, 3 or 10: what is used is what was made, and one more fits or none", async () => {
    const owner = await newUser(service);
    const agent = await addAgent(owner);
    const sizes = [1, 2, 3, 10];
    const answers = await Promise.all(
      range(100).map((n) =>
        owner.call(
          "POST",
          "/api/v1/runs/batch",
          { agent_id: agent, task_ids: [suite.tasks[0]], repeats: sizes[n % 4] },
          from(n),
        ),
      ),
    );
    const runs = answers.reduce((sum, { status, body }) => sum + (status === 200 ? body.length : 0), 0);
    // Enough ones come after every refused larger batch to fill the rest.
    expect(runs).toBe(50);
    expect(await used(service, "user", owner.id)).toBe(50);
    expect(await made(agent)).toMatchObject({ runs: 50, messages: 50, empty: 0, strays: 0 });
  });

  it("say how many runs they take, and send nobody into a month that has no more", async () => {
    const owner = await newUser(service);
    const agent = await addAgent(owner);
    const refused = async (tasks: number, repeats: number): Promise<string> => {
      const body = { agent_id: agent, task_ids: suite.tasks.slice(0, tasks), repeats };
      const answer = await owner.call("POST", "/api/v1/runs/batch", body);
      expect([answer.status, answer.body.limit]).toEqual([402, 50]);
      return answer.body.detail;
    };
    const take = async (runs: number) =>
      await service.sql(
        `insert into allowances (kind, owner, period, used) values ('user', $1, $2, $3)
          on conflict (kind, owner, period) do update set used = excluded.used`,
        [owner.id, new Date(time).toISOString().slice(0, 7), runs],
      );
    await take(40);
    expect(await refused(2, 6)).toBe(
      "The allowance of 50 runs does not suffice: 40 are used, and this takes 12. " +
        "Take fewer tasks or repeats, wait for the new month or upgrade the plan.",
    );
    await take(50);
    expect(await refused(1, 1)).toMatch(/and this takes 1\. Wait for the new month or upgrade the plan\.$/);
    await service.sql("update allowances set used = 0 where owner = $1", [owner.id]);
    const large = await addSuite(service, 6);
    const body = { agent_id: agent, suite_id: large.id, repeats: 10 };
    expect((await owner.call("POST", "/api/v1/runs/batch", body)).body.detail).toBe(
      "The allowance of 50 runs does not suffice: 0 are used, and this takes 60. " +
        "That is more than a whole month has: take fewer tasks or repeats, or upgrade the plan.",
    );
  });

  it("tells under its key, in the next month as well, when the one began that it waited for", async () => {
    const present = time;
    const turn = Date.UTC(new Date(time).getUTCFullYear(), new Date(time).getUTCMonth() + 1);
    time = turn - 60_000;
    const owner = await newUser(service);
    const body = { agent_id: await addAgent(owner), task_ids: suite.tasks, repeats: 10 };
    await owner.call("POST", "/api/v1/runs/batch", body);
    const submit = () => owner.call("POST", "/api/v1/runs/batch", body, { "idempotency-key": "over-the-turn" });
    const first = await submit();
    time = turn + 60_000;
    const again = await submit();
    time = present;
    expect([first.status, first.body.resets_at]).toEqual([402, new Date(turn).toISOString()]);
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([402, "true"]);
    expect(again.body).toEqual({ ...first.body, request_id: again.body.request_id });
  });

  it("starts anew with the calendar month", async () => {
    const owner = await newUser(service);
    const agent = await addAgent(owner);
    const now = new Date(time);
    await service.sql("insert into allowances values ('user', $1, $2, 50)", [owner.id, now.toISOString().slice(0, 7)]);
    const single = () => owner.call("POST", "/api/v1/runs", { agent_id: agent, task_id: suite.tasks[0] });
    const refusal = await single();
    expect(refusal.status).toBe(402);
    const present = time;
    time = Date.parse(refusal.body.resets_at);
    const token = (await owner.call("POST", "/api/v1/auth/login", { email: owner.email, password: PASSWORD })).body
      .access_token;
    const next = await caller(service, { authorization: `Bearer ${token}` }).call("POST", "/api/v1/runs", {
      agent_id: agent,
      task_id: suite.tasks[0],
    });
    time = present;
    expect(next.status).toBe(202);
  });
});

it("what was used is kept for 35 days, then forgotten with its month, of whatever length its period is", async () => {
  const periods = ["2026-08", "2026-09", "2026-09-30", "2026-09-30T23", "2026-10", "2026-10-01", "2026-11-05"];
  await service.sql("delete from allowances");
  await service.sql("insert into allowances select 'lead_day', 'all', p, 1 from unnest($1::text[]) p", [periods]);
  const left = async (at: string) => {
    await forgetAllowances(contextOf(service, () => new Date(at)));
    return (await service.sql("select period from allowances order by period")).map(({ period }) => period);
  };
  expect(await left("2026-11-04T23:59:59Z")).toEqual(periods.slice(1));
  expect(await left("2026-11-05T00:00:00Z")).toEqual(periods.slice(4));
});

it("all that an account ever ran is still told when the months are long over", async () => {
  const owner = await newUser(service);
  await service.sql("insert into allowances values ('user', $1, '2024-12', 30), ('user', $1, '2026-10', 12)", [
    owner.id,
  ]);
  await forgetAllowances(contextOf(service, () => new Date("2027-02-01T00:00:00Z")));
  expect((await owner.call("GET", "/api/v1/auth/me")).body).toMatchObject({
    arena_run_count: 42,
    monthly_run_count: 0,
  });
});

describe("anonymous trials", () => {
  const trial = (address: number) =>
    anonymous.call("POST", "/api/v1/runs", { agent_id: trialAgent, task_id: suite.tasks[0] }, from(address));

  it("are 5 a day from an address; a refused one takes nothing from the 200 of all", async () => {
    const answers = await Promise.all(range(30).map(() => trial(500)));
    expect(tally(answers)).toEqual({ 202: 5, 402: 25 });
    expect(await used(service, "trial_global")).toBe(5);
    expect(answers.find(({ status }) => status === 402)?.body).toMatchObject({ limit: 5, used: expect.any(Number) });
    const resets = Date.parse((await trial(500)).body.resets_at);
    expect(resets % DAY_MS).toBe(0);
    expect(resets - time).toBeLessThanOrEqual(DAY_MS);
  });

  it("are 200 a day in all; one refused for that takes nothing from its address", async () => {
    const answers: Awaited<ReturnType<typeof trial>>[] = [];
    // All at once take a loaded machine longer than a request waits for the database.
    for (const wave of range(4)) answers.push(...(await Promise.all(range(55).map((n) => trial(600 + 55 * wave + n)))));
    expect(tally(answers)).toEqual({ 202: 195, 402: 25 });
    expect(await used(service, "trial_global")).toBe(200);
    expect(await used(service, "trial_address")).toBe(200);
    expect((await trial(900)).body).toMatchObject({ code: "quota_exceeded", limit: 200, used: 200 });
    expect(await made(trialAgent)).toEqual({ runs: 200, messages: 200, sessions: 0, empty: 0, strays: 0 });
  });

  it("are counted by the UTC day", async () => {
    time += DAY_MS;
    expect((await trial(500)).status).toBe(202);
    time -= DAY_MS;
  });

  it("need the owner's leave, and never take a private agent", async () => {
    const owner = await newUser(service);
    const closed = await addAgent(owner);
    const hidden = await addAgent(owner, { allow_trial: true, is_public: false });
    const run = (agent: string) =>
      anonymous.call("POST", "/api/v1/runs", { agent_id: agent, task_id: suite.tasks[0] }, from(910));
    expect(await run(closed)).toMatchObject({ status: 403, body: { code: "trial_not_allowed" } });
    expect((await run(hidden)).status).toBe(404);
    expect(await used(service, "trial_global")).toBe(201);
  });

  it("can't be private, signed in or not: that is refused, and takes nothing", async () => {
    const stranger = await newUser(service);
    const hidden = { agent_id: trialAgent, task_id: suite.tasks[0], private: true };
    for (const [who, address] of [[stranger, 920] as const, [anonymous, 921] as const]) {
      const { status, body } = await who.call("POST", "/api/v1/runs", hidden, from(address));
      expect([status, body.code, body.errors[0].pointer]).toEqual([422, "conflicting_parameters", "/private"]);
    }
    expect([await used(service, "user", stranger.id), await used(service, "trial_global")]).toEqual([0, 201]);
  });

  it("of a signed-in stranger take the stranger's own month", async () => {
    const stranger = await newUser(service);
    const { body } = await stranger.call("POST", "/api/v1/runs", { agent_id: trialAgent, task_id: suite.tasks[0] });
    expect(await used(service, "user", stranger.id)).toBe(1);
    expect((await anonymous.call("GET", `/api/v1/runs/${body.id}`)).body.trigger).toBe("trial");
  });
});
