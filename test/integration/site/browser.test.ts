import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";
import { type Browser, type BrowserContext, type Page, type Response } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasBrowser, noteFaults, startBrowser } from "../../stack/browser.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, PASSWORD } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { linkOf } from "../../stack/mailbox.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newSubmission } from "../catalogue/submissions-support.ts";
import { addAgent, addSuite, KEY, startAgent, type TestSuite } from "../runs/support.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 320, height: 640 };
/** How every page is looked at; one thing changes at a time. */
const LOOKS = [
  ["light", NARROW],
  ["dark", NARROW],
  ["dark", WIDE],
  ["light", WIDE],
] as const;
/** A name without a place to break a line, from right to left, and one of the longest. */
const NAMES = ["ا".repeat(120), "W".repeat(120)];

let service: TestService;
let endpoint: Consumer;
let suite: TestSuite;
let browser: Browser;
let paths: Record<string, string>;
let cookies: { name: string; value: string; url: string }[];

beforeAll(async () => {
  if (!hasBrowser) return;
  service = await startService();
  endpoint = await startAgent();
  suite = await addSuite(service, 3, { slug: "three" });
  browser = await startBrowser();
  // An operator, to whom every page is shown.
  const user = await newUser(service, { email: "admin@example.test", plan: "team", verified: true });
  let asked = 0;
  endpoint.answer = () => json(200, { output: asked++ % 3 === 0 ? "41" : KEY });
  const agents = [];
  for (const name of NAMES)
    agents.push(await addAgent(user, { name, description: name.repeat(3), endpoint: endpoint.url }));
  const runs = await user.call("POST", "/api/v1/runs/batch", { agent_id: agents[0], suite_id: suite.id, repeats: 2 });
  await user.call("POST", "/api/v1/runs/batch", { agent_id: agents[1], suite_id: suite.id });
  await user.call("POST", "/api/v1/api-keys", { name: NAMES[1], scope: "read" });
  const team = await user.call("POST", "/api/v1/teams", { name: NAMES[1] });
  const webhook = await user.call("POST", "/api/v1/webhooks", { url: endpoint.url, event_types: ["run.completed"] });
  await user.call("POST", `/api/v1/webhooks/${webhook.body.id}/test`);
  const proposal = await newSubmission(user, { title: NAMES[0], rationale: NAMES[1] });
  const rival = await newUser(service);
  const open = await addAgent(rival, { name: NAMES[0], endpoint: endpoint.url, allow_trial: true });
  const [hired, sold] = [await sell(rival.id, open), await sell(user.id, agents[0] ?? "")];
  await service.settled();
  cookies = [{ name: "service_session", value: user.token, url: service.url }];
  const program = await user.call("POST", "/api/v1/auth/device", { client_name: "ada-laptop ".repeat(9) });
  paths = {
    board: "/",
    agent: `/agents/${agents[0]}`,
    "another agent": `/agents/${agents[1]}`,
    "an agent's runs": `/agents/${agents[0]}/runs`,
    "an agent's screenings": `/agents/${agents[0]}/screenings`,
    design: "/design",
    compare: `/compare?agents=${agents.join(",")}`,
    "what to compare": "/compare",
    suites: "/suites",
    suite: "/suites/three",
    task: `/tasks/${suite.tasks[0]}`,
    pricing: "/pricing",
    terms: "/terms",
    privacy: "/privacy",
    status: "/status",
    "sign in": "/sign-in",
    "sign up": "/sign-up",
    "forgot password": "/forgot-password",
    "reset password": "/reset-password?token=x",
    "verify email": "/verify-email?token=x",
    "code host's refusal": "/auth/callback?error=access_denied",
    invitation: "/accept-invitation?token=x",
    deletion: "/settings/deletion",
    home: "/home",
    operators: "/admin",
    proposal: `/admin/proposals?id=${proposal}`,
    "suites for operators": "/admin/suites",
    "a suite for operators": `/admin/suites/three?retire=${suite.tasks[0]}`,
    "new agent": "/agents/new",
    edit: `/agents/${agents[1]}/edit`,
    certify: `/agents/${agents[0]}/certify`,
    screen: `/agents/${agents[0]}/screen`,
    try: `/agents/${open}/try`,
    session: `/sessions/${runs.body[0].screening_session_id}`,
    run: `/runs/${runs.body[0].id}`,
    verify: "/verify",
    log: "/log",
    settings: "/settings",
    password: "/settings/password",
    email: "/settings/email",
    "a new address": "/confirm-email?token=x",
    passkeys: "/settings/passkeys",
    "second factor": "/settings/second-factor",
    sessions: "/settings/sessions",
    keys: "/settings/api-keys",
    "a program's code": "/device",
    "a program that asks": `/device?user_code=${program.body.user_code}`,
    webhooks: "/settings/webhooks",
    webhook: `/settings/webhooks/${webhook.body.id}`,
    schedules: "/settings/schedules",
    usage: "/settings/usage",
    workspaces: "/workspaces",
    workspace: `/workspaces/${team.body.id}`,
    "a workspace's keys": `/workspaces/${team.body.id}/api-keys`,
    scorecards: "/scorecards",
    scorecard: "/scorecards/01a19467-e800-7000-8000-000000000001",
    plan: "/settings/plan?checkout=done",
    seller: "/marketplace/seller?onboarding=refresh",
    reference: "/docs",
    operations: "/docs/runs",
    guides: "/docs/guides",
    guide: "/docs/guides/run-it-yourself",
    marketplace: "/marketplace",
    listing: `/marketplace/${hired}`,
    "own listing": `/marketplace/${sold}`,
    nothing: "/nothing/at/all",
  };
});

afterAll(async () => {
  await browser?.close();
  await service?.stop();
  await endpoint?.stop();
});

/** Puts an agent up for hire, whose seller can be paid, and has it bought; returns the listing. */
async function sell(seller: string, agent: string): Promise<string> {
  const [listing] = await service.sql<{ id: string }>(
    `with u as (update users set charges_enabled = true where id = $1),
       s as (insert into seller_accounts (user_id, account_id) values ($1, 'acct_' || $1)),
       l as (insert into listings (agent_id, seller_id, title, description, price_usd)
         values ($2, $1, $3, repeat($3, 10), 10000) returning id)
     insert into purchases (listing_id, agent_id, seller_id, agent_name, status, price_usd, fee_usd)
       select l.id, $2, $1, $3, 'COMPLETED', 10000, 1000 from l returning listing_id as id`,
    [seller, agent, NAMES[1]],
  );
  await service.sql(
    `insert into revenue (purchase_id, seller_id, gross_usd, fee_usd, net_usd)
      select id, seller_id, price_usd, fee_usd, price_usd - fee_usd from purchases where seller_id = $1`,
    [seller],
  );
  return listing?.id ?? "";
}

/** What a page did that its policy forbids, and what failed in it. */
const faults: string[] = [];

async function contextOf(options: Parameters<Browser["newContext"]>[0], signedIn = true): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  if (signedIn) await context.addCookies(cookies);
  noteFaults(context, faults);
  return context;
}

/** How far a page is wider than the window. */
const overflow = (page: Page): Promise<number> =>
  page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");

/** The most that a page, and the scripts that it brings, may take after compression, in bytes; and a page of the reference. */
const SIZES = { page: 40 * 1024, scripts: 15 * 1024, reference: 120 * 1024 };

/** What of a page and its scripts, which it loads now, is larger than it may be. */
async function oversize(page: Page, path: string): Promise<string[]> {
  let scripts = 0;
  const weigh = async (response: Response): Promise<void> => {
    if (response.request().resourceType() === "script") scripts += gzipSync(await response.body()).length;
  };
  const weighed: Promise<void>[] = [];
  const listener = (response: Response): void => void weighed.push(weigh(response));
  page.on("response", listener);
  const answer = await page.goto(service.url + path);
  const size = gzipSync((await answer?.body()) ?? "").length;
  await page.waitForLoadState();
  page.off("response", listener);
  await Promise.all(weighed);
  const most = path.startsWith("/docs") ? SIZES.reference : SIZES.page;
  return [
    ...(size > most ? [`${size} bytes`] : []),
    ...(scripts > SIZES.scripts ? [`${scripts} bytes of scripts`] : []),
  ];
}

/** The rules of axe that go by colours and sizes; all others judge the document, which is the same in every look. */
const DRAWN = ["color-contrast", "link-in-text-block", "scrollable-region-focusable"];

/** What axe finds in the page as it is drawn now, by these rules or by all; the page has to hold axe already. */
function barriers(page: Page, runOnly?: readonly string[]): Promise<string[]> {
  const options = JSON.stringify({ resultTypes: ["violations"], elementRef: false, runOnly });
  return page.evaluate<string[]>(
    `axe.run(document, ${options}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + " at " + nodes.map(({ target }) => target.join(" ")).join(", ")))`,
  );
}

describe.skipIf(!hasBrowser)("every page in a browser", () => {
  it("has no barrier that axe finds, overflows nowhere, light and dark, narrow and wide, keeps to its policy, and is small", async () => {
    const context = await contextOf({ colorScheme: "light", viewport: NARROW });
    const page = await context.newPage();
    const findings: string[] = [];
    for (const [name, path] of Object.entries(paths)) {
      const heavy = await oversize(page, path);
      findings.push(...heavy.map((one) => `${name}: ${one}`));
      await page.evaluate(AXE);
      // No page has a script that goes by either, so that it is the same as if it were loaded anew.
      for (const [index, [colorScheme, viewport]] of LOOKS.entries()) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        const [barred, wide] = [await barriers(page, index === 0 ? undefined : DRAWN), await overflow(page)];
        const look = `${name}, ${colorScheme}, ${viewport.width}`;
        findings.push(
          ...barred.map((one) => `${look}: ${one}`),
          ...(wide > 0 ? [`${look}: ${wide} pixels too wide`] : []),
        );
      }
    }
    expect(findings).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  }, 180_000);

  it.each([
    ["markup", "document.body.innerHTML = '<p>text</p>'"],
    ["a policy of its own", "trustedTypes.createPolicy('own', { createHTML: (text) => text })"],
  ])("lets no script make %s", async (_what, script) => {
    const [context, forbidden]: [BrowserContext, string[]] = [await browser.newContext(), []];
    noteFaults(context, forbidden);
    const page = await context.newPage();
    await page.goto(`${service.url}/pricing`);
    expect(await page.evaluate(`try { ${script}; "done" } catch ({ name }) { name }`)).toBe("TypeError");
    // What a page's policy forbids does not go unseen here, whatever the script makes of it.
    expect(forbidden).toEqual([expect.stringContaining("Trusted")]);
    await context.close();
  });

  it("is worked by the keyboard alone, and shows where it is", async () => {
    const context = await contextOf({ viewport: NARROW }, false);
    const page = await context.newPage();
    await page.goto(`${service.url}/sign-in`);
    const seen: string[] = [];
    for (let step = 0; step < 16; step += 1) {
      await page.keyboard.press("Tab");
      const [what, outline] = await page.evaluate<[string, string]>(
        "(({ id, textContent }) => [id || textContent.trim(), getComputedStyle(document.activeElement).outlineStyle])(document.activeElement)",
      );
      expect([what, outline]).toEqual([what, "solid"]);
      seen.push(what);
    }
    expect(seen).toEqual(expect.arrayContaining(["Skip to the content", "email", "password", "Sign in"]));
    await context.close();
  });
});

describe.skipIf(!hasBrowser)("a time", () => {
  it.each([
    ["the reader's clocks", true, "workspace"],
    ["UTC where no script runs", false, "workspace"],
    ["the clocks of a stranger", true, "status"],
  ])("is told by %s", async (_what, javaScriptEnabled, path) => {
    const context = await contextOf({ timezoneId: "Asia/Kathmandu", javaScriptEnabled }, path !== "status");
    const page = await context.newPage();
    await page.goto(`${service.url}${paths[path]}`);
    const time = page.locator("time", { hasText: /\d\d:\d\d/ }).first();
    const at = (await time.getAttribute("datetime")) ?? "";
    const minutes = (later: number) =>
      new Date(Date.parse(at) + later * 60_000).toISOString().slice(0, 16).replace("T", " ");
    const utc = `${minutes(0)} UTC`;
    await time.filter({ hasText: javaScriptEnabled ? `${minutes(345)} GMT+5:45` : utc }).waitFor();
    expect([await time.getAttribute("title"), faults]).toEqual([javaScriptEnabled ? utc : null, []]);
    await context.close();
  });
});

describe.skipIf(!hasBrowser)("a day", () => {
  it.each([
    ["the reader's clocks", true, "2026-03-02"],
    ["UTC where no script runs", false, "2026-03-01"],
  ])("is told by %s", async (_what, javaScriptEnabled, day) => {
    await service.sql("update api_keys set created_at = '2026-03-01T23:30:00Z'");
    const context = await contextOf({ timezoneId: "Asia/Kathmandu", javaScriptEnabled });
    const page = await context.newPage();
    await page.goto(`${service.url}${paths["keys"]}`);
    await page.locator("time", { hasText: day }).first().waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });
});

describe.skipIf(!hasBrowser)("a page that goes on changing", () => {
  it("shows the end while the focus is in what changes, and leaves focus, selection and place to the reader", async () => {
    const user = await newUser(service);
    const agent = await addAgent(user, { name: "Watched", endpoint: endpoint.url });
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    endpoint.answer = async () => {
      await held;
      return json(200, { output: "41" });
    };
    const runs = await user.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id });
    const context = await contextOf({ viewport: { width: 360, height: 300 } }, false);
    await context.addCookies([{ name: "service_session", value: user.token, url: service.url }]);
    const page = await context.newPage();
    await page.goto(`${service.url}/sessions/${runs.body[0].screening_session_id}`);
    await page.getByText("0 of 3 runs have ended").waitFor();
    await page.getByRole("link", { name: "Look again" }).focus();
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('#live dt'))");
    await page.evaluate("scrollTo(0, 120)");
    const place = () =>
      page.evaluate("[document.activeElement.textContent, String(getSelection()), document.documentElement.scrollTop]");
    const before = await place();
    expect(before).toEqual(["Look again", "Passed", 120]);
    release();
    await page.getByText("Done: 3 of 3 runs have ended, 0 passed").waitFor();
    await page.getByRole("heading", { name: "What did not pass, and why" }).waitFor();
    expect(await place()).toEqual(before);
    // It goes once the reader does; and the way on leads through what came in.
    await page.keyboard.press("Tab");
    await page.getByRole("link", { name: "Look again" }).waitFor({ state: "detached" });
    expect(await page.evaluate("document.querySelector('#live').contains(document.activeElement)")).toBe(true);
    expect(faults).toEqual([]);
    await context.close();
  });
});

describe.skipIf(!hasBrowser)("the way of a first-time owner", () => {
  it("leads from the sign-up to a badge in 18 clicks, and shows its progress without being asked", async () => {
    const context = await contextOf({ viewport: WIDE }, false);
    const page = await context.newPage();
    let clicks = 0;
    const click = async (role: "button" | "link", name: string | RegExp) => {
      await page.getByRole(role, { name }).first().click();
      clicks += 1;
    };
    const email = "first@example.test";
    await page.goto(service.url);
    await click("link", "My agents");
    await click("link", "Create one");
    await page.getByLabel("Email address").fill(email);
    await page.getByLabel("Password").fill(PASSWORD);
    await click("button", "Create the account");
    await page.getByText("Please confirm your email address").waitFor();

    await page.goto(linkOf(service.mailbox.list(email)[0]).href);
    clicks += 1;
    await click("button", "Confirm the address");
    await click("link", "Go to your agents");
    expect(await page.getByText("Please confirm your email address").count()).toBe(0);

    await click("link", "Connect an agent");
    await page.getByLabel("Name").fill("First");
    await page.locator("#endpoint").fill("http://127.0.0.1:9/");
    await page.getByLabel("Show it on the public board").uncheck();
    clicks += 1;
    await click("button", "Connect the agent");
    await page.getByText("The endpoint does not answer as it should.").waitFor();
    await page.locator("#endpoint").fill(endpoint.url);
    await click("button", "Try again and connect it");

    await page.locator("#suite_id").selectOption(suite.id);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let asked = 0;
    endpoint.answer = async () => {
      const output = asked++ === 0 ? "41" : KEY;
      await held;
      return json(200, { output });
    };
    await click("button", "Start the screening");
    await page.getByText("0 of 3 runs have ended").waitFor();
    release();
    await page.getByText("Done: 3 of 3 runs have ended, 2 passed").waitFor();

    await click("link", /^Run of /);
    await page.getByRole("heading", { name: "What was answered" }).waitFor();
    await page.goBack();
    clicks += 1;
    await click("button", "Run this task again");
    await page.getByText("Done: 1 of 1 run has ended, 1 passed").waitFor();

    await click("link", "show it to everybody");
    await click("button", "Show it to everybody");
    await click("link", "Its record");
    await page.getByAltText("The badge of this agent").waitFor();
    await page.getByText("The text to paste").click();
    clicks += 1;
    expect(clicks).toBe(18);
    expect(faults).toEqual([]);
    await context.close();
  });
});
