import { type Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasBrowser, startBrowser } from "../../stack/browser.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";

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
