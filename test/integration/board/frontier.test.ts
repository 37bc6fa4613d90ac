import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { type Handler, json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, KEY, startAgent, type TestSuite } from "../runs/support.ts";

let service: TestService;
let owner: User;
let anonymous: Caller;
let endpoint: Consumer;
let suite: TestSuite;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "enterprise" });
  anonymous = caller(service);
  endpoint = await startAgent();
  suite = await addSuite(service, 2);
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

/** An agent that passes or not as its turns say, one after the other, each at a price. */
function plays(turns: boolean[], price: number | null, model: string): Handler {
  const left = [...turns];
  const calls = price === null ? [] : [{ model, input_tokens: 1, output_tokens: 1, cost_usd: price }];
  return () => json(200, { output: left.shift() === true ? KEY : "wrong", usage: { calls } });
}

interface Options {
  model?: string;
  private?: boolean;
}

/** Screens an agent over single tasks, one run at a time. */
async function screen(agent: string, task: string, turns: boolean[], price: number | null, options: Options = {}) {
  const { model = "m", ...fields } = options;
  endpoint.answer = plays(turns, price, model);
  const body = { agent_id: agent, task_ids: [task], repeats: turns.length, ...fields };
  const answer = await owner.call("POST", "/api/v1/runs/batch", body);
  expect(answer.status, answer.text).toBe(200);
  await service.settled();
}

const live = (fields: object = {}) => addAgent(owner, { endpoint: endpoint.url, ...fields });
const read = async (agent: string, who: Caller = anonymous) =>
  (await who.call("GET", `/api/v1/agents/${agent}/frontier`)).body;

interface Member {
  agent_id: string;
  provenance: string;
  on_frontier: boolean;
}

/** The members on the frontier by real runs. */
const front = (members: Member[]) =>
  members.filter((one) => one.on_frontier && one.provenance === "real").map(({ agent_id }) => agent_id);
const passes = (passed: number, of: number) => Array.from({ length: of }, (_none, index) => index < passed);

describe("the frontier", () => {
  it("gives rates, pass^k and costs as means over tasks, of counted runs alone", async () => {
    const agent = await live();
    const [one = "", two = ""] = suite.tasks;
    await screen(agent, one, passes(3, 5), 0.004, { model: "often" });
    await screen(agent, two, passes(2, 2), 0.001, { model: "less" });
    await screen(agent, two, passes(0, 1), 9, { model: "hidden", private: true });
    const { members, root_id } = await read(agent);
    expect(root_id).toBe(agent);
    expect(members).toEqual([
      {
        agent_id: agent,
        name: expect.any(String),
        is_root: true,
        is_hired: false,
        pass_rate: 0.8,
        // Task one: 3/5, C(3,2)/C(5,2) = 3/10, C(3,3)/C(5,3) = 1/10, 0; task two: 1, 1 and too few runs.
        pass_k: { "1": 0.8, "2": 0.65, "3": 0.1, "5": 0 },
        mean_cost_per_task_usd: 0.0025,
        priced_runs: 7,
        provenance: "real",
        model: "often",
        runs: 7,
        on_frontier: true,
      },
    ]);
    expect(await read(agent, owner)).toEqual({ root_id, is_capped: false, members });
  });

  it("looks at the last ten runs of a task, at its current suite version", async () => {
    const { tasks } = await addSuite(service, 1);
    const [task = ""] = tasks;
    const agent = await live();
    await screen(agent, task, passes(0, 3), 0.001);
    await screen(agent, task, passes(9, 9), 0.001);
    expect((await read(agent)).members[0]).toMatchObject({ runs: 10, pass_rate: 0.9 });
    await service.sql("update tasks set suite_version = 2 where id = $1", [task]);
    expect((await read(agent)).members[0]).toMatchObject({ runs: 0, pass_rate: null, provenance: "none" });
  });

  it("marks the members that none beats in pass rate and cost, ties together, and none without a price", async () => {
    const { tasks } = await addSuite(service, 1);
    const [task = ""] = tasks;
    const root = await live();
    const variant = (fields: object = {}) => live({ variant_of: root, ...fields });
    const [same, cheap, dear, weak, unpriced, idle] = [
      await variant(),
      await variant(),
      await variant(),
      await variant(),
      await variant(),
      await variant(),
    ];
    const mock = await addAgent(owner, { variant_of: root });
    for (const [agent, turns, price] of [
      [root, passes(2, 2), 0.002],
      [same, passes(2, 2), 0.002],
      [cheap, passes(1, 2), 0.001],
      [dear, passes(2, 2), 0.003],
      [weak, passes(0, 2), 0.001],
      [unpriced, passes(2, 2), null],
    ] as const) {
      await screen(agent, task, [...turns], price);
    }
    expect(front((await read(cheap)).members)).toEqual([root, same, cheap]);

    // What a simulated run costs is drawn, so who is beaten by the simulated member can't be said.
    await screen(mock, task, passes(1, 1), null);
    const { members } = await read(cheap);
    const by = new Map<string, Member>(members.map((member: Member) => [member.agent_id, member]));
    expect([...by.keys()]).toEqual([root, same, cheap, dear, weak, unpriced, idle, mock]);
    expect(by.get(unpriced)).toMatchObject({ pass_rate: 1, mean_cost_per_task_usd: null, on_frontier: false });
    expect(by.get(mock)).toMatchObject({ provenance: "simulated", runs: 1 });
    expect(by.get(idle)).toEqual({
      agent_id: idle,
      name: expect.any(String),
      is_root: false,
      is_hired: false,
      pass_rate: null,
      pass_k: { "1": null, "2": null, "3": null, "5": null },
      mean_cost_per_task_usd: null,
      priced_runs: 0,
      provenance: "none",
      model: null,
      runs: 0,
      on_frontier: false,
    });

    // A private member that beats them all is on the owner's frontier alone.
    const best = await variant({ is_public: false });
    await screen(best, task, passes(2, 2), 0.0001);
    expect((await read(cheap)).members).toEqual(members);
    expect(front((await read(cheap, owner)).members)).toEqual([best]);
  });

  it("says of how many runs a cost is known: one that prices its cheapest alone looks cheap", async () => {
    const { tasks } = await addSuite(service, 1);
    const [task = ""] = tasks;
    const root = await live({ name: "Prices all" });
    const picky = await live({ name: "Prices one", variant_of: root });
    await screen(root, task, passes(4, 4), 0.02);
    await screen(picky, task, passes(3, 3), null);
    await screen(picky, task, passes(1, 1), 0.0001);
    const { members } = await read(root);
    expect(members).toMatchObject([
      { agent_id: root, mean_cost_per_task_usd: 0.02, runs: 4, priced_runs: 4 },
      { agent_id: picky, mean_cost_per_task_usd: 0.0001, runs: 4, priced_runs: 1 },
    ]);
    const query = `{ frontier(agentId: "${root}") { members { pricedRuns } } }`;
    const { body } = await anonymous.call("POST", "/graphql", { query });
    expect(body.data.frontier.members).toEqual([{ pricedRuns: 4 }, { pricedRuns: 1 }]);
    const page = (await anonymous.call("GET", `/agents/${root}`)).text;
    expect(page).toContain("0.000100 USD, of 1 of 4 runs");
    expect(page).toContain(">0.020000 USD</td>");
  });

  it("says which member is a copy that was bought, and may have been made anything of", async () => {
    const root = await live();
    const variant = await live({ variant_of: root });
    const buyer = await newUser(service);
    const copy = await addAgent(buyer, { endpoint: endpoint.url });
    await service.sql("update agents set variant_of = $1 where id = $2", [root, copy]);
    // Another account's, as after a transfer: which is bought, the purchase says alone.
    await service.sql("update agents set user_id = $1 where id = $2", [buyer.id, variant]);
    await service.sql(
      `insert into purchases (listing_id, agent_id, buyer_id, agent_name, status, price_usd, fee_usd, hired_agent_id)
       values (gen_random_uuid(), $1, $2, 'Copy', 'COMPLETED', 1, 0, $3)`,
      [root, buyer.id, copy],
    );
    const { members } = await read(root);
    expect(members.map((one: { agent_id: string; is_hired: boolean }) => [one.agent_id, one.is_hired])).toEqual([
      [root, false],
      [variant, false],
      [copy, true],
    ]);
    expect((await anonymous.call("GET", `/agents/${root}`)).text.match(/a copy that was bought/g)).toHaveLength(1);
  });

  it("of a public variant leaves its private root out", async () => {
    const root = await live({ is_public: false });
    const variant = await live({ variant_of: root });
    const shown = await read(variant);
    expect([shown.root_id, shown.members.length]).toEqual([root, 1]);
    expect(shown.members[0]).toMatchObject({ agent_id: variant, is_root: false });
    expect((await read(root)).code).toBe("not_found");
    expect((await read(variant, owner)).members[0]).toMatchObject({ agent_id: root, is_root: true });
  });
});
