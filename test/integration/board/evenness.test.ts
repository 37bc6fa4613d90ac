import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { evenness } from "../../../shared/scoring/evenness.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, startAgent, type TestSuite } from "../runs/support.ts";

let service: TestService;
let owner: User;
let anybody: Caller;
let endpoint: Consumer;
let core: TestSuite;
let [coding, agent] = [[""], ""];

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "enterprise" });
  anybody = caller(service);
  endpoint = await startAgent();
  await service.sql("update tasks set is_active = false");
  const math = await addSuite(service, 5, { slug: "core" });
  coding = (await addSuite(service, 3, { slug: "core", columns: { domain: "coding" } })).tasks;
  core = { id: math.id, tasks: [...math.tasks, ...coding] };
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

// Each test has an agent that was screened for two rounds.
beforeEach(async () => {
  agent = await addAgent(owner, { endpoint: endpoint.url });
  await screen({ suite_id: core.id, repeats: 2 });
});

async function screen(fields: object): Promise<void> {
  const batch = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, ...fields });
  expect(batch.status, batch.text).toBe(200);
  await service.settled();
}

/** What the agent's row on a board says of how often it was asked, which is what all that was asked makes of it. */
async function shown(query = "") {
  const { body } = await anybody.call("GET", `/api/v1/leaderboard?page_size=100${query}`);
  const row = body.items.find((item: { agent_id: string }) => item.agent_id === agent);
  return [row.asked_runs, row.uneven];
}

describe("a ranked row", () => {
  it("tells how many runs were asked, those that are no longer scored among them", async () => {
    expect(await shown()).toEqual([16, false]);
    await screen({ suite_id: core.id, repeats: 10 });
    await screen({ suite_id: core.id, repeats: 1 });
    expect(await shown()).toEqual([104, false]);
  });

  it("is uneven as long as some tasks were asked more often, on each board by its own tasks", async () => {
    await screen({ task_ids: coding.slice(0, 1) });
    expect(await shown()).toEqual([17, false]);
    await screen({ task_ids: coding.slice(0, 1) });
    expect(await shown()).toEqual([18, true]);
    expect(await shown("&domain=coding")).toEqual([8, true]);
    expect(await shown("&domain=math")).toEqual([10, false]);
    expect(evenness([2, 2, 2, 2, 2, 2, 2, 4])).toEqual({ asked_runs: 18, uneven: true });
    await screen({ task_ids: core.tasks.filter((task) => task !== coding[0]), repeats: 2 });
    expect(await shown()).toEqual([32, false]);
  });

  it("leaves out what counts nowhere: private runs, runs that were cancelled, and those that failed by our fault", async () => {
    await screen({ task_ids: coding, repeats: 3, private: true });
    const [cancelled, ours] = [
      await addRun(owner, agent, coding[0] ?? ""),
      await addRun(owner, agent, coding[0] ?? ""),
    ];
    await service.sql(
      "update runs set status = 'cancelled', suite_version = null, finalized_at = now() where id = $1",
      [cancelled],
    );
    await service.sql(
      "update runs set status = 'failed', failure_code = 'service_error', suite_version = null, finalized_at = now() where id = $1",
      [ours],
    );
    await service.settled();
    await screen({ task_ids: coding.slice(1, 2) });
    expect(await shown()).toEqual([17, false]);
  });

  it("begins to count anew with each version of the suite", async () => {
    await screen({ task_ids: coding, repeats: 3 });
    expect(await shown()).toEqual([25, true]);
    await service.sql("update tasks set suite_version = suite_version + 1 where suite_id = $1", [core.id]);
    await screen({ suite_id: core.id });
    expect(await shown()).toEqual([8, false]);
  });

  it("has neither until it is ranked", async () => {
    agent = await addAgent(owner, { endpoint: endpoint.url });
    await screen({ task_ids: coding, repeats: 4 });
    expect(await shown()).toEqual([null, false]);
    expect(await shown("&domain=coding")).toEqual([12, false]);
  });
});

describe("where a score is passed on, it says what qualifies it", () => {
  /** What the badge, the picture and the listing for hire of the agent say beside its score. */
  async function said() {
    const [listing] = await service.sql<{ id: string }>("select id from listings where agent_id = $1", [agent]);
    const sayings: [path: string, words: RegExp][] = [
      [`/api/v1/agents/${agent}/badge.svg`, /<title>agent screening: (.*?) [\d.]+<\/title>/],
      [`/agents/${agent}/picture.svg`, /[\d.]+ to [\d.]+, (.*?)<\/text>/],
      [`/marketplace/${listing?.id}`, /score [\d.]+ \([\d.]+ to [\d.]+\), ([\w, ]*)/],
    ];
    return Promise.all(sayings.map(async ([path, words]) => words.exec((await newcomer.call("GET", path)).text)?.[1]));
  }
  let newcomer: Caller;

  beforeEach(async () => {
    // To others an isolate may show for some seconds what was there before.
    newcomer = await newUser(service);
    await service.sql("update users set charges_enabled = true where id = $1", [owner.id]);
    await service.sql(
      "insert into seller_accounts (user_id, account_id) values ($1, 'acct_1') on conflict do nothing",
      [owner.id],
    );
    await service.sql("insert into listings (agent_id, seller_id, title, price_usd) values ($1, $2, 'For hire', 10)", [
      agent,
      owner.id,
    ]);
  });

  it("nothing of one that was asked evenly", async () => {
    expect(await said()).toEqual(["verified", "verified", "core"]);
  });

  it("that it was asked unevenly", async () => {
    await screen({ task_ids: coding.slice(0, 1), repeats: 5 });
    expect(await said()).toEqual(["verified, uneven", "verified, uneven", "core, uneven"]);
    expect((await newcomer.call("GET", `/api/v1/agents/${agent}`)).body).toMatchObject({ uneven: true });
  });

  it("that it knows the samples by heart", async () => {
    await service.sql(
      `insert into memorisation_gaps (agent_id, gap, variance, lowest, highest, tasks, canary_runs)
       values ($1, 0.9, 0.001, 0.8, 1, 8, 40)`,
      [agent],
    );
    expect(await said()).toEqual(["verified, memorised", "verified, memorised", "core, memorised"]);
  });
});
