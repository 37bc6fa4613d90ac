import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasBrowser, noteFaults, startBrowser } from "../../stack/browser.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newVisitor } from "../../stack/visitor.ts";
import { deliverEvent, openCheckout, payCheckout } from "../payments/certify-payment-support.ts";
import { answersFor, shortenSuites } from "../payments/certify-support.ts";
import { addListing, begin, newSeller, sessionOf } from "../payments/marketplace-support.ts";
import { addAgent, addSuite, startAgent, type TestSuite } from "../runs/support.ts";

let service: TestService;
let endpoint: Consumer;
let suite: TestSuite;
let browser: Browser;
let release = (): void => undefined;
const faults: string[] = [];

beforeAll(async () => {
  if (!hasBrowser) return;
  service = await startService({ stripe: true });
  endpoint = await startAgent();
  await shortenSuites(service);
  suite = await addSuite(service, 2);
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  await endpoint?.stop();
});

/** A browser whose session is this account's. */
async function contextOf({ token }: User): Promise<BrowserContext> {
  const context = await browser.newContext();
  await context.addCookies([{ name: "service_session", value: token, url: service.url }]);
  noteFaults(context, faults);
  return context;
}

/** The path of a private agent's screening that goes on until it is released. */
async function screeningOf(user: User): Promise<string> {
  const held = new Promise<void>((resolve) => (release = resolve));
  endpoint.answer = async () => {
    await held;
    return json(200, { output: "41" });
  };
  const agent_id = await addAgent(user, { endpoint: endpoint.url, is_public: false });
  const runs = await user.call("POST", "/api/v1/runs/batch", { agent_id, suite_id: suite.id });
  return `/sessions/${runs.body[0].screening_session_id}`;
}

/** A purchase that waits to be paid: its path, and its checkout. */
async function begun(user: User): Promise<{ path: string; session: string }> {
  const purchase = await begin(user, (await addListing(await newSeller(service))).id);
  return { path: `/marketplace/purchases/${purchase.id}`, session: await sessionOf(service, purchase) };
}

const purchaseOf = async (user: User): Promise<string> => (await begun(user)).path;

/** The same of a certification. */
async function certificationOf(user: User): Promise<{ path: string; session: string }> {
  endpoint.answer = answersFor(0.001);
  const agent = await addAgent(user, { endpoint: endpoint.url });
  const { session } = await openCheckout(service, user, agent);
  return { path: `/agents/${agent}/certify?certification=paid`, session };
}

describe.skipIf(!hasBrowser)("a page that goes on changing", () => {
  it.each([
    ["a screening", screeningOf, "0 of 2 runs have ended", "There is nothing here"],
    ["a purchase", purchaseOf, "It waits to be paid", "Sign in"],
  ])("of %s gives way to what there is once its reader's session has ended", async (_what, pathOf, shown, heading) => {
    const user = await newUser(service);
    const context = await contextOf(user);
    const page = await context.newPage();
    await page.goto(service.url + (await pathOf(user)));
    await page.getByText(shown).waitFor();
    await context.clearCookies();
    await page.getByRole("heading", { name: heading, exact: true }).waitFor();
    expect(faults).toEqual([]);
    release();
    await service.settled();
    await context.close();
  });

  it("of a run gives way to its result, which can be verified there, once it has ended", async () => {
    const user = await newUser(service);
    const agent_id = await addAgent(user, { endpoint: endpoint.url });
    const held = new Promise<void>((resolve) => (release = resolve));
    endpoint.answer = async () => {
      await held;
      return json(200, { output: "41" });
    };
    const { body } = await user.call("POST", "/api/v1/runs", { agent_id, task_id: suite.tasks[0] });
    const context = await contextOf(user);
    const page = await context.newPage();
    await page.goto(`${service.url}/runs/${body.id}`);
    const cost = page.locator("dt", { hasText: "Cost" }).locator("+ dd");
    expect([await page.getByRole("link", { name: "Look again" }).count(), await cost.textContent()]).toEqual([
      1,
      "not yet",
    ]);
    release();
    await service.settled();
    await page.getByRole("button", { name: "Verify in this browser" }).waitFor();
    expect(await page.getByRole("link", { name: "Look again" }).count()).toBe(0);
    expect(await cost.textContent()).toContain("not known");
    expect(faults).toEqual([]);
    await context.close();
  });

  it("tells of a screening's runs one by one to who looks, and reads out a tenth at a time", async () => {
    const user = await newUser(service);
    const agent_id = await addAgent(user, { endpoint: endpoint.url });
    endpoint.answer = () => new Promise(() => undefined);
    service.faults.set({ service: "qstash", mode: "hang" });
    const runs = await user.call("POST", "/api/v1/runs/batch", { agent_id, suite_id: suite.id, repeats: 10 });
    const [seen, aloud] = [new Set<string>(), new Set<string>()];
    for (const { id } of runs.body) {
      const { html } = await newVisitor(service).open(`/sessions/${runs.body[0].screening_session_id}`);
      seen.add(/<p>(\d+ of 20 runs have ended)/.exec(html)?.[1] ?? "");
      aloud.add(/role="status"[^>]*>([^<]*)</.exec(html)?.[1] ?? "");
      await service.sql("update runs set status = 'completed', passed = true, finalized_at = now() where id = $1", [
        id,
      ]);
    }
    expect([seen.size, aloud.size, aloud.has("90% of the screening is done.")]).toEqual([20, 10, true]);
    service.faults.set({ service: "qstash", mode: "none" });
  });

  it.each([
    ["a purchase", begun, "It is paid."],
    ["a certification", certificationOf, "It is certified with a score of"],
  ])("of %s says aloud what became of the payment, and sells nothing once more", async (_what, opened, said) => {
    const user = await newUser(service);
    const { path, session } = await opened(user);
    const context = await contextOf(user);
    const page = await context.newPage();
    await page.goto(service.url + path);
    await deliverEvent(service, payCheckout(service, session).completed);
    await page.getByRole("status").filter({ hasText: said }).waitFor();
    expect(await page.getByRole("button", { name: /for [\d.]+ USD/ }).count()).toBe(0);
    expect(faults).toEqual([]);
    await service.settled();
    await context.close();
  });
});
