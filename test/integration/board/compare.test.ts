import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { holm } from "../../../shared/scoring/holm.ts";
import { mcnemarExact } from "../../../shared/scoring/mcnemar.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, type TestSuite } from "../runs/support.ts";

const NOBODYS = "01938e7a-0000-7000-8000-000000000009";

let service: TestService;
let owner: User;
let anonymous: Caller;
let maths: TestSuite;
let coding: TestSuite;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "enterprise" });
  anonymous = caller(service);
  maths = await addSuite(service, 8);
  coding = await addSuite(service, 4, { columns: { domain: "coding" } });
});

afterAll(() => service.stop());

type Cell = [task: string | undefined, n: number, c: number];

/** Scored runs of an agent as its cells sum them up: of `n` runs `c` passed. */
async function score(
  agent: string,
  cells: Cell[],
  columns: { period?: string; simulated?: boolean } = {},
): Promise<void> {
  const { period = "all", simulated = false } = columns;
  for (const [task, n, c] of cells) {
    await service.sql(
      `insert into task_scores (agent_id, task_id, period, simulated, n, c, success, reliability, cost_efficiency, correctness,
         robustness, last_run_at) values ($1, $2, $3, $4, $5, $6, 0, 0, 0, 0, 0, now())`,
      [agent, task, period, simulated, n, c],
    );
  }
}

const compare = (who: Caller, a: string, b: string, more = "") =>
  who.call("GET", `/api/v1/agents/compare?a=${a}&b=${b}${more}`);

describe("a comparison", () => {
  let a: string;
  let b: string;
  beforeAll(async () => {
    [a, b] = [await addAgent(owner, { name: "Alpha" }), await addAgent(owner, { name: "Beta" })];
    const all = (suite: TestSuite, passes: number[]) =>
      suite.tasks.map((task, index): Cell => [task, 10, passes[index] ?? 0]);
    await score(a, [...all(maths, [10, 10, 9, 8, 8, 2, 6, 5]), ...all(coding, [0, 0, 10, 10])]);
    await score(b, [...all(maths, [1, 2, 3, 0, 5, 9, 6, 5]), ...all(coding, [10, 10, 0]).slice(0, 3)]);
    // What is no scored real run of all times plays no part.
    await score(b, [[coding.tasks[3], 10, 10]], { simulated: true });
    await score(b, [[coding.tasks[3], 10, 10]], { period: "30d" });
  });

  it("is over the tasks that both were scored at: wins, losses, ties, p-value, difference with interval", async () => {
    await service.settled();
    service.counters.reset();
    const { status, body } = await compare(anonymous, a, b);
    expect(service.counters.snapshot().db.requests).toBe(1);
    expect([status, body]).toEqual([
      200,
      {
        a: { agent_id: a, name: "Alpha", success_rate: expect.closeTo(6.8 / 11, 12), memorised: false, uneven: false },
        b: { agent_id: b, name: "Beta", success_rate: expect.closeTo(5.1 / 11, 12), memorised: false, uneven: false },
        tasks: 11,
        wins: 6,
        losses: 3,
        ties: 2,
        mcnemar_p_value: mcnemarExact(6, 3),
        difference: expect.closeTo(1.7 / 11, 12),
        difference_low: expect.any(Number),
        difference_high: expect.any(Number),
      },
    ]);
    expect(body.difference_low).toBeLessThan(0);
    expect(body.difference_high).toBeGreaterThan(0.5);
  });

  it("turns about when the agents change places", async () => {
    const [one, other] = [(await compare(anonymous, a, b)).body, (await compare(anonymous, b, a)).body];
    expect(other).toMatchObject({ wins: one.losses, losses: one.wins, mcnemar_p_value: one.mcnemar_p_value });
    expect(other.difference).toBeCloseTo(-one.difference, 12);
    expect(other.difference_low).toBeCloseTo(-one.difference_high, 12);
  });

  it.each([
    ["math", { tasks: 8, wins: 5, losses: 1, ties: 2 }],
    ["coding", { tasks: 3, wins: 1, losses: 2, ties: 0 }],
    ["safety", { tasks: 0, wins: 0, losses: 0, mcnemar_p_value: 1, difference: null, difference_low: -1 }],
  ])("can be narrowed to the domain %s", async (domain, expected) => {
    expect((await compare(anonymous, a, b, `&domain=${domain}`)).body).toMatchObject(expected);
  });

  it.each([
    ["the same agent twice", () => `a=${a}&b=${a}`, "not_unique"],
    ["the same agent in another case", () => `a=${a}&b=${a.toUpperCase()}`, "not_unique"],
    ["one agent alone", () => `a=${a}`, "missing_field"],
    ["something that is no id", () => `a=${a}&b=beta`, "invalid_format"],
    ["an unknown domain", () => `a=${a}&b=${b}&domain=chess`, "invalid_value"],
  ])("of %s is refused", async (_what, query, code) => {
    const answer = await anonymous.call("GET", `/api/v1/agents/compare?${query()}`);
    expect(answer).toMatchObject({ status: 422, body: { code: "validation_failed", errors: [{ in: "query", code }] } });
  });

  it("with an agent that the caller does not see is one with nobody's", async () => {
    const hidden = await addAgent(owner, { is_public: false });
    const plain = ({ status, text }: { status: number; text: string }) => [
      status,
      text.replace(/"request_id":"[^"]+"/, ""),
    ];
    for (const pair of [
      [a, hidden],
      [hidden, b],
    ] as const) {
      const nobodys = pair.map((id) => (id === hidden ? NOBODYS : id)) as [string, string];
      expect(plain(await compare(anonymous, ...pair))).toEqual(plain(await compare(anonymous, ...nobodys)));
      expect((await compare(anonymous, ...pair)).status).toBe(404);
      expect((await compare(owner, ...pair)).status).toBe(200);
    }
  });

  it("that was kept is not shown once an agent has become private", async () => {
    const fresh = await addAgent(owner);
    expect((await compare(anonymous, a, fresh)).status).toBe(200);
    await owner.call("PATCH", `/api/v1/agents/${fresh}`, { is_public: false });
    expect((await compare(anonymous, a, fresh)).status).toBe(404);
  });
});

describe("a comparison of several agents", () => {
  const compareAll = (who: Caller, ids: readonly string[], more = "") =>
    who.call("GET", `/api/v1/agents/compare?agent_ids=${ids.join(",")}${more}`);
  const agents: string[] = [];
  /** Of the eight maths tasks the first so many are passed in all runs, the others in none. */
  const passes = [8, 2, 1];
  beforeAll(async () => {
    for (const [index, count] of passes.entries()) {
      const agent = await addAgent(owner, { name: `One of ${index}` });
      agents.push(agent);
      const cells = maths.tasks.map((task, at): Cell => [task, 10, at < count ? 10 : 0]);
      // The last agent was never asked the last task; its own coding tasks are nobody else's.
      await score(agent, index < 2 ? cells : [...cells.slice(0, 7), [coding.tasks[0], 10, 10]]);
    }
  });

  it("is one of each with each, in one statement: the pairs are those of two, their p-values corrected by Holm", async () => {
    await service.settled();
    service.counters.reset();
    const { status, body } = await compareAll(anonymous, agents);
    expect(service.counters.snapshot().db.requests).toBe(1);
    expect([status, body.agents, body.tasks]).toEqual([
      200,
      agents.map((agent_id, index) => ({
        agent_id,
        name: `One of ${index}`,
        success_rate: expect.closeTo(Math.min(7, passes[index] ?? 0) / 7, 12),
        memorised: false,
        uneven: false,
      })),
      7,
    ]);
    const pairs: object[] = [];
    for (const [one, other] of [
      [0, 1],
      [0, 2],
      [1, 2],
    ] as const) {
      const [a, b] = [agents[one] ?? "", agents[other] ?? ""];
      const { body: two } = await compare(anonymous, a, b);
      const { tasks, difference, difference_low: low, difference_high: high, mcnemar_p_value: p_value } = two;
      pairs.push({ a, b, tasks, difference, low, high, p_value });
    }
    const p = [mcnemarExact(6, 0), mcnemarExact(6, 0), mcnemarExact(1, 0)];
    const adjusted = holm(p);
    expect(body.pairs).toEqual(pairs.map((pair, index) => ({ ...pair, p_adjusted: adjusted[index] })));
    expect(body.pairs).toMatchObject(p.map((p_value) => ({ p_value })));
    expect(adjusted).toEqual([3 / 32, 3 / 32, 1].map((value) => expect.closeTo(value, 12)));
  });

  it("takes two in this form too, ten at most, and can be narrowed to a domain", async () => {
    const { body } = await compareAll(anonymous, agents.slice(1), "&domain=coding");
    expect(body).toMatchObject({ tasks: 0, agents: [{ success_rate: null }, { success_rate: null }] });
    expect(body.pairs).toMatchObject([{ tasks: 0, difference: null, low: -1, high: 1, p_value: 1, p_adjusted: 1 }]);
    const ten = [...agents];
    while (ten.length < 10) ten.push(await addAgent(owner));
    const { status, body: all } = await compareAll(anonymous, ten);
    expect([status, all.agents.length, all.pairs.length]).toEqual([200, 10, 45]);
    expect((await compareAll(anonymous, [...ten, await addAgent(owner)])).body).toMatchObject({
      status: 422,
      errors: [{ pointer: "/agent_ids", code: "too_big" }],
    });
  });

  it.each([
    ["one agent", () => `agent_ids=${agents[0]}`, "validation_failed", "too_small"],
    ["an agent twice", () => `agent_ids=${agents[0]},${agents[0]?.toUpperCase()}`, "validation_failed", "not_unique"],
    ["something that is no id", () => `agent_ids=${agents[0]},beta`, "validation_failed", "invalid_format"],
    ["both forms", () => `agent_ids=${agents.join()}&b=${agents[0]}`, "conflicting_parameters", undefined],
    ["nothing", () => "", "validation_failed", "missing_field"],
  ])("of %s is refused", async (_what, query, code, finding) => {
    const answer = await anonymous.call("GET", `/api/v1/agents/compare?${query()}`);
    expect(answer).toMatchObject({ status: 422, body: { code } });
    expect(answer.body.errors[0]).toMatchObject({ in: "query", code: finding ?? code });
  });

  it("is 404 for whom one of them is hidden from, like one with nobody's", async () => {
    const hidden = await addAgent(owner, { is_public: false });
    for (const id of [hidden, NOBODYS]) expect((await compareAll(anonymous, [...agents, id])).status).toBe(404);
    expect((await compareAll(owner, [...agents, hidden])).status).toBe(200);
  });
});

describe("the estimate of repeats in preflight", () => {
  const preflight = (who: Caller, query: string) => who.call("GET", `/api/v1/runs/preflight${query}`);

  it("is null unless a width is asked for", async () => {
    expect((await preflight(anonymous, "")).body.repeats_estimate).toBeNull();
  });

  it("without an agent goes by tosses of a coin over the active tasks", async () => {
    const { active_tasks: active, repeats_estimate: estimate } = (await preflight(anonymous, "?width=0.1")).body;
    expect(estimate).toEqual({
      width: 0.1,
      basis: "coin_toss",
      tasks: Math.min(active, 100),
      repeats: expect.any(Number),
      variance_within: 0.25,
      variance_between: 0,
      narrowest_width: 0,
    });
  });

  it("goes by the agent's own record: what its tasks differ by no repeat makes smaller", async () => {
    const [steady, torn, untried] = [await addAgent(owner), await addAgent(owner), await addAgent(owner)];
    await score(
      steady,
      maths.tasks.map((task): Cell => [task, 10, 5]),
    );
    await score(
      torn,
      maths.tasks.map((task, index): Cell => [task, 10, index % 2 === 0 ? 10 : 0]),
    );
    const of = async (agent: string, width: number) =>
      (await preflight(anonymous, `?width=${width}&agent_id=${agent}`)).body.repeats_estimate;
    // t = 2.3646 for 7 degrees of freedom, W = 36 / 156: 4 t² W / 8 = 0.6451 over 0.04.
    expect(await of(steady, 0.2)).toEqual({
      width: 0.2,
      basis: "agent",
      tasks: 8,
      repeats: 17,
      variance_within: expect.closeTo(36 / 156),
      variance_between: 0,
      narrowest_width: 0,
    });
    expect(await of(torn, 0.2)).toMatchObject({ basis: "agent", repeats: null });
    expect((await of(torn, 0.2)).narrowest_width).toBeGreaterThan(0.8);
    expect(await of(untried, 0.2)).toMatchObject({ basis: "coin_toss" });
  });

  it("is by one statement, and always by the record of now", async () => {
    const agent = await addAgent(owner);
    const query = `?width=0.2&agent_id=${agent}`;
    for (const repeats of [17, 5]) {
      await service.sql("delete from task_scores where agent_id = $1", [agent]);
      await score(
        agent,
        maths.tasks.map((task): Cell => [task, 10, repeats === 17 ? 5 : 10]),
      );
      await service.settled();
      service.counters.reset();
      expect((await preflight(anonymous, query)).body.repeats_estimate.repeats).toBe(repeats);
      expect(service.counters.snapshot().db.requests).toBe(1);
    }
    await owner.call("PATCH", `/api/v1/agents/${agent}`, { is_public: false });
    expect((await preflight(anonymous, query)).status).toBe(404);
    expect((await preflight(owner, query)).status).toBe(200);
    expect((await preflight(anonymous, `?width=0.2&agent_id=${NOBODYS}`)).status).toBe(404);
  });

  it.each([
    ["?width=0", "too_small"],
    ["?width=0.6", "too_big"],
    ["?width=wide", "invalid_type"],
    ["?width=0.1&agent_id=x", "invalid_format"],
    [`?agent_id=${NOBODYS}`, "missing_field"],
  ])("%s is refused with %s", async (query, code) => {
    expect(await preflight(anonymous, query)).toMatchObject({ status: 422, body: { errors: [{ in: "query", code }] } });
  });
});
