import { type Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasBrowser, startBrowser } from "../../stack/browser.ts";
import { newUser, PASSWORD, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { visitorOf } from "../../stack/visitor.ts";

let service: TestService;
let owner: User;
let browser: Browser;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "team" });
  if (hasBrowser) browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  await service.stop();
});

describe.skipIf(!hasBrowser)("a form that was refused", () => {
  it.each([true, false])(
    "has the focus at what is wrong, a key away from the field, with script or not: %s",
    async (javaScriptEnabled) => {
      const context = await browser.newContext({ javaScriptEnabled });
      await context.addCookies([{ name: "service_session", value: owner.token, url: service.url }]);
      const page = await context.newPage();
      await page.goto(`${service.url}/agents/new`);
      await page.getByLabel("Name").fill("Ada");
      await page.getByLabel("Endpoint").first().fill("https://10.0.0.1/run");
      await page.getByRole("button", { name: "Connect the agent" }).click();
      expect(await page.evaluate("document.activeElement.textContent")).toMatch(/^That did not work\. Endpoint: /);
      expect(await page.evaluate("document.activeElement.getAttribute('role')")).toBe("alert");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      expect(await page.evaluate("document.activeElement.id")).toBe("endpoint");
      await context.close();
    },
  );
});

describe("a form of a page that was left open", () => {
  it("changes nothing of another account that the browser has come to be signed in to", async () => {
    const [first, second] = [await newUser(service), await newUser(service)];
    const visitor = await visitorOf(service, first);
    const [settings, keys, ended] = [
      await visitor.open("/settings"),
      await visitor.open("/settings/api-keys"),
      await visitor.open("/settings/deletion"),
    ];
    const program = (await first.call("POST", "/api/v1/auth/device", { client_name: "laptop" })).body;
    const device = await visitor.open(`/device?user_code=${program.user_code}`);
    await visitor.send(settings, "Sign out");
    const kept = await visitor.send(settings, "Save", { username: "first" });
    expect([kept.status, kept.heading]).toEqual([401, "Your session has ended"]);
    const inAs = async ({ email }: User) =>
      visitor.send(await visitor.open("/sign-in"), "Sign in", { email, password: PASSWORD });
    await inAs(second);
    for (const [page, button, typed] of [
      [settings, "Save", { username: "first" }],
      [kept, "Send it again", {}],
      [keys, "Make the key", { name: "of the first" }],
      [ended, "Delete the account in 14 days", { password: PASSWORD }],
      [device, "Allow", {}],
    ] as const) {
      const refused = await visitor.send(page, button, typed);
      expect([button, refused.status, refused.html]).toEqual([
        button,
        403,
        expect.stringContaining("from another account than the one you are signed in to now"),
      ]);
    }
    const me = (await second.call("GET", "/api/v1/auth/me")).body;
    expect([me.username, me.deletion_scheduled_for]).toEqual([null, null]);
    expect((await second.call("GET", "/api/v1/api-keys")).body.total).toBe(0);
    // Back in the account that it was shown to, the form counts; and whoever leaves, leaves.
    await inAs(first);
    expect((await visitor.send(kept, "Send it again")).alerts).toEqual(["Saved."]);
    await inAs(second);
    await visitor.send(keys, "Sign out");
    expect(visitor.cookies()).not.toHaveProperty("service_session");
  });
});
