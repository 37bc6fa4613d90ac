import { type Browser, type BrowserContext, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasBrowser, noteFaults, startBrowser } from "../../stack/browser.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { visitorOf } from "../../stack/visitor.ts";

const PATH = "/settings/passkeys";

let service: TestService;
let browser: Browser;
let faults: string[] = [];

beforeAll(async () => {
  // Browsers have passkeys for names alone.
  service = await startService({ host: "localhost" });
  if (hasBrowser) browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  await service.stop();
});

/** A browser with an authenticator of its own, which keeps passkeys and knows its owner. */
async function newBrowser(knowsOwner = true): Promise<{ page: Page; context: BrowserContext }> {
  const context = await browser.newContext();
  noteFaults(context, faults);
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: knowsOwner,
      automaticPresenceSimulation: true,
    },
  });
  return { page, context };
}

const signInAs = (context: BrowserContext, { token }: Pick<User, "token">) =>
  context.addCookies([{ name: "service_session", value: token, url: service.url }]);

describe.skipIf(!hasBrowser)("a passkey in a browser", () => {
  it("is added in the settings, signs in without a password to where the person wanted to go, and is removed", async () => {
    const user = await newUser(service);
    const { page, context } = await newBrowser();
    await signInAs(context, user);
    await page.goto(service.url + PATH);
    await page.getByLabel("Name").fill("Ada's laptop");
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByText("The passkey is added.").waitFor();
    // The browser sends the form again.
    await page.reload();
    await page.getByText("If the passkey is in the list below, it is added; else press the button again.").waitFor();
    // The same device is asked again: it says that it has one, and nothing is sent.
    await page.getByLabel("Name").fill("Again");
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByText("This device has a passkey for the account already.").waitFor();
    await context.clearCookies();
    await page.goto(`${service.url}/settings/sessions`);
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.waitForURL(`${service.url}/settings/sessions`);
    await page.goto(service.url + PATH);
    expect(await page.getByRole("row").nth(1).textContent()).toMatch(/^Ada's laptop.*20\d\d.*20\d\d/);
    await page.getByRole("button", { name: "Remove Ada's laptop" }).click();
    await page.getByText("It is removed, and signs in no more.").waitFor();
    await context.clearCookies();
    await page.goto(`${service.url}/sign-in`);
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.getByText("This passkey does not sign in to an account here.").waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  it("is not made by a device that does not know its owner, and the page says so", async () => {
    const user = await newUser(service);
    const { page, context } = await newBrowser(false);
    await signInAs(context, user);
    await page.goto(service.url + PATH);
    await page.getByLabel("Name").fill("Nobody's");
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByText("Nothing was done: it was cancelled, or took too long.").waitFor();
    expect((await user.call("GET", "/api/v1/users/me/passkeys")).body).toMatchObject({ items: [], total: 0 });
    expect(faults).toEqual([]);
    await context.close();
  });
});

describe("the page of passkeys without a script", () => {
  it("shows and removes them, says what adding one takes, and refuses a form that has none", async () => {
    const user = await newUser(service);
    const visitor = await visitorOf(service, user);
    const page = await visitor.open(PATH);
    expect(page.html).toContain("The device is asked by a script.");
    expect(page.html).toMatch(/<form[^>]* hidden/);
    const sent = await visitor.send(page, "Add a passkey", { name: "By hand" });
    expect([sent.status, sent.alerts.length]).toEqual([422, 1]);
    expect(sent.html).toContain('value="By hand"');
    const stranger = await visitorOf(service, await newUser(service));
    expect((await stranger.open("/sign-in")).html).toMatch(/<form[^>]*data-passkey="get" hidden/);
  });
});
