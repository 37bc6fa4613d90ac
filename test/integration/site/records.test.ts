import { afterAll, beforeAll, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newVisitor, type Page, type Visitor, visitorOf } from "../../stack/visitor.ts";
import { addAgent, addSuite, KEY, startAgent, type TestSuite } from "../runs/support.ts";

let service: TestService;
let owner: User;
let visitor: Visitor;
let endpoint: Consumer;
let suite: TestSuite;
let agent: string;
/** The screenings of the agent: one in the open, and a private one after it. */
let shown: string;
let hidden: string;

beforeAll(async () => {
  service = await startService();
  endpoint = await startAgent();
  owner = await newUser(service, { plan: "pro", verified: true });
  visitor = await visitorOf(service, owner);
  suite = await addSuite(service, 3, { slug: "three" });
  agent = await addAgent(owner, { name: "Ada", endpoint: endpoint.url });
  let asked = 0;
  endpoint.answer = () => json(200, { output: asked++ % 2 === 0 ? KEY : "no" });
  const screen = async (isPrivate: boolean): Promise<string> => {
    const asking = { agent_id: agent, suite_id: suite.id, private: isPrivate };
    const runs = await owner.call("POST", "/api/v1/runs/batch", asking);
    await service.settled();
    return runs.body[0].screening_session_id;
  };
  shown = await screen(false);
  hidden = await screen(true);
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

const to = (page: Page, kind: "sessions" | "runs") =>
  page.links.flatMap(({ href }) => new RegExp(`^/${kind}/([^/?]+)$`).exec(href)?.[1] ?? []);

it("leads from an agent's page to all it was asked, as pages and not as JSON", async () => {
  const page = await visitor.open(`/agents/${agent}`);
  expect(page.links.filter(({ href }) => /^\/api\/v1\/(?:runs\?|agents\/.*sessions)/.test(href))).toEqual([]);
  const screenings = await visitor.follow(page, "screenings");
  expect([screenings.heading, to(screenings, "sessions")]).toEqual(["Screenings of Ada", [hidden, shown]]);
  const runs = await visitor.follow(page, "runs");
  const { items } = (await owner.call("GET", `/api/v1/runs?agent_id=${agent}`)).body;
  expect([runs.heading, to(runs, "runs")]).toEqual(["Runs of Ada", items.map(({ id }: { id: string }) => id)]);
});

it("shows of a screening what passed, too", async () => {
  const runs = await visitor.follow(await visitor.open(`/sessions/${shown}`), "All runs of this screening");
  const { run_ids } = (await owner.call("GET", `/api/v1/screening-sessions/${shown}`)).body;
  expect(to(runs, "runs").toSorted()).toEqual(run_ids.toSorted());
  expect(runs.html).toMatch(/<td>passed/);
});

it("keeps from strangers what is private, and has nothing of an agent that is not theirs to see", async () => {
  const stranger = newVisitor(service);
  expect(to(await stranger.open(`/agents/${agent}/screenings`), "sessions")).toEqual([shown]);
  expect(to(await stranger.open(`/agents/${agent}/runs`), "runs")).toHaveLength(suite.tasks.length);
  const own = await addAgent(owner, { name: "Own", is_public: false });
  for (const what of ["runs", "screenings"]) {
    expect((await stranger.open(`/agents/${own}/${what}`)).status, what).toBe(404);
    expect((await visitor.open(`/agents/${own}/${what}`)).html, what).toMatch(
      /It was (?:not screened|asked nothing) yet/,
    );
  }
});

it("goes on page by page", async () => {
  const many = await addAgent(owner, { name: "Many", endpoint: endpoint.url });
  await owner.call("POST", "/api/v1/runs/batch", { agent_id: many, suite_id: suite.id, repeats: 10 });
  await owner.call("POST", "/api/v1/runs/batch", { agent_id: many, suite_id: suite.id, repeats: 10 });
  await service.settled();
  const first = await visitor.open(`/agents/${many}/runs`);
  const next = await visitor.follow(first, "next");
  expect(new Set([...to(first, "runs"), ...to(next, "runs")]).size).toBe(60);
  expect(next.links.map(({ text }) => text)).not.toContain("next");
});

it("leads from where a score or an endpoint puzzles to the guide about it", async () => {
  const guides = ({ links }: Page) =>
    links.flatMap(({ href }) => /^\/docs\/guides\/(the-score|write-an-agent)$/.exec(href)?.[1] ?? []);
  for (const path of ["/", `/agents/${agent}`, `/sessions/${shown}`])
    expect(guides(await visitor.open(path)), path).toEqual(["the-score"]);
  const form = await visitor.open("/agents/new");
  const unreachable = { name: "Eve", endpoint: "http://127.0.0.1:9/agent" };
  const failed = await visitor.send(form, "Only try the endpoint", unreachable);
  const beginner = await visitorOf(service, await newUser(service, { verified: true }));
  expect([form, failed, await beginner.open("/home")].map(guides)).toEqual([
    ["write-an-agent"],
    ["write-an-agent", "write-an-agent"],
    ["write-an-agent"],
  ]);
});

it("advises as many repeats as the month's allowance has room for", async () => {
  const of = async (user: User): Promise<Page> => {
    const own = await addAgent(user, { name: "Own", endpoint: endpoint.url });
    return (await visitorOf(service, user)).open(`/agents/${own}/screen`);
  };
  const free = await of(await newUser(service, { verified: true }));
  expect(free.html).toContain("The month&#39;s 50 runs have room for each core task once.");
  expect(free.html).not.toContain("three are a good start");
  expect(free.links.map(({ href }) => href)).toContain("/settings/plan");
  const pro = await of(await newUser(service, { plan: "pro", verified: true }));
  expect(pro.html).toContain("three are a good start");
});

it("says what the words beside a score mean, and that its cost is an efficiency", async () => {
  const words = async (path: string) =>
    (await visitor.open(path)).html.replaceAll(/<[^>]+>|\s+/g, " ").replaceAll(/ +/g, " ");
  const record = await words(`/agents/${agent}`);
  expect(record).toContain("provisional, until it was asked every core task");
  expect(record).toContain("verified: a run of it was completed and signed");
  expect(record).toMatch(/Cost efficiency (?:\d+%|no evidence)/);
  const home = await words("/home");
  expect(home).toContain("Verified: a run of it was completed and signed.");
  expect(home).toContain("A provisional score lasts until every core task was asked");
  expect((await visitor.open("/")).html).toContain('<th class="number">Cost efficiency</th>');
});
