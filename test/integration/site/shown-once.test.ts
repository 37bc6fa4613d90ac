import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContext, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeAt, stepAt } from "../../../shared/identity/second-factor/totp.ts";
import { hasBrowser, noteFaults, startBrowser } from "../../stack/browser.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, startAgent } from "../runs/support.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const NARROW = { width: 320, height: 640 };

let service: TestService;
let endpoint: Consumer;
let browser: Browser;
/** Where each secret is made, by which button, and what it is like. */
let places: [what: string, path: string, button: string | RegExp, field: string, like: RegExp][];
let token: string;

beforeAll(async () => {
  if (!hasBrowser) return;
  [service, endpoint, browser] = await Promise.all([startService(), startAgent(), startBrowser()]);
  const user = await newUser(service, { plan: "team", verified: true });
  token = user.token;
  const agent = await addAgent(user, { endpoint: endpoint.url });
  const { body: team } = await user.call("POST", "/api/v1/teams", { name: "Keepers" });
  const hook = { url: endpoint.url, event_types: ["run.completed"] };
  const { body: webhook } = await user.call("POST", "/api/v1/webhooks", hook);
  places = [
    ["an API key", "/settings/api-keys", "Make the key", "The key", /^\S{30,}$/],
    ["a workspace's API key", `/workspaces/${team.id}/api-keys`, "Make the key", "The key", /^\S{30,}$/],
    ["a webhook's first secret", "/settings/webhooks", "Make the webhook", "The secret", /^whsec_\S+$/],
    [
      "a webhook's next secret",
      `/settings/webhooks/${webhook.id}`,
      /(Make|Replace) (a|the) secret/,
      "The secret",
      /^whsec_\S+$/,
    ],
    [
      "a token for telemetry",
      `/agents/${agent}/edit`,
      /(Make|Replace) (a|the) token/,
      "Settings of the exporter",
      /^OTEL_EXPORTER_OTLP_PROTOCOL=http\/protobuf\n[^]*Bearer%20otlp_/,
    ],
  ];
});

afterAll(async () => {
  await browser?.close();
  await service?.stop();
  await endpoint?.stop();
});

const faults: string[] = [];

async function contextOf(options: Parameters<Browser["newContext"]>[0], session = token): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: NARROW, ...options });
  await context.addCookies([{ name: "service_session", value: session, url: service.url }]);
  noteFaults(context, faults);
  return context;
}

/** What axe finds in the page, and how far it is wider than the window. */
async function barriers(page: Page): Promise<unknown[]> {
  await page.evaluate(AXE);
  return page.evaluate<unknown[]>(
    `axe.run(document, { resultTypes: ["violations"], elementRef: false }).then(({ violations }) => [
      ...violations.map(({ id }) => id), document.documentElement.scrollWidth - document.documentElement.clientWidth])`,
  );
}

/** No two keys of an account have one name. */
let keys = 0;

/** Makes one of the secrets. */
async function made(page: Page, [, path, button]: (typeof places)[number]): Promise<void> {
  await page.goto(service.url + path);
  if (button === "Make the key") await page.getByLabel("Name").fill(`Kept ${(keys += 1)}`);
  if (button === "Make the webhook") await page.getByLabel("URL").fill(endpoint.url);
  await page.getByRole("button", { name: button }).click();
}

describe.skipIf(!hasBrowser)("a secret that is shown once", () => {
  it("is copied by a button, wherever it is shown, and overflows nowhere", async () => {
    const context = await contextOf({ permissions: ["clipboard-read", "clipboard-write"] });
    const page = await context.newPage();
    for (const place of places) {
      const [what, , , label, like] = place;
      await made(page, place);
      const field = page.getByLabel(label);
      const text = await field.inputValue();
      await page.getByRole("button", { name: "Copy" }).click();
      await page.getByText("Copied.").waitFor();
      expect([what, await page.evaluate("navigator.clipboard.readText()")]).toEqual([what, text]);
      expect([what, text]).toEqual([what, expect.stringMatching(like)]);
      expect([what, await barriers(page)]).toEqual([what, [0]]);
    }
    expect(faults).toEqual([]);
    await context.close();
  }, 60_000);

  it("is selected as a whole by the keyboard where no script runs, and no button is in the way", async () => {
    const context = await contextOf({ javaScriptEnabled: false });
    const page = await context.newPage();
    for (const place of places) {
      await made(page, place);
      const field = page.getByLabel(place[3]);
      await field.press("Control+a");
      const selected =
        "((field) => field.value.slice(field.selectionStart, field.selectionEnd))(document.activeElement)";
      expect(await page.evaluate<string>(selected)).toBe(await field.inputValue());
      expect(await page.getByRole("button", { name: "Copy" }).count()).toBe(0);
    }
    await context.close();
  }, 60_000);
});

describe.skipIf(!hasBrowser)("an authenticator app", () => {
  it("is set up without a barrier that axe finds, and its recovery codes are copied by a button", async () => {
    const other = await newUser(service);
    const context = await contextOf({ permissions: ["clipboard-read", "clipboard-write"] }, other.token);
    const page = await context.newPage();
    await page.goto(`${service.url}/settings/second-factor`);
    await page.getByRole("button", { name: "Set up an app" }).click();
    const secret = (await page.getByLabel("Secret", { exact: true }).inputValue()).replaceAll(" ", "");
    expect(await barriers(page)).toEqual([0]);
    await page.getByLabel("Code", { exact: true }).fill(codeAt(secret, stepAt(new Date())));
    await page.getByRole("button", { name: "Turn it on" }).click();
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByText("Copied.").waitFor();
    const codes = await page.getByLabel("Recovery codes").inputValue();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(codes);
    expect([await barriers(page), faults]).toEqual([[0], []]);
    await context.close();
  });
});
