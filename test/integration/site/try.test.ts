import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, PASSWORD, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newVisitor, type Page, type Visitor, visitorOf } from "../../stack/visitor.ts";
import { addAgent, addSuite, startAgent, type TestSuite } from "../runs/support.ts";

const NOBODY = "http://127.0.0.1:9/";

let service: TestService;
let endpoint: Consumer;
let owner: User;
let suite: TestSuite;
let agent: string;

beforeAll(async () => {
  service = await startService();
  [endpoint, owner, suite] = await Promise.all([
    startAgent(),
    newUser(service, { plan: "pro" }),
    addSuite(service, 3, { columns: { domain: "data_extraction" } }),
  ]);
  await addSuite(service, 1, { secret: true });
  agent = await addAgent(owner, { name: "On trial", endpoint: endpoint.url, allow_trial: true });
});
afterAll(async () => {
  await service.stop();
  await endpoint.stop();
});

const tryPage = (id = agent) => `/agents/${id}/try`;
const offers = (page: Page): boolean => page.forms.some(({ buttons }) => "Try it" in buttons);
const hasLink = (page: Page, text: string): boolean => page.links.some((link) => link.text === text);
const runsOf = (id = agent) =>
  service.sql<{ id: string; trigger: string; user_id: string | null; task_id: string; paid_kind: string }>(
    "select id, trigger, user_id, task_id, paid_kind from runs where agent_id = $1 order by created_at",
    [id],
  );
/** What the page says, without its head. */
const told = ({ html }: Page): string =>
  html
    .slice(html.indexOf("<main"))
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll("&#39;", "'")
    .replaceAll(/\s+/g, " ");
/** The tasks that the form offers. */
const offeredIn = ({ html }: Page): string[] =>
  [...html.matchAll(/<option value="([^"]*)"/g)].flatMap(([, id]) => id ?? []);

/** An agent of the owner's that nobody tried. */
const fresh = (fields: object = {}) => addAgent(owner, { endpoint: endpoint.url, allow_trial: true, ...fields });

/** Sends the form as it stands, and stays with what comes of it. */
async function trial(visitor: Visitor, id = agent, typed: Record<string, string> = {}): Promise<Page> {
  return visitor.send(await visitor.open(tryPage(id)), "Try it", typed);
}

describe("a stranger's trial, by the pages alone", () => {
  it("leads from the agent's page to the run of the task that was chosen, which the visitor can read", async () => {
    const visitor = newVisitor(service);
    const form = await visitor.follow(await visitor.open(`/agents/${agent}`), "Try it");
    expect([form.status, form.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(told(form)).toMatch(/one run of one task.*without an account there are 5 a day/);
    expect(offeredIn(form)).toHaveLength(40);
    expect(form.html.match(/<option[^>]*>Data extraction: An invoice/g)).toHaveLength(1);

    const started = await visitor.send(form, "Try it", { task_id: suite.tasks[1] ?? "" });
    const [run] = await runsOf();
    expect([started.status, started.url.pathname]).toEqual([200, `/runs/${run?.id}`]);
    expect(run).toMatchObject({ trigger: "trial", user_id: null, task_id: suite.tasks[1], paid_kind: "trial_address" });
    await service.settled();
    const ended = await visitor.open(`/runs/${run?.id}`);
    expect(told(ended)).toMatch(/passed, 100% right trial counts for nothing/);
    expect((await visitor.follow(ended, "try another task")).url.pathname).toBe(tryPage());
    const { body } = await owner.call("GET", `/api/v1/agents/${agent}`);
    expect(body.score_basis).toBeNull();
  });

  it("is one however often, and however much at once, the form is sent; another form is another", async () => {
    const id = await fresh();
    const visitor = newVisitor(service);
    const form = await visitor.open(tryPage(id));
    const sent = await Promise.all([1, 2, 3, 4, 5, 6].map(() => visitor.beside().send(form, "Try it")));
    const again = await visitor.send(form, "Try it");
    const [run, ...others] = await runsOf(id);
    expect([again.url.pathname, others]).toEqual([`/runs/${run?.id}`, []]);
    for (const page of sent.filter(({ status }) => status !== 200)) {
      expect([page.status, page.heading]).toEqual([409, "It is being done already"]);
      expect((await visitor.send(page, "Send it again")).url.pathname).toBe(again.url.pathname);
    }
    const [first = "", second = ""] = offeredIn(form);
    const other = await visitor.send(form, "Try it", { task_id: second });
    expect([other.status, other.alerts]).toEqual([422, [expect.stringContaining("sent before, with something else")]]);
    await visitor.send(other, "Try it");
    expect((await runsOf(id)).map(({ task_id }) => task_id)).toEqual([first, second]);
  });

  it("is refused once the five of the day are used up, by forms side by side too, with the way to more", async () => {
    const id = await fresh();
    const visitor = newVisitor(service);
    const forms = await Promise.all([1, 2, 3, 4, 5, 6, 7].map(() => visitor.open(tryPage(id))));
    const sent = await Promise.all(forms.map((form) => visitor.beside().send(form, "Try it")));
    const refused = sent.filter(({ status }) => status === 402);
    expect([refused.length, (await runsOf(id)).length]).toEqual([2, 5]);
    for (const page of refused) {
      expect(page.alerts).toEqual([expect.stringMatching(/5 trials that your address has a day .* midnight UTC/)]);
      expect([offers(page), hasLink(page, "What each plan allows")]).toEqual([true, false]);
    }
    const { email } = await newUser(service);
    const signIn = await visitor.follow(refused[0] as Page, "Sign in");
    const back = await visitor.send(signIn, "Sign in", { email, password: PASSWORD });
    expect([back.url.pathname, told(back)]).toEqual([tryPage(id), expect.stringMatching(/50 of 50 runs left/)]);
    expect((await visitor.send(back, "Try it")).url.pathname).toMatch(/^\/runs\//);
  });

  it("says so where the trials of the day are used up for all", async () => {
    const [day] = await service.sql<{ used: number }>("select used from allowances where kind = 'trial_global'");
    await service.sql("update allowances set used = 200 where kind = 'trial_global'");
    const page = await trial(newVisitor(service));
    await service.sql("update allowances set used = $1 where kind = 'trial_global'", [day?.used]);
    expect([page.status, page.alerts]).toEqual([402, [expect.stringContaining("All the trials")]]);
  });

  it("tells on the run's page that the agent was not reached", async () => {
    const id = await fresh({ endpoint: NOBODY });
    const visitor = newVisitor(service);
    const { url } = await trial(visitor, id);
    await service.settled();
    expect(told(await visitor.open(url.pathname))).toContain("No connection to the agent's endpoint came about");
  });
});

describe("a trial by somebody who is signed in", () => {
  it("takes one of the month, says what is left, and leads to the plans where that is nothing", async () => {
    const user = await newUser(service);
    const visitor = await visitorOf(service, user);
    expect(told(await visitor.open(tryPage()))).toMatch(/You have 50 of 50 runs left this month/);
    const { url } = await trial(visitor);
    const run = (await runsOf()).find(({ id }) => url.pathname === `/runs/${id}`);
    expect(run).toMatchObject({ trigger: "trial", user_id: user.id, paid_kind: "user" });
    expect(told(await visitor.open(tryPage()))).toMatch(/You have 49 of 50 runs left/);
    await service.sql("update allowances set used = 50 where owner = $1", [user.id]);
    const refused = await trial(visitor);
    expect([refused.status, refused.alerts]).toEqual([402, [expect.stringContaining("Wait for the new month")]]);
    expect([hasLink(refused, "What each plan allows"), hasLink(refused, "Sign up")]).toEqual([true, false]);
  });

  it("is never paid for by the address where the session is over, nor by the month where there was none", async () => {
    const id = await fresh();
    const user = await newUser(service);
    const visitor = await visitorOf(service, user);
    const form = await visitor.open(tryPage(id));
    const open = visitor.beside();
    visitor.forget("service_session");
    const ended = await visitor.send(form, "Try it");
    expect([ended.status, ended.heading]).toEqual([401, "Your session has ended"]);
    await service.sql("update sessions set revoked_at = now() where user_id = $1", [user.id]);
    expect((await open.send(form, "Try it")).heading).toBe("Your session has ended");
    expect(await runsOf(id)).toEqual([]);

    const stranger = newVisitor(service);
    const free = await stranger.open(tryPage(id));
    const typed = { email: user.email, password: PASSWORD };
    await stranger.send(await stranger.open("/sign-in"), "Sign in", typed);
    const asked = await stranger.send(free, "Try it");
    expect([asked.status, asked.alerts, await runsOf(id)]).toEqual([
      409,
      [expect.stringContaining("signed in meanwhile")],
      [],
    ]);
    await stranger.send(asked, "Try it");
    expect(await runsOf(id)).toEqual([expect.objectContaining({ user_id: user.id })]);
  });
});

describe("an agent that can't be tried", () => {
  it("has no such page, nor a way to one, until its owner allows it", async () => {
    const id = await fresh({ allow_trial: false });
    const visitor = newVisitor(service);
    const ways = async () => hasLink(await visitor.open(`/agents/${id}`), "Try it");
    expect([await ways(), (await visitor.open(tryPage(id))).status]).toEqual([false, 404]);
    await owner.call("PATCH", `/api/v1/agents/${id}`, { allow_trial: true });
    expect([await ways(), (await visitor.open(tryPage(id))).status]).toEqual([true, 200]);
  });

  it.each([
    ["allows it no more", { allow_trial: false }, 403, "no longer lets strangers try it"],
    ["is private by now", { is_public: false }, 404, "retired this agent meanwhile, or made it private"],
    ["is retired by now", { is_active: false }, 404, "retired this agent meanwhile, or made it private"],
  ])("says so where it %s, and what else there is", async (_what, change, status, words) => {
    const id = await fresh();
    const visitor = newVisitor(service);
    const form = await visitor.open(tryPage(id));
    expect((await owner.call("PATCH", `/api/v1/agents/${id}`, change)).status).toBe(200);
    const page = await visitor.send(form, "Try it");
    expect([page.status, page.alerts]).toEqual([status, [expect.stringContaining(words)]]);
    expect([offers(page), hasLink(page, "Other agents, on the board")]).toEqual([false, true]);
    expect(await runsOf(id)).toEqual([]);
  });

  it("is led to by no trial of before, which stays readable", async () => {
    const id = await fresh();
    const visitor = newVisitor(service);
    const run = await trial(visitor, id);
    expect(hasLink(run, "try another task")).toBe(true);
    await service.settled();
    await owner.call("PATCH", `/api/v1/agents/${id}`, { allow_trial: false });
    const again = await visitor.open(run.url.pathname);
    expect([again.status, hasLink(again, "try another task")]).toEqual([200, false]);
    expect(told(again)).toContain("trial counts for nothing Took");
  });

  it("says at the field that a task is no longer asked, or is none", async () => {
    const { tasks } = await addSuite(service, 1);
    const visitor = newVisitor(service);
    const form = await visitor.open(tryPage());
    await service.sql("update tasks set is_active = false where id = $1", [tasks[0]]);
    for (const task_id of [tasks[0] ?? "", crypto.randomUUID()]) {
      const page = await visitor.send(form, "Try it", { task_id });
      expect(page.wrong).toEqual({ task_id: "This task is no longer asked. Choose another one." });
      form.forms = page.forms;
    }
    expect(Object.keys((await visitor.send(form, "Try it", { task_id: "x" })).wrong)).toEqual(["task_id"]);
  });

  it("says that trials are simulated, or impossible, where its connection is so", async () => {
    const id = await fresh({ endpoint: undefined });
    expect(told(await newVisitor(service).open(tryPage(id)))).toContain("a trial is simulated");
    const form = await newVisitor(service).open(tryPage(id));
    await service.sql("update agents set connection_mode = 'customer_llm' where id = $1", [id]);
    const page = await newVisitor(service).send(form, "Try it");
    expect([page.status, offers(page), page.alerts.join()]).toEqual([
      410,
      false,
      expect.stringContaining("can't be run now"),
    ]);
  });
});

describe("the page as the agent's owner sees it", () => {
  it("shows what others see, and starts nothing", async () => {
    const id = await fresh();
    const visitor = await visitorOf(service, owner);
    const page = await visitor.follow(await visitor.open(`/agents/${id}`), "How others try it");
    expect(told(page)).toContain("Others see this page as you do now");
    expect(page.html).toMatch(/<fieldset disabled[^>]*><form/);
    const sent = await visitor.send(page, "Try it");
    expect([sent.status, sent.alerts]).toEqual([403, [expect.stringContaining("your own agent")]]);
    expect(await runsOf(id)).toEqual([]);
  });

  it("is there before it is allowed, and says that others find nothing", async () => {
    const id = await fresh({ allow_trial: false });
    const page = await (await visitorOf(service, owner)).open(tryPage(id));
    expect([page.status, told(page)]).toEqual([200, expect.stringContaining("it is not open to trials")]);
  });
});
