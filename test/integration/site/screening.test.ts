import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, PASSWORD, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newVisitor, type Visitor } from "../../stack/visitor.ts";
import { addAgent, addSuite, KEY, startAgent, type TestSuite } from "../runs/support.ts";

let service: TestService;
let endpoint: Consumer;
let suite: TestSuite;

beforeAll(async () => {
  service = await startService();
  endpoint = await startAgent();
  suite = await addSuite(service, 3, { slug: "three" });
});
afterAll(async () => {
  await service.stop();
  await endpoint.stop();
});

/** A visitor who is signed in to this account. */
async function visitorOf({ email }: User): Promise<Visitor> {
  const visitor = newVisitor(service);
  await visitor.send(await visitor.open("/sign-in"), "Sign in", { email, password: PASSWORD });
  return visitor;
}

/** Answers wrongly, or not at all, as the number of the request says. */
function answering(wrongAt: readonly number[], brokenAt: readonly number[]): void {
  let asked = 0;
  endpoint.answer = () => {
    const at = asked++;
    return brokenAt.includes(at) ? json(500, {}) : json(200, { output: wrongAt.includes(at) ? "41" : KEY });
  };
}

it("cancels what is queued, by a button, and lets what is under way end", async () => {
  const user = await newUser(service);
  const agent = await addAgent(user, { endpoint: endpoint.url });
  const visitor = await visitorOf(user);
  let asked = 0;
  let [full, release] = [(): void => undefined, (): void => undefined];
  const [busy, held] = [
    new Promise<void>((resolve) => (full = resolve)),
    new Promise<void>((resolve) => (release = resolve)),
  ];
  endpoint.answer = async () => {
    asked += 1;
    // As many as the queue delivers at once to one agent.
    if (asked === 4) full();
    await held;
    return json(200, { output: KEY });
  };
  const started = await visitor.send(await visitor.open(`/agents/${agent}/screen`), "Start the screening", {
    suite_id: suite.id,
    repeats: "2",
  });
  await busy;
  const runIn = async (status: string) => {
    const [run] = (await user.call("GET", `/api/v1/runs?mine=true&status=${status}`)).body.items;
    return (await visitor.open(`/runs/${run.id}`)).html;
  };
  expect(await runIn("queued")).toContain("Nothing yet: it was not asked yet.");
  expect(await runIn("running")).toContain("Nothing yet: it was asked, and its answer or report is waited for.");
  const cancelled = await visitor.send(await visitor.open(started.url.pathname), "Cancel what is queued");
  expect(cancelled.html).toMatch(/<dt>Cancelled<\/dt><dd>2<\/dd>/);
  expect(cancelled.forms.some(({ buttons }) => "Cancel what is queued" in buttons)).toBe(false);
  expect(await runIn("cancelled")).toMatch(
    /cancelled before it was asked[^]*simulated and cancelled runs have no statement/,
  );
  release();
  await service.settled();
  expect((await visitor.open(started.url.pathname)).html).toMatch(/Done: 6 of 6 runs have ended, 4 passed[^]*It took/);
});

describe("the way to the first score, by the pages alone", () => {
  it("leads from nothing over an endpoint that is tried to a screening, why it failed, and once more", async () => {
    const visitor = newVisitor(service);
    const email = "first@example.test";
    const home = await visitor.send(await visitor.open("/sign-up"), "Create the account", {
      email,
      password: PASSWORD,
    });
    expect(home.html).toContain("Three steps to the first score");
    const form = await visitor.follow(home, "Connect an agent");

    const nobody = "http://127.0.0.1:9/agent";
    const failed = await visitor.send(form, "Connect the agent", { name: "<b>Ada</b> عادة", endpoint: nobody });
    expect(failed.alerts).toEqual([
      expect.stringMatching(/does not answer as it should.* no complete answer.* agent_unreachable/),
    ]);
    expect(failed.forms.find(({ buttons }) => "Try again and connect it" in buttons)?.fields).toMatchObject({
      name: "<b>Ada</b> عادة",
      endpoint: nobody,
      is_public: "true",
    });
    const tried = await visitor.send(failed, "Only try the endpoint", { endpoint: endpoint.url });
    expect(tried.alerts).toEqual([expect.stringContaining("The endpoint answers.")]);
    expect(await service.sql("select 1 from agents where name like '%Ada%'")).toEqual([]);
    const screen = await visitor.send(tried, "Connect the agent");
    expect([screen.heading, screen.url.pathname.endsWith("/screen")]).toEqual(["Screen <b>Ada</b> عادة", true]);
    expect(screen.html).toContain("<strong>50</strong> of 50 runs left");

    answering([1], [2]);
    const started = await visitor.send(screen, "Start the screening", { suite_id: suite.id });
    expect(started.heading).toBe("Screening of <b>Ada</b> عادة");
    await service.settled();
    const done = await visitor.open(started.url.pathname);
    expect(done.html).toMatch(/Done: 3 of 3 runs have ended, 1 passed/);
    expect(done.html).toMatch(/1 of them brought no answer that could be graded[^]*>Run of |answered, 0% right/);
    expect(done.html).toMatch(/status 500|HTTP 500|answered 500/i);
    expect(done.html).not.toContain("/live.js");
    expect(done.html).toMatch(/These runs alone come to a score of \d+\.\d\d\./);
    const id = done.url.pathname.split("/").at(-1);
    for (const kind of ["csv", "jsonl"])
      expect(done.links.map(({ href }) => href)).toContain(`/sessions/${id}/export/${kind}`);

    answering([], []);
    const again = await visitor.send(done, "Run these 2 tasks again");
    expect(again.url.pathname).not.toBe(done.url.pathname);
    await service.settled();
    expect((await visitor.open(again.url.pathname)).html).toMatch(/Done: 2 of 2 runs have ended, 2 passed/);
    const after = await visitor.open("/home");
    expect(after.html).toContain("5 of 50");
    expect(after.html).not.toContain("Three steps");
  });

  it("runs again what can still be run, each as often as before, and tells what is left out", async () => {
    const [user, operator] = [
      await newUser(service),
      await newUser(service, { email: "admin@example.test", verified: true }),
    ];
    const own = await addSuite(service, 3, { slug: "shrinking" });
    const retire = async (at: number) => {
      await service.sql("update tasks set title = $1 where id = $2", [`Retired ${at}`, own.tasks[at]]);
      expect((await operator.call("POST", `/api/v1/tasks/${own.tasks[at]}/retire`)).status).toBe(200);
    };
    const agent = await addAgent(user, { endpoint: endpoint.url });
    const visitor = await visitorOf(user);
    answering([0, 1, 2, 3, 4, 5], []);
    const form = await visitor.open(`/agents/${agent}/screen`);
    const started = await visitor.send(form, "Start the screening", { suite_id: own.id, repeats: "2" });
    await service.settled();
    const done = await visitor.open(started.url.pathname);
    await retire(0);
    answering([], []);
    const again = await visitor.send(done, "Run these 3 tasks again");
    expect(again.html).toMatch(/Left out of what did not pass in .*can&#39;t be run any more:.*<li>Retired 0<\/li>/s);
    expect(again.html).not.toContain("<li>Retired 1</li>");
    await service.settled();
    expect((await visitor.open(again.url.pathname)).html).toMatch(/Done: 4 of 4 runs have ended, 4 passed/);

    // The page says beforehand what it knows to be gone, and offers nothing where nothing is left.
    await retire(1);
    const known = await visitor.open(started.url.pathname);
    expect(known.html).toMatch(/can&#39;t be run again:.*<li>Retired 0<\/li><li>Retired 1<\/li>/s);
    expect(known.forms.flatMap(({ buttons }) => Object.keys(buttons))).toContain("Run this task again");
    await retire(2);
    const nothing = await visitor.send(known, "Run this task again");
    expect([nothing.status, nothing.alerts]).toEqual([422, [expect.stringContaining("nothing was reserved")]]);
    expect(nothing.forms.flatMap(({ buttons }) => Object.keys(buttons))).not.toContain("Run this task again");
  });

  it.each([
    ["free", 50],
    ["pro", 1000],
  ] as const)("says how much of the month's runs the core tasks take: %s", async (plan, limit) => {
    const visitor = await visitorOf(await newUser(service, { plan }));
    expect((await visitor.open("/home")).html).toContain(`40 runs of your ${limit} a month`);
  });

  it("tells before the start what it takes, how sure the result will be, how long it lasts and what it costs", async () => {
    const user = await newUser(service);
    const [visitor, agent] = [await visitorOf(user), await addAgent(user, { endpoint: endpoint.url })];
    const rows = async () => {
      const { html } = await visitor.open(`/agents/${agent}/screen`);
      // Before the button, as what is read first.
      expect(html.indexOf("How sure")).toBeLessThan(html.indexOf("Start the screening"));
      const [, own = ""] = /<th[^>]*>three<br\/>(.*?)(?:<th|<\/table)/s.exec(html) ?? [];
      return own.replaceAll(/<[^>]+>/g, "|").replaceAll(/\|+/g, "|");
    };
    // A toss of a coin on 3 tasks: t = 4.303 for 2 degrees of freedom, 4.303 √(0.25 / 3 / 5) = 0.555, at most a half.
    expect(await rows()).toMatch(/\|5 times\|15\|± 50 points\|at most \d+ \w+\|not known yet\|/);
    const call = { model: "m", input_tokens: 10, output_tokens: 1, cost_usd: 0.00001 };
    endpoint.answer = () => json(200, { output: KEY, usage: { calls: [call] } });
    await user.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id, repeats: 10 });
    await service.settled();
    const known = await rows();
    // All 30 passed: 4.303 √(11 / 156 / 15) = 0.295.
    expect(known).toMatch(/\|once\|3\|± 50 points\|about \d+ seconds?\|about 0\.000030 USD\|/);
    expect(known).toMatch(/\|5 times\|15\|± 30 points\|about \d+ seconds?\|about 0\.000150 USD\|/);
    await user.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id, repeats: 4 });
    expect(await rows()).toMatch(/\|3 times\|9\|more than is left\|/);
    await service.settled();
  });

  it("shows the allowance of the workspace that pays, not the visitor's", async () => {
    const user = await newUser(service, { plan: "team", verified: true });
    const { body: team } = await user.call("POST", "/api/v1/teams", { name: "<i>Payers</i>" });
    const agent = await addAgent(user, { endpoint: endpoint.url, team_id: team.id });
    answering([], []);
    const visitor = await visitorOf(user);
    const form = await visitor.open(`/agents/${agent}/screen`);
    await visitor.send(form, "Start the screening", { suite_id: suite.id });
    await service.settled();
    const [{ body: now }, { html }] = [
      await user.call("GET", `/api/v1/teams/${team.id}`),
      await visitor.open(`/agents/${agent}/screen`),
    ];
    const left = now["monthly_run_limit"] - now["monthly_run_count"];
    expect([now["monthly_run_count"], html.replaceAll(/<bdi>|<\/bdi>/g, "")]).toEqual([
      3,
      expect.stringContaining(
        `The workspace &lt;i&gt;Payers&lt;/i&gt; pays for it, and has <strong>${left}</strong> of ${now["monthly_run_limit"]} runs left`,
      ),
    ]);
  });

  it("starts one screening by a form that is sent twice at once", async () => {
    const user = await newUser(service);
    const visitor = await visitorOf(user);
    const agent = await addAgent(user, { endpoint: endpoint.url });
    const form = await visitor.open(`/agents/${agent}/screen`);
    const pages = await Promise.all(
      [visitor, visitor.beside()].map((one) => one.send(form, "Start the screening", { suite_id: suite.id })),
    );
    const sessions = await service.sql<{ id: string }>("select id from screening_sessions where agent_id = $1", [
      agent,
    ]);
    expect(sessions).toHaveLength(1);
    // While the first sending is still at work, the second is told so.
    const led = pages.filter(({ url }) => url.pathname === `/sessions/${sessions[0]?.id}`);
    const told = pages.filter(({ status }) => status === 409);
    expect([led.length > 0, led.length + told.length]).toEqual([true, 2]);
    await service.settled();
  });

  it("shows what is under way, and asks again by a script where there is one", async () => {
    const user = await newUser(service);
    const visitor = await visitorOf(user);
    const agent = await addAgent(user, { name: "Slow", endpoint: endpoint.url });
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    endpoint.answer = async () => {
      await held;
      return json(200, { output: KEY });
    };
    const page = await visitor.send(await visitor.open(`/agents/${agent}/screen`), "Start the screening", {
      suite_id: suite.id,
    });
    expect(page.html).toMatch(/<script type="module" src="\/live\.js\?v=[0-9a-f]{12}">/);
    expect(page.html).toContain("0 of 3 runs have ended");
    const script = await fetch(service.url + (/src="(\/live\.js[^"]+)"/.exec(page.html)?.[1] ?? ""));
    expect([script.headers.get("content-type"), script.headers.get("cache-control")]).toEqual([
      "text/javascript; charset=utf-8",
      "public, max-age=31536000, immutable",
    ]);
    const home = await visitor.open("/home");
    expect((await visitor.follow(home, "Slow")).url.pathname).toBe(page.url.pathname);
    release();
    await service.settled();
    expect((await visitor.follow(page, "Look again")).html).toContain("Done: 3 of 3");
  });

  it("counts all that is to go of a large one, which can be watched for minutes within the reads of an address", async () => {
    const user = await newUser(service, { plan: "pro" });
    const [visitor, agent] = [await visitorOf(user), await addAgent(user, { name: "Large", endpoint: endpoint.url })];
    const large = await addSuite(service, 50, { slug: "large" });
    let [asked, release] = [0, (): void => undefined];
    const held = new Promise<void>((resolve) => (release = resolve));
    endpoint.answer = async () => {
      asked += 1;
      if (asked > 2) await held;
      return json(200, { output: "41" });
    };
    const batch = { agent_id: agent, suite_id: large.id, repeats: 10 };
    const { body: runs } = await user.call("POST", "/api/v1/runs/batch", batch);
    const path = `/sessions/${runs[0].screening_session_id}`;
    const ended = () => service.sql("select 1 from runs where agent_id = $1 and status = 'completed'", [agent]);
    await vi.waitFor(async () => expect(await ended()).toHaveLength(2), { timeout: 30_000, interval: 100 });
    expect((await visitor.open("/home")).html).toMatch(/Large<\/bdi><\/a>: 498 runs to go/);
    const looks = [];
    for (let look = 0; look < 36; look += 1) looks.push(await visitor.open(path));
    expect(new Set(looks.map(({ status }) => status))).toEqual(new Set([200]));
    expect(looks.at(-1)?.html.match(/answered, 0% right/g)).toHaveLength(2);
    await visitor.send(await visitor.open(path), "Cancel what is queued");
    release();
    await service.settled();
  });

  it("refuses what can't be run, with what was chosen, and says what the allowance lacks", async () => {
    const user = await newUser(service);
    const visitor = await visitorOf(user);
    const agent = await addAgent(user, { endpoint: endpoint.url });
    const form = await visitor.open(`/agents/${agent}/screen`);
    const often = await visitor.send(form, "Start the screening", { suite_id: suite.id, repeats: "11" });
    expect([often.status, Object.keys(often.wrong)]).toEqual([422, ["repeats"]]);
    const typed = { suite_id: suite.id, repeats: "11" };
    expect(often.forms.find(({ buttons }) => "Start the screening" in buttons)?.fields).toMatchObject(typed);
    await visitor.send(often, "Start the screening", { repeats: "10" });
    await service.settled();
    const short = await visitor.send(await visitor.open(`/agents/${agent}/screen`), "Start the screening", {
      suite_id: suite.id,
      repeats: "10",
    });
    expect([short.status, short.html.includes("<strong>20</strong> of 50 runs left")]).toEqual([402, true]);
    expect(short.alerts).toEqual([expect.stringMatching(/30|50/)]);
  });
});

describe("a page of what is somebody's own", () => {
  it("says of a score that it is of simulated runs, wherever it stands", async () => {
    const user = await newUser(service);
    let session = "";
    let agent: string | undefined;
    for (const name of ["Make-believe", "As if"]) {
      agent = await addAgent(user, { name, variant_of: agent });
      const batch = { agent_id: agent, suite_id: suite.id };
      const runs = await user.call("POST", "/api/v1/runs/batch", batch);
      await service.settled();
      session = runs.body[0].screening_session_id;
    }
    const own = await (await visitorOf(user)).open(`/sessions/${session}`);
    expect(own.html).toMatch(
      /The agent&#39;s score is <strong>[\d.]+<\/strong> \([\d.]+ to [\d.]+\), of simulated runs: /,
    );
    const { html } = await newVisitor(service).open("/compare");
    expect(html).toMatch(/Make-believe<\/bdi> <span class="mute">[\d.]+<\/span><span class="tag">simulated</);
    const variants = (await newVisitor(service).open(`/agents/${agent}`)).html;
    expect(variants).toMatch(/Make-believe<\/bdi><\/td><td class="number">1<\/td><td class="number">\d+%, simulated</);
    expect(variants).toMatch(/Make-believe<\/bdi><\/a><span class="tag">simulated</);
    expect(variants).toMatch(/<dt>Cost<\/dt><dd>0\.\d{6} USD a run on average, simulated<\/dd>/);
  });

  it("shows no score beyond its own interval, however low it is", async () => {
    const user = await newUser(service);
    const agent = await addAgent(user, { endpoint: endpoint.url });
    endpoint.answer = () => json(200, { output: "41" });
    const five = await addSuite(service, 5, { slug: "five" });
    const batch = { agent_id: agent, suite_id: five.id, repeats: 10 };
    const [run] = (await user.call("POST", "/api/v1/runs/batch", batch)).body;
    await service.settled();
    for (const path of [`/sessions/${run.screening_session_id}`, `/agents/${agent}`]) {
      const { html } = await newVisitor(service).open(path);
      const shown = /<strong>([\d.]+)<\/strong> \(([\d.]+) to ([\d.]+)\)/.exec(html) ?? [];
      const [score = Number.NaN, low = Number.NaN, high] = shown.slice(1).map(Number);
      expect(score).toBeGreaterThanOrEqual(low);
      expect(score).toBeLessThanOrEqual(high ?? 0);
    }
  });

  it("shows a public screening to strangers without the ways of somebody who is signed in", async () => {
    const user = await newUser(service);
    const agent = await addAgent(user, { name: "Open to all", endpoint: endpoint.url });
    const call = { model: "small", input_tokens: 10, output_tokens: 1, cost_usd: 0.000012 };
    endpoint.answer = () => json(200, { output: KEY, usage: { calls: [call] } });
    const runs = await user.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id });
    await service.settled();
    const path = `/sessions/${runs.body[0].screening_session_id}`;
    const [own, stranger] = [await (await visitorOf(user)).open(path), await newVisitor(service).open(path)];
    const ways = ({ links, forms }: typeof own) => [
      ...links.map(({ text }) => text),
      ...forms.flatMap(({ buttons }) => Object.keys(buttons)),
    ];
    expect(ways(own)).toEqual(expect.arrayContaining(["Settings", "Sign out"]));
    // What costs little does not cost nothing.
    expect(own.html).toContain("as the agent says, 0.000036 USD");
    expect((await newVisitor(service).open(`/agents/${agent}`)).html).toContain(">0.000012 USD<");
    const dear = await addAgent(user, { endpoint: endpoint.url });
    endpoint.answer = () => json(200, { output: KEY, usage: { calls: [{ ...call, cost_usd: 250 }] } });
    await user.call("POST", "/api/v1/runs/batch", { agent_id: dear, suite_id: suite.id });
    await service.settled();
    expect((await newVisitor(service).open(`/agents/${dear}`)).html).toContain("250.000000 USD a run on average");
    expect([stranger.heading, ways(stranger)]).toEqual([own.heading, expect.arrayContaining(["Board", "Sign up"])]);
    expect(ways(stranger).filter((way) => ["Settings", "New agent", "Sign out"].includes(way))).toEqual([]);
  });

  it("is the owner's alone: others find what nobody's id finds", async () => {
    const owner = await newUser(service);
    const hidden = await addAgent(owner, { name: "Hidden one", is_public: false });
    const [mine, other] = [await visitorOf(owner), await visitorOf(await newUser(service))];
    expect((await mine.open(`/agents/${hidden}`)).heading).toBe("Hidden one");
    expect((await mine.open(`/agents/${hidden}`)).headers.get("cache-control")).toBe("private, no-store");
    const nobodys = "01938e7a-0000-7000-8000-000000000009";
    for (const path of ["/agents/ID", "/agents/ID/screen"]) {
      for (const visitor of [other, newVisitor(service)]) {
        const [real, none] = [
          await visitor.open(path.replace("ID", hidden)),
          await visitor.open(path.replace("ID", nobodys)),
        ];
        expect([real.status, real.html.replaceAll(hidden, nobodys)]).toEqual([none.status, none.html]);
        expect(real.html).not.toContain("Hidden one");
      }
    }
    expect((await other.open("/sessions/none")).status).toBe(404);
    expect((await other.open("/agents/..%2F..%2Fauth%2Fme/screen")).status).toBe(404);
  });
});
