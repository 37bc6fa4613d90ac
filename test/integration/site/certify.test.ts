import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { visitorOf } from "../../stack/visitor.ts";
import { deliverEvent, openCheckout, payCheckout } from "../payments/certify-payment-support.ts";
import { answersFor, shortenSuites } from "../payments/certify-support.ts";
import { addAgent, addSuite, startAgent } from "../runs/support.ts";

let service: TestService;
let endpoint: Consumer;
let owner: User;

beforeAll(async () => {
  [service, endpoint] = await Promise.all([startService({ stripe: true }), startAgent(answersFor(0.001))]);
  await shortenSuites(service);
  owner = await newUser(service, { plan: "pro" });
});
afterAll(() => Promise.all([service.stop(), endpoint.stop()]));

describe("a certification, by the pages alone", () => {
  it("is bought once at the provider, and followed to the certificate", async () => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    const visitor = await visitorOf(service, owner);
    const record = await visitor.open(`/agents/${agent}`);
    const form = await visitor.follow(record, "Certify it");
    expect(form.html).toMatch(/The price includes the\s+10\s+runs/);
    const unwaived = await visitor.send(form, "Certify it for 39.00 USD");
    expect([unwaived.status, unwaived.alerts.length]).toEqual([422, 1]);

    const sent = await visitor.send(unwaived, "Certify it for 39.00 USD", { eu_waiver_accepted: "true" });
    const pay = sent.links.find(({ text }) => text === "Open it now")?.href ?? "";
    expect([sent.status, sent.headers.get("refresh")]).toEqual([200, `0; url=${pay}`]);
    const told = service.stripe.requests.findLast(({ params }) => "success_url" in params)?.params;
    const [paidAt, leftAt] = ["success_url", "cancel_url"].map((name) => new URL(String(told?.[name])));
    const left = await visitor.open(`${leftAt?.pathname}${leftAt?.search}`);
    expect(left.html).toContain("A checkout was begun");
    const again = await visitor.send(left, "Certify it for 39.00 USD", { eu_waiver_accepted: "true" });
    expect(again.links.find(({ text }) => text === "Open it now")?.href).toBe(pay);

    const { completed } = payCheckout(service, /cs_\w+/.exec(pay)?.[0] ?? "");
    const waiting = await visitor.open(`${paidAt?.pathname}${paidAt?.search}`);
    expect(waiting.html).toContain("The payment is being confirmed");
    expect(waiting.html).toContain("/live.js");
    await deliverEvent(service, completed);
    await service.settled();
    const done = await visitor.open(waiting.url.pathname);
    expect(done.html).toContain("It is certified with a score of");
    expect(done.html).toContain("It is certified already.");
    expect(done.html).not.toContain("/live.js");
    expect((await visitor.open(`/agents/${agent}`)).html).toContain("Certified");
  });

  it("sends nobody back to a checkout that was paid by a method which is settled days later", async () => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    const visitor = await visitorOf(service, owner);
    const { session } = await openCheckout(service, owner, agent);
    for (const event of service.stripe.pay(session, { later: true })) await deliverEvent(service, event);
    const page = `/agents/${agent}/certify`;
    expect((await visitor.open(`${page}?certification=paid`)).html).toMatch(
      /takes seconds, or days\s+where a bank settles it/,
    );
    const { html } = await visitor.open(page);
    expect(html).toMatch(/If it was paid, the payment is being confirmed, which takes days where a bank settles it/);
  });

  it("says beforehand how the agent stands against what it takes", async () => {
    const visitor = await visitorOf(service, owner);
    const bad = await startAgent(() => json(200, { output: "another" }));
    const { tasks } = await addSuite(service, 2);
    for (const [url, words] of [
      [endpoint.url, /Its score so far is <strong>82\.00<\/strong> \(29\.48 to 93\.53\)\.</],
      [bad.url, /Its score so far is <strong>3\.00<\/strong> \(1\.08 to 65\.13\), under the 70 that it takes: as/],
    ] as const) {
      const agent = await addAgent(owner, { endpoint: url });
      const page = `/agents/${agent}/certify`;
      expect((await visitor.open(page)).html).toContain("No run of it counts yet.");
      for (const task_id of tasks) await owner.call("POST", "/api/v1/runs", { agent_id: agent, task_id });
      await service.settled();
      expect((await visitor.open(page)).html.replaceAll(/\s+/g, " ")).toMatch(words);
    }
    await bad.stop();
  });

  it("says in words what a paused one waits for", async () => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    await service.sql(
      `insert into certifications (id, agent_id, user_id, status, paused_reason, price_usd, runs_included, created_at, eu_waiver_at)
       values (gen_random_uuid(), $1, $2, 'paused_quota', 'quota: The allowance is used.', 39, 10, now(), now())`,
      [agent, owner.id],
    );
    const page = await (await visitorOf(service, owner)).open(`/agents/${agent}/certify`);
    expect(page.html).toMatch(/It waits\. The allowance is used\.\s+0\s+of\s+\d+\s+runs have ended/);
  });

  it("is not for others to buy, nor for an agent that can't be called", async () => {
    const mock = await addAgent(owner);
    const [visitor, stranger] = [await visitorOf(service, owner), await visitorOf(service, await newUser(service))];
    const page = await visitor.open(`/agents/${mock}/certify`);
    expect(page.html).toContain("It has no endpoint to call.");
    expect(page.forms.map(({ buttons }) => Object.keys(buttons)).flat()).toEqual(["Sign out"]);
    expect((await stranger.open(`/agents/${mock}/certify`)).status).toBe(404);
  });
});
