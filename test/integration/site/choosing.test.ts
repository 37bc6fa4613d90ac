import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasBrowser, startBrowser } from "../../stack/browser.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { type Page, type Visitor, visitorOf } from "../../stack/visitor.ts";
import { addAgent, addSuite } from "../runs/support.ts";

let service: TestService;
let owner: User;
let visitor: Visitor;
let teams: string[];

/** Agents that are older than all others: of so many newer ones, no form offers them before they are looked for. */
const OLD = ["Needle", "Needlework"] as const;
const MANY = 101;
/** The button that nobody sees: a browser presses the first of a form at Enter. */
const ENTER = "";
let old: string[];

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "team", verified: true });
  await addSuite(service, 1, { slug: "nightly" });
  teams = [];
  for (const name of ["Lab", "Works", "Yard"])
    teams.push((await owner.call("POST", "/api/v1/teams", { name })).body.id);
  old = [await addAgent(owner, { name: OLD[0] }), await addAgent(owner, { name: OLD[1], team_id: teams[0] })];
  visitor = await visitorOf(service, owner);
});
afterAll(() => service.stop());

const addMany = (name: string, team: string | null = null) =>
  service.sql(
    `insert into agents (user_id, team_id, name, connection_mode)
     select $1, $2, $3 || n, 'mock' from generate_series(1, ${MANY}) n`,
    [owner.id, team, name],
  );

/** What the select `name` of a page offers: the texts of its options, and the one that is chosen. */
function offered({ html }: Page, name: string): { texts: string[]; chosen: string | undefined } {
  const [, inner = ""] = new RegExp(`<select id="${name}"[^>]*>([^]*?)</select>`).exec(html) ?? [];
  const options = [...inner.matchAll(/<option value="([^"]*)"( selected="")?>([^<]*)</g)];
  return { texts: options.map(([, , , text = ""]) => text), chosen: options.find(([, , is]) => is !== undefined)?.[1] };
}

describe("a form that chooses among few agents", () => {
  it("offers all of them, by the names of their workspaces, at two requests however many there are of those", async () => {
    const form = await visitor.open("/settings/schedules");
    expect(offered(form, "agent_id").texts).toEqual(["Needle", "Needlework (Lab)"]);
    expect(form.html).not.toContain("Find an agent");
    const askedOf = async (one: Visitor) => {
      await service.settled();
      const before = service.counters.snapshot().db.requests;
      await one.open("/settings/webhooks");
      return service.counters.snapshot().db.requests - before;
    };
    const alone = await visitorOf(service, await newUser(service, { plan: "team", verified: true }));
    expect(await askedOf(visitor)).toBe(await askedOf(alone));
  });
});

describe("a form that chooses among many agents", () => {
  beforeAll(async () => {
    await addMany("Hay ");
    await addMany("Straw ", teams[0]);
  });

  it("finds one by its name, keeps what was typed, and goes on offering it where it is refused", async () => {
    const form = await visitor.open("/settings/schedules");
    expect(offered(form, "agent_id").texts).toHaveLength(100);
    const typed = { cron: "0 7 * * *", timezone: "Mars/Base", find: "needle" };
    const several = await visitor.send(form, "Find", typed);
    expect([several.status, several.wrong]).toEqual([200, {}]);
    expect(several.alerts).toEqual(["2 agents have “needle” in their names."]);
    expect(offered(several, "agent_id").texts).toEqual(["Needle", "Needlework (Lab)"]);
    const kept = several.forms.find(({ buttons }) => "Find" in buttons)?.fields;
    expect(kept).toMatchObject(typed);

    // What is typed to look for another one does not take away what was chosen.
    const chosen = { agent_id: old[1] ?? "", find: "hay" };
    const refused = await visitor.send(several, "Make the schedule", chosen);
    expect([refused.status, Object.keys(refused.wrong)]).toEqual([422, ["timezone"]]);
    expect(offered(refused, "agent_id").chosen).toBe(old[1]);
    const made = await visitor.send(refused, "Make the schedule", { timezone: "UTC" });
    expect(made.alerts).toEqual(["The schedule is made."]);
    const { items } = (await owner.call("GET", "/api/v1/screening-schedules")).body as unknown as { items: object[] };
    expect(items).toEqual([expect.objectContaining({ agent_id: old[1], agent_name: "Needlework", cron: "0 7 * * *" })]);
    // The list names it, though the form does not offer it.
    const list = await visitor.open("/settings/schedules");
    expect(offered(list, "agent_id").texts).not.toContain("Needlework (Lab)");
    expect(list.html).toContain(`<a href="/agents/${old[1]}"><bdi>Needlework</bdi></a>`);
  });

  it("takes Enter for the form's own button, but where another agent is looked for", async () => {
    const typed = { cron: "0 9 * * *", timezone: "UTC" };
    const form = await visitor.open("/settings/schedules");
    const found = await visitor.send(form, ENTER, { ...typed, find: " needle " });
    expect(found.alerts).toEqual(["2 agents have “needle” in their names."]);
    const made = await visitor.send(found, ENTER, { agent_id: old[0] ?? "" });
    expect(made.alerts).toEqual(["The schedule is made."]);
    const { items } = (await owner.call("GET", "/api/v1/screening-schedules")).body;
    expect(items).toContainEqual(expect.objectContaining({ agent_id: old[0], ...typed }));
  });

  it.skipIf(!hasBrowser)("is sent so by a browser, from any of its fields", async () => {
    const browser = await startBrowser();
    try {
      const context = await browser.newContext();
      await context.addCookies([{ name: "service_session", value: owner.token, url: service.url }]);
      const page = await context.newPage();
      await page.goto(`${service.url}/settings/schedules`);
      await page.getByLabel("Find an agent by its name").fill("needlework");
      await page.keyboard.press("Enter");
      await expect.poll(() => page.getByRole("alert").textContent()).toBe("One agent has “needlework” in its name.");
      await page.getByLabel("When").fill("30 9 * * *");
      await page.keyboard.press("Enter");
      await expect.poll(() => page.getByRole("alert").textContent()).toBe("The schedule is made.");
    } finally {
      await browser.close();
    }
  });

  it.each([
    ["webhook", () => "/settings/webhooks", "agent_id"],
    ["variant", () => `/agents/${old[0]}/edit`, "variant_of"],
    ["move to a workspace", () => `/workspaces/${teams[1]}`, "agent_id"],
  ])("chooses the only one that it finds, and says where there is none: a %s", async (_what, path, name) => {
    const form = await visitor.open(path());
    const none = await visitor.send(form, "Find", { find: "nobody" });
    expect(none.alerts).toEqual(["No agent has “nobody” in its name."]);
    const one = await visitor.send(none, "Find", { find: "HAY 42" });
    expect(one.alerts).toEqual(["One agent has “HAY 42” in its name."]);
    const [{ id }] = (await service.sql("select id from agents where name = 'Hay 42'")) as [{ id: string }];
    expect(offered(one, name).chosen).toBe(id);
  });
});

describe("a workspace with many agents", () => {
  it("lists them in pages", async () => {
    const first = await visitor.open(`/workspaces/${teams[0]}`);
    const second = await visitor.follow(first, "next");
    const back = await visitor.follow(second, "previous");
    const listing = (name: string) => [first, second, back].map(({ links }) => links.some(({ text }) => text === name));
    expect(listing("Needlework")).toEqual([false, true, false]);
    expect(listing("Straw 101")).toEqual([true, false, true]);
  });
});
