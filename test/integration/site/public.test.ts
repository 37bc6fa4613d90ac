import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { type Handler, json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newVisitor, type Page, type Visitor, visitorOf } from "../../stack/visitor.ts";
import { addAgent, addSuite, answersRightly, startAgent, type TestSuite } from "../runs/support.ts";
import { addTeam } from "../workspaces/teams-support.ts";

const HOSTILE = `<script>alert("x")</script> & 👩‍👩‍👧‍👦 ${"ا".repeat(70)}`;

let service: TestService;
let owner: User;
let anonymous: Caller;
let endpoint: Consumer;
let core: TestSuite;
let good: string;
let fair: string;
let hidden: string;
let ahead = 0;

/** Screens an agent over the core tasks, `repeats` times each. */
async function screen(agent: string, answer: Handler, repeats: number): Promise<void> {
  endpoint.answer = answer;
  const sent = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: core.id, repeats });
  expect(sent.status, sent.text).toBe(200);
  await service.settled();
}

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(Date.now() + ahead) } });
  owner = await newUser(service, { plan: "enterprise" });
  anonymous = caller(service);
  endpoint = await startAgent();
  await service.sql("update tasks set is_active = false where suite_id = (select id from suites where slug = 'core')");
  core = await addSuite(service, 3, { slug: "core" });
  good = await addAgent(owner, { name: "Good", endpoint: endpoint.url });
  fair = await addAgent(owner, { name: HOSTILE, endpoint: endpoint.url, variant_of: good });
  hidden = await addAgent(owner, { name: "Hidden", endpoint: endpoint.url, is_public: false });
  let asked = 0;
  await screen(good, answersRightly, 2);
  await screen(fair, (request) => (asked++ % 2 === 0 ? answersRightly(request) : json(200, { output: "no" })), 2);
  await screen(hidden, answersRightly, 1);
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

const open = (path: string): Promise<Page> => newVisitor(service).open(path);
const read = async (path: string) => (await anonymous.call("GET", `/api/v1${path}`)).body;
const hrefs = ({ links }: Page) => links.map(({ href }) => href);
const text = ({ html }: Page) => html.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");

describe("a page for everybody", () => {
  const PAGES: [name: string, path: () => string][] = [
    ["the board", () => "/"],
    ["an agent", () => `/agents/${good}`],
    ["a picture of an agent", () => `/agents/${good}/picture.svg`],
    ["a comparison", () => `/compare?agents=${good},${fair}`],
    ["the choice of what to compare", () => "/compare"],
    ["the suites", () => "/suites"],
    ["a suite", () => "/suites/core"],
    ["a task", () => `/tasks/${core.tasks[0]}`],
    ["the plans", () => "/pricing"],
    ["the terms", () => "/terms"],
    ["privacy", () => "/privacy"],
  ];

  it("says what each plan allows, with its numbers as people write them", async () => {
    const { text: html } = await anonymous.call("GET", "/pricing");
    const rows = Array.from(html.matchAll(/<tr><th scope="row">(\w+)<\/th>(.*?)<\/tr>/gs), ([, plan, cells = ""]) => [
      plan,
      ...Array.from(cells.matchAll(/<td class="number">(.*?)<\/td>/g), ([, value]) => value),
    ]);
    expect(rows).toEqual([
      ["free", "50", "3", "0", "0", "1"],
      ["pro", "1,000", "unlimited", "0", "5", "10"],
      ["team", "5,000", "unlimited", "3", "25", "25"],
      ["enterprise", "50,000", "unlimited", "unlimited", "100", "100"],
    ]);
    expect(html.replaceAll(/\s+/g, " ")).toContain("at 39.00 USD with the runs that it takes, and holds for 90 days");
  });

  it.each(["/pricing", "/terms"])("says what becomes of a plan that is ended: %s", async (path) => {
    const words = text(await open(path));
    expect(words).toContain("ends at once, and what is left of its period is not paid back");
    expect(words).not.toContain("end of what is paid for");
  });

  it.each(PAGES)("is kept, whoever visits it, and known by its ETag: %s", async (_name, path) => {
    ahead += 60_000;
    const first = await anonymous.call("GET", path());
    expect([first.status, first.headers.get("cache-control")]).toEqual([
      200,
      expect.stringMatching(/^public, max-age=/),
    ]);
    await service.settled();
    service.counters.reset();
    for (const mark of ["", "utm_source=a", "fbclid=b"]) {
      const again = await newVisitor(service).open(`${path()}${path().includes("?") ? "&" : "?"}${mark}`);
      expect([again.status, again.html]).toEqual([200, first.text]);
    }
    const known = { "if-none-match": first.headers.get("etag") ?? "" };
    expect((await anonymous.call("GET", path(), undefined, known)).status).toBe(304);
    expect(service.counters.snapshot().db.requests).toBe(0);
  });

  it("offers an account in its head, which the pages of an account do not", async () => {
    const offers = async (visitor: Visitor, path: string) =>
      (await visitor.open(path)).links.filter(({ href }) => new URL(href, service.url).pathname === "/sign-up");
    for (const path of ["/", "/suites", "/docs", `/agents/${good}`])
      expect(await offers(newVisitor(service), path), path).toEqual([{ text: "Sign up", href: expect.any(String) }]);
    expect(await offers(await visitorOf(service, owner), "/home")).toEqual([]);
  });

  it("tells nobody what only its visitor may see", async () => {
    const visitor: Visitor = newVisitor(service);
    await visitor.send(await visitor.open("/sign-in"), "Sign in", { email: owner.email, password: PASSWORD });
    const shown = await visitor.open(`/agents/${hidden}`);
    const { composite_score: score } = (await owner.call("GET", `/api/v1/agents/${hidden}`)).body;
    expect([shown.heading, shown.html.includes(`<strong>${score.toFixed(2)}</strong>`)]).toEqual(["Hidden", true]);
    for (const path of [`/compare?agents=${good},${hidden}`, `/agents/${hidden}/picture.svg`]) {
      const own = await visitor.open(path);
      expect([own.status, own.html.includes("Hidden")]).toEqual([404, false]);
      expect((await open(path)).status).toBe(404);
    }
    expect((await open(`/agents/${hidden}`)).status).toBe(404);
  });

  const nowhere = ["/suites/none", "/suites/..%2Fusers", "/tasks/x", "/agents/x", "/agents/x/picture.svg"];
  it.each([...nowhere, `/tasks/${crypto.randomUUID()}`])("is none where there is nothing: %s", async (path) => {
    const { status, heading } = await open(path);
    expect([status, heading]).toEqual([404, "There is nothing here"]);
  });
});

describe("the page of an agent", () => {
  it("draws the axes, the days and the variants, with the numbers behind each, and leads to every recent run", async () => {
    const [shown, { items }, { members }, { items: runs }] = await Promise.all([
      open(`/agents/${good}`),
      read(`/agents/${good}/history`),
      read(`/agents/${good}/frontier`),
      read(`/runs?agent_id=${good}`),
    ]);
    const words = text(shown);
    expect(shown.html.match(/<figure class="chart">/g)).toHaveLength(3);
    for (const { day, composite_score: score } of items) expect(words).toContain(`${day} ${score.toFixed(2)}`);
    for (const { agent_id } of members) expect(hrefs(shown)).toContain(`/agents/${agent_id}`);
    expect(runs).toHaveLength(6);
    for (const { id } of runs) expect(hrefs(shown)).toContain(`/runs/${id}`);
    expect(words).toContain(
      `[![Agent Screening](${service.url}/api/v1/agents/${good}/badge.svg)](${service.url}/agents/${good})`,
    );
    expect(shown.html).toContain(`<meta property="og:image" content="${service.url}/agents/${good}/picture.svg"/>`);
  });

  it("is a picture too, well-formed whatever the agent is called", async () => {
    const { text: svg, headers } = await anonymous.call("GET", `/agents/${fair}/picture.svg`);
    expect(headers.get("content-type")).toBe("image/svg+xml; charset=utf-8");
    expect(svg).toContain("👩‍👩‍👧‍👦");
    expect(svg).not.toContain("<script");
    expect(svg.match(/<text/g)?.length).toBe(svg.match(/<\/text>/g)?.length);
  });
});

describe("the board", () => {
  it("shows as a tie whom the intervals do not tell apart, and each one's places", async () => {
    const { items } = await read("/leaderboard");
    const shown = await open("/");
    const [first, second] = items;
    const overlap = second.score_high >= first.score_low;
    expect(shown.html.includes("tied with the one above")).toBe(overlap);
    for (const row of items.filter(({ rank }: { rank: number | null }) => rank !== null)) {
      const places = row.rank_low === row.rank_high ? "alone" : `${row.rank_low}–${row.rank_high}`;
      expect(text(shown)).toContain(`${row.rank} (${places})`);
    }
  });
});

describe("the search of the board", () => {
  const rows = ({ html }: Page) =>
    [...html.matchAll(/<td class="wide"><a href="\/agents\/([^"]+)"/g)].map(([, id]) => id);

  it("finds agents by a part of their names, each at its place on the board that is shown", async () => {
    const visitor = newVisitor(service);
    const form = await visitor.open("/?domain=math&period=30d");
    const sent = form.forms.find(({ buttons }) => "Find" in buttons);
    expect([sent?.method, sent?.fields]).toEqual(["get", { domain: "math", period: "30d", q: "" }]);
    const found = await visitor.open("/?q=%20gOOd%20");
    const { items } = await read("/leaderboard?q=good");
    expect(rows(found)).toEqual(items.map(({ agent_id }: { agent_id: string }) => agent_id));
    expect(rows(found)).toContain(good);
    expect(text(found)).toContain(`${items[0].rank} (`);
    expect(found.html).not.toContain("tied with the one above");
    expect(rows(await visitor.follow(found, "Show all"))).toEqual(rows(await visitor.open("/?q=")));
    expect(text(await visitor.open("/?q=Hidden"))).toContain("No agent that is called so stands on this board yet.");
    expect((await visitor.open(`/?q=${"x".repeat(101)}`)).status).toBe(422);
  });

  it.each(["/", "/?q=good"])("says past its last page that nothing is there, and leads back: %s", async (path) => {
    const visitor = newVisitor(service);
    const past = await visitor.open(`${path}${path.includes("?") ? "&" : "?"}page=9`);
    expect([past.status, rows(past)]).toEqual([200, []]);
    expect(text(past)).toContain("There is nothing on this page.");
    expect(text(past)).not.toContain("stands on this board yet");
    const back = await visitor.follow(past, "Back to the first page");
    expect([back.url.pathname + back.url.search, rows(back).length > 0]).toEqual([path, true]);
  });
});

describe("the comparison", () => {
  const nobodys = "01938e7a-0000-7000-8000-000000000009";
  it("draws each pair and each task by the numbers of the interface", async () => {
    const compared = await read(`/agents/compare?agent_ids=${good},${fair}`);
    expect(compared.by_task.map(({ task_id }: { task_id: string }) => task_id)).toEqual(core.tasks.toSorted());
    const shown = await open(`/compare?agents=${good}&agents=${fair}`);
    const words = text(shown);
    for (const { title, results } of compared.by_task) {
      const cells = results.map(({ passed, runs }: { passed: number; runs: number }) => `${passed} of ${runs}`);
      expect(words).toContain([title, ...cells].join(" "));
    }
    const [pair] = compared.pairs;
    expect(words).toContain(`${pair.difference > 0 ? "+" : ""}${(100 * pair.difference).toFixed(1)}`);
    expect(shown.html).toContain((100 * pair.low).toFixed(1).replace(/^(?=\d)/, "+"));
  });

  it("offers the agents of the board, and says what is wrong with a choice", async () => {
    const offered = await open("/compare");
    expect(offered.forms.flatMap(({ shown }) => shown)).toEqual(["agents", "agents", "agents"]);
    const many = Array.from({ length: 11 }, () => crypto.randomUUID());
    for (const [query, status, words] of [
      [`agents=${good}`, 422, /One agent, or the same one twice, is nothing to compare/],
      [`agents=${good}&agents=${good.toUpperCase()}&agents=`, 422, /the same one twice.*choose another one, too/],
      [`agents=${many.join(",")}`, 422, /These are 11 agents: choose 10 at most/],
      [`agents=${good},${nobodys}`, 404, new RegExp(`no public agent with the id ${nobodys}: choose another`)],
    ] as const) {
      const refused = await open(`/compare?${query}`);
      expect([refused.status, refused.alerts]).toEqual([status, [expect.stringMatching(words)]]);
      expect(refused.alerts[0]).not.toMatch(/agent_ids|uuid|string|array|invalid/i);
      const kept = refused.forms.flatMap(({ sent }) => sent.map(([, value]) => value)).filter((one) => one !== "");
      const chosen = [...new Set(query.toLowerCase().split(/&?agents=|,/))].filter((one) => one !== "");
      expect(kept.join(", ")).toBe(chosen.join(", "));
    }
  });

  it("finds an agent by its name, and keeps what was chosen", async () => {
    const name = (await read(`/agents/${fair}`)).name;
    const asked = await open(
      `/compare?${new URLSearchParams([
        ["agents", good],
        ["agents", name],
      ]).toString()}`,
    );
    expect(asked.alerts).toEqual([expect.stringContaining(`“${name.trim()}” is no agent's id.`)]);
    const boxes = [...asked.html.matchAll(/<input type="checkbox" id="([^"]+)"[^>]*?( checked[^>]*)?\/?>/g)];
    expect(boxes.slice(0, 2).map(([, id, checked]) => [id, checked !== undefined])).toEqual([
      [good, true],
      [fair, false],
    ]);
  });

  it("says at its field what each name found, and keeps what was typed and has no box to tick", async () => {
    for (const [typed, words] of [
      ["Gamna, Delto", /^No agent has “Gamna” or “Delto” in its name\.$/],
      ["good", /^“good” is no agent's id\. If it is a name, tick which agent is meant\.$/],
      ["good, script", /^“good” and “script” are no agents' ids\. If they are names, tick which agents are meant\.$/],
      ["good, Gamna", /^No agent has “Gamna” in its name\. “good” is no agent's id\./],
      ["Aa1, Bb1, Cc1, Dd1", /^No agent .*“Cc1” in its name\. Only 3 names .* at once: not yet “Dd1”\.$/],
      [nobodys, new RegExp(`^There is no public agent with the id ${nobodys}: choose another one\\.$`)],
    ] as const) {
      const sent = [good, typed].map((value): [string, string] => ["agents", value]);
      const refused = await open(`/compare?${new URLSearchParams(sent).toString()}`);
      expect(refused.wrong).toEqual({ agents: expect.stringMatching(words) });
      expect(refused.alerts).toEqual([expect.stringContaining(`Another agent: ${refused.wrong["agents"]}`)]);
      expect(refused.forms.find(({ action }) => action === "/compare")?.sent).toEqual(sent);
    }
  });
});

describe("the catalogue", () => {
  it("lists every suite, and every task of one with how the field does at it", async () => {
    const { items: suites } = await read("/suites?page_size=100");
    const list = await open("/suites");
    expect(hrefs(list)).toEqual(expect.arrayContaining(suites.map(({ slug }: { slug: string }) => `/suites/${slug}`)));
    const field = await read(`/suites/${core.id}/field`);
    expect(field).toMatchObject({ agents: 2, items: [{ agents: 2 }, { agents: 2 }, { agents: 2 }] });
    const runs = [good, fair].map(async (id) => (await read(`/runs?agent_id=${id}`)).items);
    const all: { task_id: string; passed: boolean }[] = (await Promise.all(runs)).flat();
    const suite = await open("/suites/core");
    for (const { task_id, pass_rate } of field.items) {
      const own = all.filter((run) => run.task_id === task_id);
      expect(pass_rate).toBeCloseTo(own.filter(({ passed }) => passed).length / own.length, 9);
      expect(hrefs(suite)).toContain(`/tasks/${task_id}`);
      expect(text(await open(`/tasks/${task_id}`))).toContain(`They pass ${Math.round(100 * pass_rate)}% of them`);
    }
  });

  it("shows of a secret task that it is there, and nothing that it asks", async () => {
    const secret = await addSuite(service, 1, { slug: "kept-secret", secret: true, columns: { prompt: "Whisper 7." } });
    ahead += 60_000;
    const pages = await Promise.all(["/suites/kept-secret", `/tasks/${secret.tasks[0]}`].map(open));
    for (const page of pages) expect([page.status, page.html.includes("Whisper")]).toEqual([200, false]);
  });
});

describe("one's own agents", () => {
  it("are listed page by page, and those of workspaces are found from there", async () => {
    const many = await newUser(service);
    await service.sql(
      `insert into agents (user_id, name, connection_mode, created_at)
        select $1, 'Agent ' || n, 'mock', now() - n * interval '1 minute' from generate_series(0, 100) n`,
      [many.id],
    );
    const visitor = await visitorOf(service, many);
    const first = await visitor.open("/home");
    expect([first.html.includes(">Agent 99<"), first.html.includes(">Agent 100<")]).toEqual([true, false]);
    const second = await visitor.follow(first, "next");
    expect([second.html.includes(">Agent 99<"), second.html.includes(">Agent 100<")]).toEqual([false, true]);
    expect((await visitor.follow(second, "previous")).html).toContain(">Agent 99<");

    const member = await newUser(service);
    expect((await (await visitorOf(service, member)).open("/home")).html).toContain("Three steps");
    const lead = await newUser(service, { plan: "team" });
    const team = await addTeam(service, lead, { member });
    const home = await (await visitorOf(service, member)).open("/home");
    expect(home.html).not.toContain("Three steps");
    expect(home.links.map(({ href }) => href)).toContain(`/workspaces/${team}`);
  });

  it("are told apart by what keeps each from a rank and a certificate, with the days of its score", async () => {
    const [bare, mock] = [
      await addAgent(owner, { name: "Bare", endpoint: endpoint.url }),
      await addAgent(owner, { name: "Mock", connection_mode: "mock" }),
    ];
    endpoint.answer = () => json(500, {});
    await owner.call("POST", `/api/v1/agents/${bare}/readiness/check`);
    const visitor = await visitorOf(service, owner);
    const home = await visitor.open("/home");
    expect([...home.html.matchAll(/<section aria-labelledby="standing-([^"]+)"/g)].map(([, id]) => id)).toEqual([
      mock,
      bare,
      hidden,
    ]);
    const checks = async (id: string) => {
      const page = await visitor.open(`/home?agent=${id}`);
      return [...page.html.matchAll(/<li(?: class="met")?><span class="unseen">([^]*?)<\/li>/g)].map(([, inner = ""]) =>
        inner.replaceAll(/<[^>]*>/g, "").replaceAll(/\s+/g, " "),
      );
    };
    const certifiable = expect.stringContaining("Done: It can be certified, for 39.00 USD, ");
    const missing = "a rank takes one of each of the 3 core tasks that is neither private nor simulated. Screen it.";
    expect(await checks(good)).toEqual([
      "Done: It has an endpoint to call.",
      "Done: It has counted runs of each of the 3 core tasks.",
      "Done: Everybody sees it.",
      certifiable,
    ]);
    expect(await checks(hidden)).toEqual([
      "Done: It has an endpoint to call.",
      "Done: It has counted runs of each of the 3 core tasks.",
      "Open: It is private: show it to everybody.",
      certifiable,
    ]);
    expect(await checks(bare)).toEqual([
      "Done: It has an endpoint to call.",
      "Open: Its endpoint failed when it was last called. The agent answered with an error instead of an answer. Check it.",
      `Open: No run of it counts yet: ${missing}`,
      "Done: Everybody sees it.",
      expect.stringContaining("Open: A score of 70: no run of it counts yet. Certify it, for 39.00 USD, "),
    ]);
    expect((await checks(fair)).at(-1)).toContain("Open: A score of 70: so far it has ");
    expect(await checks(mock)).toEqual([
      "Open: It has no endpoint to call: connect it.",
      `Open: No run of it counts yet: ${missing}`,
      "Done: Everybody sees it.",
      "Open: It has no endpoint to call.",
    ]);
    const past = new Date(Date.now() + ahead - 5 * 86_400_000).toISOString().slice(0, 10);
    await service.sql(
      "insert into board_days (day, closed_at, sha256, published_at) values ($1, now(), repeat('a', 64), now())",
      [past],
    );
    await service.sql(
      `insert into board_scores (agent_id, day, tier, composite_score, score_low, score_high, runs, tasks, is_ranked)
       values ($1, $2, 0, 12.25, 10.5, 14.75, 1, 1, false)`,
      [good, past],
    );
    const shown = await visitor.open(`/home?agent=${good}`);
    const { items } = await read(`/agents/${good}/history?period=30d`);
    expect(items).toHaveLength(2);
    for (const { day, composite_score: value } of items) expect(text(shown)).toContain(`${day} ${value.toFixed(2)}`);
    const { rank } = await read(`/agents/${good}`);
    expect(text(shown)).toContain(`Ranked ${rank}`);
  });
});
