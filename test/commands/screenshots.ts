/**
 * `npm run screenshots`: starts the service on this machine, has three agents screened, and takes pictures of the main pages
 * in a browser, by day and by night: all into `.local/screenshots`, and those that the README shows into
 * `.github/screenshots`. CHROMIUM names the browser.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import * as z from "zod";
import { AgentRead } from "../../shared/agents/shown.ts";
import { DevUpgradeResponse } from "../../shared/billing/schemas.ts";
import { SuiteRead } from "../../shared/catalogue/shown.ts";
import { TokenResponse } from "../../shared/identity/shown.ts";
import { ScreeningSessionRead } from "../../shared/runs/sessions-shown.ts";
import { RunRead } from "../../shared/runs/shown.ts";
import { startFlaky } from "../agents/flaky.ts";
import { startSample } from "../agents/sample.ts";
import type { RunningAgent } from "../agents/server.ts";
import { startBrowser } from "../stack/browser.ts";
import { listen } from "../stack/http.ts";
import { type Stack, startStack } from "../stack/stack.ts";
import { type ApiClient, createClient, ensure } from "./demo/client.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const FOLDER = join(ROOT, ".local/screenshots");
const SHOWN = join(ROOT, ".github/screenshots");
const SIZE = { width: 1280, height: 860 };
const REPEATS = 2;
const LONGEST_MS = 180_000;
const POLL_MS = 1000;

async function freePort(): Promise<number> {
  const probe = await listen(() => ({ status: 204 }));
  await probe.close();
  return probe.port;
}

/** An agent that was screened, and by which session. */
interface Screened {
  agent: string;
  session: string;
  run: string;
}

/** Has an agent screened on the core suite, and waits for its score. */
async function screen(api: ApiClient, name: string, endpoint: string): Promise<Screened> {
  const suite = (await api.all("/api/v1/suites", SuiteRead)).find(({ slug }) => slug === "core");
  ensure(suite !== undefined, "The catalogue has no suite `core`.");
  const agent = await api.post("/api/v1/agents", { name, endpoint }, AgentRead);
  const batch = { agent_id: agent.id, suite_id: suite.id, repeats: REPEATS };
  const runs = await api.post("/api/v1/runs/batch", batch, z.array(RunRead));
  const session = runs[0]?.screening_session_id ?? "";
  for (const began = Date.now(); ; await delay(POLL_MS)) {
    const { finished_at } = await api.get(`/api/v1/screening-sessions/${session}`, ScreeningSessionRead);
    if (finished_at !== null) return { agent: agent.id, session, run: runs[0]?.id ?? "" };
    ensure(Date.now() - began < LONGEST_MS, `${name} is not screened after ${LONGEST_MS / 1000} s.`);
  }
}

/** The pages to take pictures of, by the name of the picture. */
function pagesOf([first, second, third]: readonly [Screened, Screened, Screened]): Record<string, string> {
  return {
    board: "/",
    agent: `/agents/${first.agent}`,
    compare: `/compare?agents=${[first, second, third].map(({ agent }) => agent).join(",")}`,
    session: `/sessions/${second.session}`,
    run: `/runs/${first.run}`,
    home: "/home",
    "new-agent": "/agents/new",
    suite: "/suites/core",
    verify: "/verify",
    log: "/log",
    pricing: "/pricing",
    reference: "/docs",
  };
}

/** Takes a picture of each page in the light and in the dark. */
async function take(browser: Browser, url: string, token: string, pages: Record<string, string>): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    const context = await browser.newContext({ viewport: SIZE, colorScheme });
    await context.addCookies([{ name: "service_session", value: token, url }]);
    for (const [name, path] of Object.entries(pages)) {
      const page = await context.newPage();
      await page.goto(url + path);
      await page.screenshot({ path: join(FOLDER, `${name}-${colorScheme}.png`) });
      if (colorScheme === "light" && IN_README.has(name)) await page.screenshot({ path: join(SHOWN, `${name}.png`) });
      await page.close();
    }
    await context.close();
  }
}

const IN_README = new Set(["board", "agent"]);

async function screenshots(stack: Stack, agents: RunningAgent[]): Promise<void> {
  const account = { email: "owner@example.test", password: crypto.randomUUID() };
  const { access_token: token } = await createClient(stack.url).post("/api/v1/auth/register", account, TokenResponse);
  const api = createClient(stack.url, token);
  await api.post("/api/v1/billing/checkout", { tier: "team", cadence: "monthly" }, DevUpgradeResponse);
  const start = async (starting: Promise<RunningAgent>): Promise<string> => {
    const agent = await starting;
    agents.push(agent);
    return agent.url;
  };
  const service = stack.url;
  const screened = [
    await screen(api, "Rules of thumb", await start(startSample({ service }))),
    await screen(api, "Rules of thumb, tired", await start(startFlaky({ service, slowMs: 100 }))),
    await screen(
      api,
      "Rules of thumb, careless",
      await start(startFlaky({ service, shares: { wrong: 0.7, error: 0, limited: 0, slow: 0 } })),
    ),
  ] as const;
  // The board follows within the minute.
  await stack.minute();
  const browser = await startBrowser();
  try {
    await take(browser, stack.url, token, pagesOf(screened));
  } finally {
    await browser.close();
  }
}

for (const folder of [FOLDER, SHOWN]) mkdirSync(folder, { recursive: true });
const dir = mkdtempSync(join(tmpdir(), "screenshots-"));
const stack = await startStack({ dir, port: await freePort(), consolePort: await freePort() });
const agents: RunningAgent[] = [];
try {
  await screenshots(stack, agents);
  console.log(`The pictures are in ${FOLDER}.`);
} finally {
  for (const agent of agents) await agent.close();
  await stack.stop();
  rmSync(dir, { recursive: true, force: true });
}
process.exit();
