import { readdirSync, readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { EVERY_MINUTE } from "../../../functions/scheduled.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { deliverAll } from "./billing-support.ts";
import { answersFor, buy, CERTIFY, paidBy, runsOf, shortenSuites, statusOf } from "./certify-support.ts";
import { addTeam } from "../workspaces/teams-support.ts";
import { addAgent, addSuite, from, quietQueueClient, range, startAgent, used } from "../runs/support.ts";

/** What a certification takes before the suites grow, and what they grow by. */
const RUNS = 10;
const GROWTH = 15;
/** The monthly allowance of a free account. */
const MONTHLY = 50;

let service: TestService;
let endpoint: Consumer;
let owner: User;
/** The task that a certification comes to last. */
let last: string | undefined;
/** The tasks that a test has added. */
let added: string[] = [];
let tests = 0;
let clock = 0;
/** When the month after the one of the test begins. */
let renewal = 0;

beforeAll(async () => {
  clock = Date.now();
  service = await startService({ stripe: true, overrides: { now: () => new Date(clock) } });
  endpoint = await startAgent();
  last = (await shortenSuites(service)).at(-1);
  quietQueueClient();
});

beforeEach(async () => {
  clock = Date.now();
  const now = new Date(clock);
  renewal = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  endpoint.answer = answersFor(0.001);
  // Each test from an address of its own, so that no limit is shared.
  tests += 1;
  const user = await newUser(service);
  owner = { ...user, ...caller(service, { authorization: `Bearer ${user.token}`, ...from(tests) }) };
});

afterEach(async () => {
  await service.sql("update tasks set is_active = false where id = any($1)", [added]);
  added = [];
});

afterAll(async () => {
  expect(service.stripe.refused).toEqual([]);
  await endpoint.stop();
  await service.stop();
});

/** Adds tasks to the core suite. */
async function grow(tasks = GROWTH / 5): Promise<void> {
  for (const place of range(tasks))
    added.push(...(await addSuite(service, 1, { slug: "core", columns: { position: 10 + place } })).tasks);
}

/** Leaves the owner so many runs in this month. */
const limitTo = (left: number) =>
  service.sql("insert into allowances (kind, owner, period, used) values ('user', $1, $2, $3)", [
    owner.id,
    new Date(clock).toISOString().slice(0, 7),
    MONTHLY - left,
  ]);

/** Has an agent's certification begun at the checkout; returns what pays it. */
async function open(fields: object = {}): Promise<{ agent: string; pay: () => Promise<void> }> {
  const agent = await addAgent(owner, { endpoint: endpoint.url, ...fields });
  const { body, text } = await buy(owner, agent);
  if (body.kind !== "checkout") throw new Error(text);
  const [row] = await service.sql<{ session: string }>(
    "select checkout_session_id as session from certifications where id = $1",
    [body.certification_id],
  );
  return { agent, pay: () => deliverAll(service, service.stripe.pay(row?.session ?? "")) };
}

/** Has `work` done while QStash takes nothing, so that runs wait for nobody. */
async function held(work: () => Promise<unknown>): Promise<void> {
  service.faults.set({ service: "qstash", mode: "error" });
  await work();
  await service.settled();
  await service.sql("delete from outbox");
  service.faults.set({ service: "qstash", mode: "none" });
}

/** Has the minute's work done at a time, then goes back to when the test began: its tokens are of that time. */
async function minuteAt(at: number, times = 1): Promise<void> {
  const then = clock;
  clock = at;
  await Promise.all(range(times).map(() => service.app.scheduled(EVERY_MINUTE)));
  await service.settled();
  clock = then;
}

const usedByOwner = () => used(service, "user", owner.id);

describe("the price of a certification", () => {
  it("brings the runs that are needed at the checkout, whatever is left of the month", async () => {
    const { agent, pay } = await open();
    await limitTo(0);
    const { body } = await owner.call("GET", `${CERTIFY}/eligibility?agent_id=${agent}`);
    expect(body.runs_needed).toBe(RUNS);
    await pay();
    await service.settled();
    expect(await statusOf(owner, agent)).toMatchObject({
      status: "certified",
      progress: { total: RUNS, passed: RUNS },
    });
    expect(await paidBy(service, agent)).toEqual({ certification: RUNS });
    expect(await usedByOwner()).toBe(MONTHLY);
  });

  it("brings what is needed when the same checkout is asked for again, and never less than before", async () => {
    const { agent, pay } = await open();
    await limitTo(0);
    await grow();
    expect((await buy(owner, agent)).status).toBe(200);
    await service.sql("update tasks set is_active = false where id = $1", [added[0]]);
    expect((await buy(owner, agent)).status).toBe(200);
    await service.sql("update tasks set is_active = true where id = $1", [added[0]]);
    await pay();
    await service.settled();
    expect([(await statusOf(owner, agent)).status, await paidBy(service, agent)]).toEqual([
      "certified",
      { certification: RUNS + GROWTH },
    ]);
  });

  it.each([
    [4, 0],
    [9, 5],
    [GROWTH, GROWTH],
  ])(
    "leaves what was added since to the month: of %i runs it takes %i, and the rest when it is new",
    async (left, taken) => {
      const { agent, pay } = await open();
      await limitTo(left);
      await grow();
      await pay();
      await service.settled();
      const isPaused = taken < GROWTH;
      const first = await statusOf(owner, agent);
      expect(first.progress).toEqual({ total: RUNS + GROWTH, finished: RUNS + taken, passed: RUNS + taken });
      const month = new Date(renewal).toISOString().slice(0, 10);
      expect([first.status, first.paused_reason]).toEqual(
        isPaused ? ["paused_quota", expect.stringMatching(new RegExp(`^quota: .* ${month}`))] : ["certified", null],
      );
      expect(await usedByOwner()).toBe(MONTHLY - left + taken);
      await minuteAt(clock + 1000);
      expect(await runsOf(service, agent)).toEqual({ completed: RUNS + taken });
      await minuteAt(renewal, 3);
      expect(await statusOf(owner, agent)).toMatchObject({ status: "certified", paused_reason: null });
      expect(await paidBy(service, agent)).toEqual({ certification: RUNS, user: GROWTH });
      expect(await usedByOwner()).toBe(MONTHLY - left + GROWTH);
    },
  );

  it("runs nothing beyond what it brings in a workspace that the owner's plan no longer includes, and says so", async () => {
    await service.sql("update users set plan = 'team' where id = $1", [owner.id]);
    const team = await addTeam(service, owner);
    const { agent, pay } = await open({ team_id: team });
    await service.sql("update users set plan = 'free' where id = $1", [owner.id]);
    await grow();
    await pay();
    await service.settled();
    const paused = await statusOf(owner, agent);
    expect([paused.status, paused.paused_reason]).toEqual([
      "paused_quota",
      expect.stringMatching(/^quota: .*does not include this workspace.*upgrade.*hand it over/),
    ]);
    expect([await paidBy(service, agent), paused.progress.finished]).toEqual([{ certification: RUNS }, RUNS]);
    await minuteAt(renewal);
    expect((await statusOf(owner, agent)).paused_reason).toBe(paused.paused_reason);
    await service.sql("update users set plan = 'team' where id = $1", [owner.id]);
    await minuteAt(clock + 1000);
    expect(await statusOf(owner, agent)).toMatchObject({ status: "certified", paused_reason: null });
    expect(await paidBy(service, agent)).toEqual({ certification: RUNS, team: GROWTH });
  });

  it("is no way around the month, though two are paid at once and told of many times", async () => {
    const both = [await open(), await open()];
    await limitTo(GROWTH);
    await grow();
    await Promise.all(both.map(({ pay }) => pay()));
    await service.settled();
    await service.sql("delete from provider_events");
    const events = service.stripe.events.filter(({ type }) => type === "checkout.session.completed").slice(-2);
    await Promise.all(range(10).map(() => deliverAll(service, events)));
    await minuteAt(clock, 5);
    expect(await usedByOwner()).toBe(MONTHLY);
    const paid = await Promise.all(both.map(({ agent }) => paidBy(service, agent)));
    expect(paid.map(({ certification }) => certification)).toEqual([RUNS, RUNS]);
    expect(paid.reduce((sum, { user = 0 }) => sum + user, 0)).toBe(GROWTH);
  });

  it("pays again for what failed by our fault, and the month for what it paid, also while the rest waits", async () => {
    const { agent, pay } = await open();
    await limitTo(5);
    await grow();
    await held(pay);
    await service.sql(
      `update runs set status = case when repeat_index = 1 then 'failed' else 'completed' end,
         failure_code = case when repeat_index = 1 then 'service_error' end, passed = repeat_index > 1,
         correctness = 1, evidence_cost_usd = 0 where agent_id = $1`,
      [agent],
    );
    // What the end of such a run gives back to the month.
    await service.sql("update allowances set used = used - 1 where owner = $1", [owner.id]);
    await minuteAt(clock + 1000, 3);
    expect((await statusOf(owner, agent)).status).toBe("paused_quota");
    expect(await paidBy(service, agent)).toEqual({ certification: RUNS + 2, user: 5 + 1 });
    expect(await usedByOwner()).toBe(MONTHLY);
  });

  it("lets a larger plan go on at once, and leaves out what was retired meanwhile", async () => {
    const { agent, pay } = await open();
    await limitTo(0);
    await grow(2);
    await pay();
    await service.settled();
    await service.sql("update tasks set is_active = false where id = $1", [added[1]]);
    await service.sql("update users set plan = 'pro' where id = $1", [owner.id]);
    await minuteAt(clock + 1000);
    expect(await statusOf(owner, agent)).toMatchObject({
      status: "certified",
      progress: { total: RUNS + 5, finished: RUNS + 5 },
    });
  });

  it("is judged by what was run where all that is left is retired", async () => {
    const { agent, pay } = await open();
    await limitTo(0);
    await grow(1);
    await pay();
    await service.settled();
    expect((await statusOf(owner, agent)).status).toBe("paused_quota");
    // What the core suite grew by comes before the secret one, which is what waits.
    await service.sql("update tasks set is_active = false where id = $1", [last]);
    await minuteAt(renewal);
    await service.sql("update tasks set is_active = true where id = $1", [last]);
    expect(await statusOf(owner, agent)).toMatchObject({
      status: "certified",
      progress: { total: RUNS, finished: RUNS },
    });
  });

  it("is not spent on an agent that can't be called: it waits", async () => {
    const { agent, pay } = await open();
    await limitTo(0);
    await service.sql("update agents set is_active = false where id = $1", [agent]);
    await pay();
    await minuteAt(clock + 1000);
    expect(await statusOf(owner, agent)).toMatchObject({
      status: "paused_quota",
      paused_reason: expect.stringContaining("can't be called"),
      progress: { total: RUNS, finished: 0 },
    });
    await service.sql("update agents set is_active = true where id = $1", [agent]);
    await minuteAt(clock + 2000);
    expect([(await statusOf(owner, agent)).status, await paidBy(service, agent), await usedByOwner()]).toEqual([
      "certified",
      { certification: RUNS },
      MONTHLY,
    ]);
  });

  it("is not spent on an agent that is switched off on the way: nothing is held against it, and it goes on later", async () => {
    const { agent, pay } = await open();
    const switched = (is_active: boolean) => owner.call("PATCH", `/api/v1/agents/${agent}`, { is_active });
    const { answer } = endpoint;
    let calls = 0;
    endpoint.answer = async (request) => {
      calls += 1;
      if (calls === 1) expect((await switched(false)).status).toBe(200);
      return answer(request);
    };
    await pay();
    await minuteAt(clock + 1000);
    const { status, paused_reason, progress } = await statusOf(owner, agent);
    expect([status, paused_reason]).toEqual(["paused_quota", expect.stringContaining("can't be called")]);
    expect(progress).toMatchObject({ finished: calls, passed: calls });
    expect((await switched(true)).status).toBe(200);
    await minuteAt(clock + 2000);
    expect((await statusOf(owner, agent)).status).toBe("certified");
    endpoint.answer = answer;
  });

  it("brings its runs to those, too, that were open before it did", async () => {
    const [waiting, paused] = [await open(), await open()];
    await limitTo(0);
    await grow(1);
    await paused.pay();
    await service.settled();
    expect((await statusOf(owner, paused.agent)).status).toBe("paused_quota");
    await service.sql(
      "update certifications set runs_included = 0 where status in ('awaiting_payment', 'paused_quota')",
    );
    const [file] = readdirSync("migrations").filter((name) => name.endsWith("_certification_allowance.sql"));
    await service.sql(readFileSync(`migrations/${file}`, "utf8").split("--> statement-breakpoint").at(-1) ?? "");
    await waiting.pay();
    await minuteAt(clock + 1000);
    for (const { agent } of [waiting, paused])
      expect([(await statusOf(owner, agent)).status, await paidBy(service, agent)]).toEqual([
        "certified",
        { certification: RUNS + 5 },
      ]);
  });
});
