import { existsSync } from "node:fs";
import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, PASSWORD } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, KEY, startAgent, type TestSuite } from "../runs/support.ts";

/** Debian's browser, or the one that `CHROMIUM` names. */
const BROWSER = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const found = existsSync(BROWSER);
if (!found)
  console.warn(`The pages were not tried in a browser: there is none at ${BROWSER} (apt-get install chromium).`);

const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 360, height: 740 };
/** A name without a place to break a line, from right to left, and one of the longest. */
const NAMES = ["ا".repeat(120), "W".repeat(120)];

let service: TestService;
let endpoint: Consumer;
let suite: TestSuite;
let browser: Browser;
let paths: Record<string, string>;
let cookies: { name: string; value: string; url: string }[];

beforeAll(async () => {
  if (!found) return;
  service = await startService();
  endpoint = await startAgent();
  suite = await addSuite(service, 3, { slug: "three" });
  browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox", "--disable-gpu"] });
  const user = await newUser(service, { plan: "team", verified: true });
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
  await service.settled();
  cookies = [{ name: "service_session", value: user.token, url: service.url }];
  const session = runs.body[0].screening_session_id;
  paths = {
    board: "/",
    agent: `/agents/${agents[0]}`,
    "another agent": `/agents/${agents[1]}`,
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
    "new agent": "/agents/new",
    edit: `/agents/${agents[1]}/edit`,
    screen: `/agents/${agents[0]}/screen`,
    session: `/sessions/${session}`,
    run: `/runs/${runs.body[0].id}`,
    verify: "/verify",
    log: "/log",
    settings: "/settings",
    password: "/settings/password",
    sessions: "/settings/sessions",
    keys: "/settings/api-keys",
    webhooks: "/settings/webhooks",
    webhook: `/settings/webhooks/${webhook.body.id}`,
    schedules: "/settings/schedules",
    workspaces: "/workspaces",
    workspace: `/workspaces/${team.body.id}`,
    scorecards: "/scorecards",
    scorecard: "/scorecards/01a19467-e800-7000-8000-000000000001",
    plan: "/settings/plan?checkout=done",
    seller: "/marketplace/seller?onboarding=refresh",
    reference: "/docs",
    operations: "/docs/runs",
    guides: "/docs/guides",
    guide: "/docs/guides/run-it-yourself",
    marketplace: "/marketplace",
    nothing: "/nothing/at/all",
  };
});

afterAll(async () => {
  await browser?.close();
  await service?.stop();
  await endpoint?.stop();
});

/** What a page did that its policy forbids, and what failed in it. */
const faults: string[] = [];

async function contextOf(options: Parameters<Browser["newContext"]>[0], signedIn = true): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  if (signedIn) await context.addCookies(cookies);
  context.on("console", (message) => {
    if (message.type() === "error" && !/status of 4\d\d/.test(message.text())) faults.push(message.text());
  });
  context.on("weberror", (error) => void faults.push(String(error.error())));
  return context;
}

/** How far a page is wider than the window. */
const overflow = (page: Page): Promise<number> =>
  page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");

/** Axe, in this page alone: it opens no other one to put its findings together. */
async function barriers(page: Page, rules?: string[]): Promise<string[]> {
  const axe = new AxeBuilder({ page }).setLegacyMode();
  const { violations } = await (rules === undefined ? axe : axe.withRules(rules)).analyze();
  return violations.map(({ id, nodes }) => `${id} at ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
}

describe.skipIf(!found)("every page in a browser", () => {
  // Where light and dark differ is in the contrast, and every colour that there is stands on these pages.
  it.each([
    ["light, narrow", "light", NARROW, undefined, null],
    [
      "dark, wide",
      "dark",
      WIDE,
      ["color-contrast"],
      [
        "board",
        "agent",
        "design",
        "compare",
        "suite",
        "status",
        "session",
        "run",
        "log",
        "deletion",
        "keys",
        "code host's refusal",
      ],
    ],
  ] as const)(
    "has no barrier that axe finds, overflows nowhere and keeps to its policy: %s",
    async (_what, colorScheme, viewport, rules, some) => {
      const context = await contextOf({ colorScheme, viewport });
      const page = await context.newPage();
      const findings: string[] = [];
      for (const [name, path] of Object.entries(paths)) {
        await page.goto(service.url + path);
        const checked = some === null || some.some((one) => one === name);
        const barred = checked ? await barriers(page, rules === undefined ? undefined : [...rules]) : [];
        const wide = await overflow(page);
        findings.push(
          ...barred.map((one) => `${name}: ${one}`),
          ...(wide > 0 ? [`${name}: ${wide} pixels too wide`] : []),
        );
      }
      expect(findings).toEqual([]);
      expect(faults).toEqual([]);
      await context.close();
    },
  );

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

describe.skipIf(!found)("a screening in a browser", () => {
  it("shows its progress without being asked, by script", async () => {
    const context = await contextOf({ viewport: WIDE }, false);
    const page = await context.newPage();
    await page.goto(`${service.url}/sign-up`);
    await page.getByLabel("Email address").fill("watcher@example.test");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create the account" }).click();
    await page.getByRole("link", { name: "Connect an agent" }).click();
    await page.getByLabel("Name").fill("Watched");
    await page.locator("#endpoint").fill(endpoint.url);
    await page.getByRole("button", { name: "Connect the agent" }).click();
    await page.locator("#suite_id").selectOption(suite.id);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    endpoint.answer = async () => {
      await held;
      return json(200, { output: KEY });
    };
    await page.getByRole("button", { name: "Start the screening" }).click();
    await page.getByText("0 of 3 runs have ended").waitFor();
    release();
    await page.getByText("Done: 3 of 3 runs have ended, 3 passed").waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });
});
