import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasBrowser, startBrowser } from "../../stack/browser.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, startAgent } from "../runs/support.ts";

const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 360, height: 640 };

let service: TestService;
let endpoint: Consumer;
let browser: Browser;
let owner: User;
let agent: string;

beforeAll(async () => {
  if (!hasBrowser) return;
  [service, endpoint, browser] = await Promise.all([startService(), startAgent(), startBrowser()]);
  owner = await newUser(service, { plan: "team" });
  agent = await addAgent(owner, { name: "W".repeat(60), endpoint: endpoint.url });
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  await endpoint?.stop();
});

/** The owner's browser with a window of this size. */
async function open(path: string, viewport: typeof WIDE): Promise<Page> {
  const context = await browser.newContext({ viewport });
  await context.addCookies([{ name: "service_session", value: owner.token, url: service.url }]);
  const page = await context.newPage();
  await page.goto(service.url + path);
  return page;
}

/** The luminance of a colour of three channels, 0 to 255, as WCAG has it. */
const luminance = (channels: readonly string[] = []): number =>
  channels
    .map((channel) => Number(channel) / 255)
    .map((share) => (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4))
    .reduce((sum, light, at) => sum + light * ([0.2126, 0.7152, 0.0722][at] ?? 0), 0);

/** How much two colours differ, 1 to 21: what is drawn has to differ by 3. */
function contrast(...colours: (readonly string[] | undefined)[]): number {
  const [dark = 0, light = 0] = colours.map(luminance).toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** The controls of which each lies over another one, so that who means the one may hit the other. */
const covered = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    const all = [...document.querySelectorAll("button, select")].map((one) => [one, one.getBoundingClientRect()]);
    return all.flatMap(([one, a], place) => all.slice(place + 1).flatMap(([other, b]) =>
      Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1
        ? [one.ariaLabel + " and " + other.ariaLabel] : []));
  })()`);

describe.skipIf(!hasBrowser)("a page as it is drawn", () => {
  it.each([WIDE, NARROW])(
    "has no button over another one: who sets a role removes nobody, $width wide",
    async (size) => {
      const team = (await owner.call("POST", "/api/v1/teams", { name: "Drawn" })).body.id;
      const mate = await newUser(service);
      await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, 'viewer')", [team, mate.id]);
      const page = await open(`/workspaces/${team}`, size);
      await page.getByRole("button", { name: `Remove ${mate.email}` }).waitFor();
      expect(await covered(page)).toEqual([]);
      await page.context().close();
    },
  );

  it("has every button of a table within the window, and beside it what the rest of its row is of", async () => {
    const suite = await addSuite(service, 1);
    const team = (await owner.call("POST", "/api/v1/teams", { name: "Buttons" })).body.id;
    await owner.call("POST", `/api/v1/teams/${team}/invitations`, { email: "somebody@example.test", role: "member" });
    await owner.call("POST", "/api/v1/api-keys", { name: "Key", scope: "full" });
    const due = { agent_id: agent, suite_id: suite.id, cron: "0 6 * * 1-5", timezone: "Europe/Berlin", repeats: 2 };
    expect((await owner.call("POST", "/api/v1/screening-schedules", due)).status).toBe(201);
    const sent = { url: endpoint.url, event_types: ["run.completed"] };
    const webhook = (await owner.call("POST", "/api/v1/webhooks", sent)).body.id;
    await owner.call("POST", `/api/v1/webhooks/${webhook}/test`);
    const beyond = `[document.documentElement, ...document.querySelectorAll(".scroll :is(button, a)")]
      .filter((one) => one.getBoundingClientRect().right > innerWidth || one.scrollWidth > innerWidth).map((one) => one.ariaLabel)`;
    const found: Record<string, unknown> = {};
    const page = await open("/home", WIDE);
    const paths = ["/home", "/settings/schedules", "/settings/api-keys", `/settings/webhooks/${webhook}`];
    for (const path of [...paths, `/workspaces/${team}`, "/settings/sessions"]) {
      await page.goto(service.url + path);
      for (const width of [320, 640, 960, 1280]) {
        await page.setViewportSize({ width, height: 640 });
        const one = await page.evaluate<string[]>(beyond);
        if (one.length > 0) found[`${path}, ${width}`] = one;
      }
    }
    expect(found).toEqual({});
    await page.goto(`${service.url}/settings/schedules`);
    await page.setViewportSize(NARROW);
    const before = `[...document.querySelectorAll("tbody td")]
      .map((one) => getComputedStyle(one, "::before").content)`;
    expect(await page.evaluate(before)).toEqual([
      ...["Screens", "When", "Next", "Last"].map((heading) => `"${heading}: "`),
      "none",
      "none",
    ]);
    await page.setViewportSize(WIDE);
    expect(await page.getByRole("columnheader").allTextContents()).toEqual([
      "Screens",
      "When",
      "Next",
      "Last",
      "Do",
      "End",
    ]);
    await page.context().close();
  });

  it("holds what a canary's run says of itself on a phone", async () => {
    const suite = await addSuite(service, 1, { slug: "drawn" });
    const runs = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id });
    await service.settled();
    await service.sql("update runs set canary = true where id = $1", [runs.body[0].id]);
    const page = await open(`/runs/${runs.body[0].id}`, NARROW);
    await page.getByText("asked the published sample").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(NARROW.width);
    await page.context().close();
  });

  it.each(["light", "dark"] as const)(
    "draws the bars of a timeline apart from the page, in the %s",
    async (colorScheme) => {
      const suite = await addSuite(service, 1);
      const runs = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id });
      await service.settled();
      const page = await open(`/runs/${runs.body[0].id}`, WIDE);
      await page.emulateMedia({ colorScheme });
      const [bar, ground] = await page.evaluate<string[][]>(
        `[getComputedStyle(document.querySelector("svg.box rect.value")).fill, getComputedStyle(document.body).backgroundColor]
        .map((colour) => colour.match(/\\d+/g))`,
      );
      expect(contrast(bar, ground)).toBeGreaterThan(3);
      await page.context().close();
    },
  );

  it("shows every column of the numbers behind a chart where there is room for them", async () => {
    const page = await open("/design", WIDE);
    const [shown, cut] = await page.evaluate<[number, string[]]>(`(() => {
      const all = [...document.querySelectorAll(".chart .scroll")].filter((one) => one.checkVisibility());
      return [all.length, all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel)];
    })()`);
    expect([shown > 0, cut]).toEqual([true, []]);
    await page.context().close();
  });

  it("prints every column of a table that is wider than the paper", async () => {
    const page = await open("/scorecards", { width: 500, height: 800 });
    const hidden = `[...document.querySelectorAll(".scroll")].filter((one) =>
      one.scrollWidth > one.clientWidth && getComputedStyle(one).overflowX !== "visible").map((one) => one.ariaLabel)`;
    expect(await page.evaluate(hidden)).toEqual(["Scorecards"]);
    await page.emulateMedia({ media: "print" });
    expect(await page.evaluate(hidden)).toEqual([]);
    await page.context().close();
  });

  it("draws bars in the reader's own colours, the score apart from its interval, and that from the ground", async () => {
    const page = await open("/design", NARROW);
    const fills = () =>
      page.evaluate<string[]>(
        `[".track", ".range", ".range + .value"].map((one) => getComputedStyle(document.querySelector(one)).fill)`,
      );
    const own = await fills();
    await page.emulateMedia({ forcedColors: "active" });
    const forced = await fills();
    expect(forced.filter((fill, index) => fill === own[index])).toEqual([]);
    // A system's text on a highlight may well have the colour of its ground.
    const [track, range, value] = forced;
    expect([range === track, value === range]).toEqual([false, false]);
    await page.context().close();
  });

  it("tells in the reader's own colours what is done, and which page is shown", async () => {
    const page = await open("/design", NARROW);
    await page.emulateMedia({ forcedColors: "active" });
    const drawn = async (selector: string) => {
      const { x = 0, y = 0 } = (await page.locator(selector).boundingBox()) ?? {};
      return (await page.screenshot({ clip: { x, y, width: 20, height: 24 }, fullPage: true })).toString("base64");
    };
    expect(await drawn(".checks .met")).not.toBe(await drawn(".checks li:not(.met)"));
    await page.goto(`${service.url}/settings`);
    const ground = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector("main nav a${selector}")).backgroundColor`);
    expect(await ground("[aria-current]")).not.toBe(await ground(":not([aria-current])"));
    await page.context().close();
  });
});
