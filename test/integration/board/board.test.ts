import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { type Handler, json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, answersRightly, KEY, startAgent, type TestSuite } from "../runs/support.ts";

const DAY_MS = 86_400_000;

let service: TestService;
let email: string;
let owner: User;
let anonymous: Caller;
let endpoint: Consumer;
let core: TestSuite;
let math: string[];
let coding: string[];
let time = Date.now();

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(time) } });
  owner = await newUser(service, { plan: "enterprise" });
  email = owner.email;
  anonymous = caller(service);
  endpoint = await startAgent();
  // A core suite of four easy tasks stands in for the shipped one.
  await service.sql("update tasks set is_active = false where suite_id = (select id from suites where slug = 'core')");
  const first = await addSuite(service, 2, { slug: "core" });
  const second = await addSuite(service, 2, { slug: "core", columns: { domain: "coding" } });
  [math, coding] = [first.tasks, second.tasks];
  core = { id: first.id, tasks: [...math, ...coding] };
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

// Each test has the board for itself.
beforeEach(async () => {
  await service.sql("update agents set is_public = false");
  endpoint.answer = answersRightly;
});

/** Screens an agent over these tasks with this answer, to the end. */
async function screen(agent: string, task_ids: string[], answer: Handler = answersRightly, fields: object = {}) {
  endpoint.answer = answer;
  const batch = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, task_ids, ...fields });
  expect(batch.status, batch.text).toBe(200);
  await service.settled();
}

/** A later day, on which the daily work was done; the owner signs in anew. */
async function later(days: number): Promise<void> {
  time += days * DAY_MS;
  await service.app.scheduled(DAILY);
  const { body } = await anonymous.call("POST", "/api/v1/auth/login", { email, password: PASSWORD });
  owner = { ...owner, ...caller(service, { authorization: `Bearer ${body.access_token}` }) };
}

const board = async (query = "") => (await anonymous.call("GET", `/api/v1/leaderboard?page_size=100${query}`)).body;
const order = async (query = "") => (await board(query)).items.map((row: { agent_id: string }) => row.agent_id);
const live = (fields: object = {}) => addAgent(owner, { endpoint: endpoint.url, ...fields });
const wrong: Handler = () => json(200, { output: "no" });
const unpriced: Handler = () => json(200, { output: KEY });

/** How many agents the last daily work found to differ. */
function differed(): number {
  const line = service.logs.findLast((entry) => entry.includes('"recomputed"')) ?? "{}";
  return (JSON.parse(line) as { differed: number }).differed;
}

describe("the board", () => {
  it("ranks agents that cover the core by composite, then runs, then id; others follow without a rank", async () => {
    const agents = await Promise.all(Array.from({ length: 8 }, live));
    const [best, bestToo, middle, worst, picky, half, often, mock] = agents as [
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    await service.sql("update agents set connection_mode = 'mock' where id = $1", [mock]);
    await screen(best, core.tasks);
    await screen(bestToo, core.tasks);
    await screen(middle, core.tasks, unpriced);
    await screen(worst, core.tasks, wrong);
    // Three easy tasks ten times each would be the best score of all.
    await screen(picky, core.tasks.slice(0, 3), answersRightly, { repeats: 10 });
    await screen(half, math, unpriced);
    await screen(often, core.tasks, wrong, { repeats: 2 });
    await screen(mock, core.tasks);
    const { items, total } = await board();
    const ties = [best, bestToo].toSorted();
    expect(items.map((row: { agent_id: string }) => row.agent_id)).toEqual([
      ...ties,
      middle,
      worst,
      often,
      picky,
      half,
      mock,
    ]);
    expect(items.map((row: { rank: number | null }) => row.rank)).toEqual([1, 2, 3, 4, 5, null, null, null]);
    expect(items.map((row: { score_basis: string }) => row.score_basis)).toEqual([
      ...Array.from({ length: 5 }, () => "core"),
      ...Array.from({ length: 3 }, () => "provisional"),
    ]);
    expect(items.map((row: { simulated: boolean }) => row.simulated)).toEqual([
      ...Array.from({ length: 7 }, () => false),
      true,
    ]);
    expect(total).toBe(8);
    expect(items[0]).toMatchObject({ runs: 4, tasks: 4, success_rate: 1, verified_state: "verified" });
  });

  it("shows with verified_only who has a signed real run, in rows and total", async () => {
    const [real, mock] = [await live(), await addAgent(owner)];
    await screen(real, core.tasks);
    await screen(mock, core.tasks);
    expect((await board()).total).toBe(2);
    const verified = await board("&verified_only=true");
    expect([verified.total, verified.items.map((row: { agent_id: string }) => row.agent_id)]).toEqual([1, [real]]);
  });

  it("shows with certified_only whose certification is in force, each at its place on the whole board", async () => {
    const agents: string[] = [];
    for (const name of ["First", "Second", "Third", "Fourth"]) {
      const agent = await live({ name });
      await screen(agent, name === "Fourth" ? math : core.tasks, name === "Third" ? wrong : answersRightly);
      agents.push(agent);
    }
    const places = async (query: string) => {
      const { items, total } = await board(query);
      return [total, ...items.map((row: { name: string; rank: number | null }) => `${row.rank} ${row.name}`)];
    };
    const whole = (await board()).items;
    expect(await places("&certified_only=true&period=7d")).toEqual([0]);
    await service.sql("update agents set verified_state = 'certified' where id = any($1)", [agents.slice(1)]);
    const [second, third] = ["Second", "Third"].map((name) => whole.find((row: { name: string }) => row.name === name));
    expect(await places("&certified_only=true")).toEqual([3, `${second.rank} Second`, "3 Third", "null Fourth"]);
    expect((await board("&certified_only=true")).items[1]).toMatchObject({
      rank_low: third.rank_low,
      rank_high: third.rank_high,
    });
    const last = await anonymous.call("GET", "/api/v1/leaderboard?certified_only=true&page=2&page_size=2");
    expect(last.body).toMatchObject({ total: 3, items: [{ name: "Fourth", rank: null }] });
    expect(await places("&certified_only=true&q=thi&verified_only=true")).toEqual([1, "3 Third"]);
    expect(await places("&certified_only=true&domain=coding")).toEqual([2, `${second.rank} Second`, "3 Third"]);
    await owner.call("PATCH", `/api/v1/agents/${agents[1]}`, { is_public: false });
    expect(await places("&certified_only=true")).toEqual([2, "2 Third", "null Fourth"]);
    const page = await anonymous.call("GET", "/?certified_only=true");
    expect(page.text).toContain("2 agents, 1 to 2");
    expect(page.text).toMatch(/aria-current="page"[^>]*>\s*certified only/);
    await screen(agents[3] ?? "", core.tasks);
    expect(await places("&certified_only=true")).toEqual([2, "1 Fourth", "3 Third"]);
    expect(await places("&certified_only=true&domain=coding&q=fourth")).toEqual([1, "2 Fourth"]);
    await service.sql("update agents set verified_state = 'verified' where id = $1", [agents[3]]);
    expect(await places("&certified_only=true&period=30d")).toEqual([1, "3 Third"]);
  });

  it("keeps ranks and total over its pages", async () => {
    const agents: string[] = [];
    for (let n = 0; n < 3; n++) {
      const agent = await live();
      await screen(agent, core.tasks, n === 2 ? wrong : answersRightly);
      agents.push(agent);
    }
    const { body } = await anonymous.call("GET", "/api/v1/leaderboard?page=2&page_size=2");
    expect(body).toMatchObject({ total: 3, page: 2, items: [{ rank: 3, agent_id: agents[2] }] });
  });

  it("leaves out private and switched-off agents, and takes them in again", async () => {
    const agent = await live();
    await screen(agent, core.tasks);
    for (const [off, on] of [
      [{ is_public: false }, { is_public: true }],
      [{ is_active: false }, { is_active: true }],
    ]) {
      await owner.call("PATCH", `/api/v1/agents/${agent}`, off);
      time += 11_000;
      expect(await board()).toMatchObject({ items: [], total: 0 });
      await owner.call("PATCH", `/api/v1/agents/${agent}`, on);
      time += 11_000;
      expect(await board()).toMatchObject({ items: [{ agent_id: agent }], total: 1 });
    }
  });

  it("of a domain ranks on the core tasks of that domain", async () => {
    const [mathematician, coder] = [await live(), await live()];
    await screen(mathematician, math);
    await screen(coder, coding);
    expect((await board("&domain=math")).items).toMatchObject([{ agent_id: mathematician, rank: 1, tasks: 2 }]);
    expect((await board("&domain=coding")).items).toMatchObject([{ agent_id: coder, rank: 1, score_basis: "core" }]);
    expect((await board()).items).toMatchObject([{ rank: null }, { rank: null }]);
    expect(await board("&domain=planning")).toMatchObject({ items: [], total: 0 });
  });

  it("takes an agent's real runs alone once it has one, and no trial", async () => {
    const agent = await addAgent(owner, { allow_trial: true });
    await screen(agent, core.tasks);
    expect((await board()).items).toMatchObject([{ simulated: true, runs: 4 }]);
    await owner.call("PATCH", `/api/v1/agents/${agent}`, { connection_mode: "http_endpoint", endpoint: endpoint.url });
    await screen(agent, [core.tasks[0] ?? ""]);
    expect((await board()).items).toMatchObject([{ simulated: false, runs: 1, tasks: 1 }]);
    await anonymous.call("POST", "/api/v1/runs", { agent_id: agent, task_id: core.tasks[1] });
    await service.settled();
    expect((await board()).items).toMatchObject([{ runs: 1, tasks: 1 }]);
  });

  it("scores the last ten runs of a task", async () => {
    const agent = await live();
    const task = [core.tasks[0] ?? ""];
    await screen(agent, task, wrong, { repeats: 10 });
    time += 1000;
    await screen(agent, task, answersRightly, { repeats: 10 });
    expect((await board()).items).toMatchObject([{ runs: 10, success_rate: 1 }]);
  });
});

describe("the boards of periods", () => {
  it("let runs go after 7 and 30 days, domain by domain; the daily work finds no other difference", async () => {
    const agent = await live();
    await screen(agent, math);
    await later(0);
    expect(differed()).toBe(0);
    await later(6);
    await screen(agent, coding);
    expect(await order("&period=7d&domain=math")).toEqual([agent]);

    await later(2);
    expect(await order("&period=7d&domain=math")).toEqual([]);
    expect((await board("&period=7d&domain=math")).total).toBe(0);
    expect((await board("&period=7d")).items).toMatchObject([{ agent_id: agent, tasks: 2, rank: null }]);
    expect((await board("&period=30d")).items).toMatchObject([{ agent_id: agent, tasks: 4, rank: 1 }]);

    await later(23);
    expect(await order("&period=7d")).toEqual([]);
    expect((await board("&period=30d")).items).toMatchObject([{ agent_id: agent, tasks: 2, rank: null }]);
    expect((await board()).items).toMatchObject([{ agent_id: agent, tasks: 4, rank: 1 }]);

    await later(7);
    expect(await order("&period=30d")).toEqual([]);
    expect(await order()).toEqual([agent]);
    await later(0);
    expect(differed()).toBe(0);
  });
});

describe("a task that gets a new suite version", () => {
  it("leaves the score until it is run again", async () => {
    const agent = await live();
    await screen(agent, core.tasks);
    await service.sql("update tasks set suite_version = suite_version + 1 where id = $1", [core.tasks[0]]);
    await later(0);
    expect((await board()).items).toMatchObject([{ agent_id: agent, tasks: 3, runs: 3, rank: null }]);
    await screen(agent, [core.tasks[0] ?? ""]);
    expect((await board()).items).toMatchObject([{ tasks: 4, runs: 4, rank: 1 }]);
    const versions = await service.sql(
      "select suite_version from runs where agent_id = $1 and task_id = $2 order by suite_version",
      [agent, core.tasks[0]],
    );
    expect(versions).toEqual([{ suite_version: 1 }, { suite_version: 2 }]);
  });

  it("leaves the score for good when it is retired, and the rest of the core still ranks", async () => {
    const agent = await live();
    await screen(agent, core.tasks.slice(0, 3));
    await service.sql("update tasks set is_active = false where id = $1", [core.tasks[3]]);
    await later(0);
    expect((await board()).items).toMatchObject([{ agent_id: agent, tasks: 3, rank: 1 }]);
    await service.sql("update tasks set is_active = true where id = $1", [core.tasks[3]]);
    await later(0);
  });
});
