import type Stripe from "stripe";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newUser } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newVisitor, type Page, visitorOf } from "../../stack/visitor.ts";
import { customerOf, deliverAll, openCheckout } from "../payments/billing-support.ts";
import {
  addListing,
  assertBooked,
  begin,
  enable,
  hire,
  newSeller,
  sessionOf,
} from "../payments/marketplace-support.ts";
import { addAgent } from "../runs/support.ts";

let service: TestService;

beforeAll(async () => {
  service = await startService({ stripe: true });
});
afterAll(async () => {
  await assertBooked(service);
  await service.stop();
});

/** Where a page leads on to another site, by itself and by its link. */
function leads(page: Page): string {
  const link = page.links.find(({ text }) => text === "Open it now")?.href ?? "";
  expect([page.status, page.headers.get("refresh")]).toEqual([200, `0; url=${link}`]);
  return link;
}

/** The page that the provider was last told to send the browser back to, under this name. */
function backTo(name: string): string {
  const told = service.stripe.requests.findLast(({ params }) => name in params)?.params[name];
  const url = new URL(String(told));
  expect(url.origin).toBe(service.url);
  return url.pathname + url.search;
}

describe("the plan, by the pages alone", () => {
  it("is bought at the provider, by one page to pay at however often the form is sent, and follows the payment", async () => {
    const visitor = await visitorOf(service, await newUser(service));
    const form = await visitor.open("/settings/plan");
    const chosen = { tier: "pro", cadence: "yearly" };
    const sent = await visitor.send(form, "On to the payment", chosen);
    const session = /cs_\w+/.exec(leads(sent))?.[0] ?? "";
    expect(leads(await visitor.send(form, "On to the payment", chosen))).toBe(leads(sent));

    const left = await visitor.open(backTo("cancel_url"));
    expect([left.url.pathname, left.html.includes("Nothing was bought")]).toEqual(["/settings/plan", true]);
    const paid = service.stripe.pay(session);
    const waiting = await visitor.open(backTo("success_url"));
    expect(waiting.html).toContain("The plan follows the payment");
    await deliverAll(service, paid);
    const bought = await visitor.follow(waiting, "look again");
    expect(bought.html).toContain("The plan pro is yours.");
    expect(bought.html).toMatch(/0\s*of\s*1000/);

    const team = await visitor.send(bought, "Change the plan", { tier: "team", cadence: "yearly" });
    expect(team.alerts).toEqual([expect.stringContaining("The plan is team")]);
    service.faults.set({ service: "provider", mode: "down" });
    const [shown, failed] = [await visitor.open("/settings/plan"), await visitor.send(team, "End the plan now")];
    service.faults.set({ service: "provider", mode: "none" });
    expect([shown.status, failed.status]).toEqual([200, 503]);
    const portal = await visitor.send(team, "Open the payment provider's portal");
    expect(leads(portal)).toMatch(/^https?:/);
    expect((await visitor.open(backTo("return_url"))).url.pathname).toBe("/settings/plan");
    const ended = await visitor.send(await visitor.open("/settings/plan"), "End the plan now");
    expect(ended.alerts).toEqual([expect.stringContaining("The plan is free")]);
    await deliverAll(service, service.stripe.events);
    const free = await visitor.open("/settings/plan");
    expect(free.forms.some(({ buttons }) => "On to the payment" in buttons)).toBe(true);
    const twice = await visitor.send(ended, "End the plan now");
    expect([twice.status, twice.alerts]).toEqual([200, ["The plan is free."]]);
  });

  it("is ended where it waits for a payment that does not come, though the plan is free meanwhile", async () => {
    const user = await newUser(service);
    const [visitor, session] = [await visitorOf(service, user), await openCheckout(user)];
    await deliverAll(service, service.stripe.pay(session, { later: true }));
    const waiting = await visitor.open("/settings/plan");
    expect(waiting.html.replaceAll(/\s+/g, " ")).toMatch(
      /the start of the subscription is under way.*Nothing is left to pay/,
    );
    expect(waiting.html).not.toContain("waits to be paid");
    const refused = await visitor.send(waiting, "On to the payment", { tier: "team", cadence: "monthly" });
    expect([refused.status, refused.alerts]).toEqual([409, [expect.stringContaining("cancel the plan")]]);
    const ended = await visitor.send(refused, "End the plan now");
    expect(ended.alerts).toEqual([expect.stringContaining("The plan is free")]);
    expect(ended.forms.some(({ buttons }) => "End the plan now" in buttons)).toBe(false);
    leads(await visitor.send(ended, "On to the payment", { tier: "team", cadence: "monthly" }));
  });

  it("is ended where its renewal was given up so long ago that there is nothing to pay", async () => {
    const user = await newUser(service);
    await deliverAll(service, service.stripe.pay(await openCheckout(user)));
    const [{ id }] = service.stripe.subscriptions(await customerOf(service, user.id)) as [Stripe.Subscription];
    await deliverAll(service, service.stripe.changeSubscription(id, { status: "unpaid" }));
    await deliverAll(service, service.stripe.beginUnpaidPeriod(id));
    const visitor = await visitorOf(service, user);
    const waiting = await visitor.open("/settings/plan");
    expect(waiting.html).toContain("end this one and choose it anew");
    const ended = await visitor.send(waiting, "End the plan now");
    leads(await visitor.send(ended, "On to the payment", { tier: "pro", cadence: "monthly" }));
  });

  it("keeps what was chosen where there is no such plan", async () => {
    const visitor = await visitorOf(service, await newUser(service));
    const form = await visitor.open("/settings/plan");
    const odd = await visitor.send(form, "On to the payment", { tier: "gold", cadence: "yearly" });
    expect(odd.forms.find(({ buttons }) => "On to the payment" in buttons)?.fields["cadence"]).toBe("yearly");
    expect([odd.status, Object.keys(odd.wrong)]).toEqual([422, ["tier"]]);
  });
});

describe("what is sold and bought, by the pages alone", () => {
  it("leads a seller through the onboarding and back", async () => {
    const user = await newUser(service, { plan: "pro", verified: true });
    const visitor = await visitorOf(service, user);
    const page = await visitor.open("/marketplace/seller");
    expect(leads(await visitor.send(page, "Go on at the provider"))).toMatch(/^https?:/);
    const stale = await visitor.open(backTo("refresh_url"));
    expect(stale.alerts).toEqual([expect.stringContaining("used or too old")]);
    await enable(service, user);
    const back = await visitor.open(backTo("return_url"));
    expect(back.html).not.toContain("not yet");
  });

  it("shows a purchase from its checkout to the agent that was hired, to its buyer alone", async () => {
    const [seller, buyer] = await Promise.all([newSeller(service), newUser(service)]);
    const agent_id = await addAgent(seller, { name: "Told by its name" });
    const purchase = await begin(buyer, (await addListing(seller, { agent_id })).id);
    const visitor = await visitorOf(service, buyer);
    const left = await visitor.open(backTo("cancel_url"));
    expect(left.html).toContain("Told by its name");
    const bought = (await visitor.open("/marketplace")).links.find(({ href }) => href.endsWith(left.url.pathname));
    expect(bought?.text).toBe("Told by its name");
    const pay = left.links.find(({ text }) => text === "pay it at our payment provider");
    expect([left.url.pathname, pay?.href]).toEqual([`/marketplace/purchases/${purchase.id}`, purchase.checkout_url]);
    const paid = service.stripe.pay(await sessionOf(service, purchase));
    const waiting = await visitor.open(backTo("success_url"));
    expect(waiting.html).toContain("The payment is being confirmed");
    await deliverAll(service, paid);
    const done = await visitor.follow(waiting, "look again");
    expect(done.html).toContain("It is paid.");
    expect(done.html).not.toContain("/live.js");
    const stranger = await visitorOf(service, seller);
    expect((await stranger.open(left.url.pathname)).status).toBe(404);
  });

  it("takes a price with a comma before cents or before thousands, and never as another one", async () => {
    const seller = await newSeller(service);
    const visitor = await visitorOf(service, seller);
    for (const [price_usd, shown] of [
      ["10,000", "10000.00 USD"],
      ["7,5", "7.50 USD"],
      ["1,250.75", "1250.75 USD"],
    ] as const) {
      await seller.call("POST", "/api/v1/agents", { name: `For ${price_usd}`, connection_mode: "mock" });
      const form = await visitor.open("/marketplace/seller");
      const offered = await visitor.send(form, "Offer it", { title: `At ${price_usd}`, price_usd });
      expect([offered.url.pathname, offered.html.includes(shown)]).toEqual(["/marketplace", true]);
    }
  });

  it("offers an agent, which somebody hires at the marketplace, and withdraws it", async () => {
    const seller = await newSeller(service);
    await seller.call("POST", "/api/v1/agents", { name: "For hire", connection_mode: "mock" });
    const visitor = await visitorOf(service, seller);
    const form = await visitor.open("/marketplace/seller");
    const dear = await visitor.send(form, "Offer it", { title: "A tidy agent", price_usd: "0.5" });
    expect([dear.status, Object.keys(dear.wrong)]).toEqual([422, ["price_usd"]]);
    for (const price_usd of ["1.234,5", "10 000", "1e3", "0x10", "12.505", ""]) {
      const odd = await visitor.send(dear, "Offer it", { price_usd });
      expect([price_usd, odd.status, Object.keys(odd.wrong)]).toEqual([price_usd, 422, ["price_usd"]]);
    }
    const offered = await visitor.send(dear, "Offer it", { price_usd: "12.50" });
    expect([offered.url.pathname, offered.html.includes("A tidy agent")]).toEqual(["/marketplace", true]);
    const again = await visitor.send(dear, "Offer it", { price_usd: "13" });
    expect([again.status, again.alerts]).toEqual([422, [expect.stringContaining("This form was sent before")]]);
    // The account has no username: nobody is offered to hire what is their own.
    expect(offered.forms.some(({ buttons }) => "Hire it for 12.50 USD" in buttons)).toBe(false);

    const stranger = await newVisitor(service).open("/marketplace");
    expect(stranger.html).toContain("12.50 USD, once");
    const signIn = await newVisitor(service).send(stranger, "Hire it for 12.50 USD");
    expect(signIn.url.pathname).toBe("/sign-in");

    const buyer = await visitorOf(service, await newUser(service));
    const listed = await buyer.open("/marketplace");
    const sent = await buyer.send(listed, "Hire it for 12.50 USD");
    expect(leads(await buyer.send(listed, "Hire it for 12.50 USD"))).toBe(leads(sent));
    expect((await buyer.open("/marketplace")).html).toContain("What you bought");

    const gone = await visitor.send(await visitor.open("/marketplace"), "Withdraw");
    expect([gone.alerts, gone.html.includes("A tidy agent")]).toEqual([
      [expect.stringContaining("The listing is withdrawn")],
      false,
    ]);
  });

  it("says that it is no longer for hire where the refusal itself takes the listing off offer", async () => {
    const seller = await newSeller(service);
    const { id } = await addListing(seller, { title: "Of a seller who left", price_usd: 32 });
    const buyer = await visitorOf(service, await newUser(service));
    const listed = await buyer.open(`/marketplace/${id}`);
    await service.sql("update seller_accounts set account_id = 'acct_closed' where user_id = $1", [seller.id]);
    const refused = await buyer.send(listed, "Hire it for 32.00 USD");
    expect([refused.url.pathname, refused.status, refused.alerts]).toEqual([
      "/marketplace",
      200,
      [expect.stringContaining("not for hire any more")],
    ]);
    expect(service.stripe.refused.splice(0)).toEqual([expect.stringContaining("acct_closed")]);
  });

  it("shows a listing on a page of its own, where it is hired, withdrawn, and said why nobody else sees it", async () => {
    const seller = await newSeller(service);
    const { id, agent_id } = await addListing(seller, { title: "Looked at closely", price_usd: 31 });
    const stranger = await newVisitor(service).open(`/marketplace/${id}`);
    expect([stranger.status, stranger.heading]).toEqual([200, "Looked at closely"]);
    expect(stranger.html).toContain("31.00 USD, once");
    expect(stranger.html).toContain("of which no run counts yet");
    expect(stranger.html).toContain("gets its declared configuration");
    expect(stranger.links.some(({ href }) => href === `/agents/${agent_id}`)).toBe(true);
    expect((await newVisitor(service).send(stranger, "Hire it for 31.00 USD")).url.pathname).toBe("/sign-in");

    const buyer = await visitorOf(service, await newUser(service));
    const listed = await buyer.follow(await buyer.open("/marketplace"), "Looked at closely");
    expect(listed.url.pathname).toBe(`/marketplace/${id}`);
    const sent = await buyer.send(listed, "Hire it for 31.00 USD");
    expect(leads(await buyer.send(listed, "Hire it for 31.00 USD"))).toBe(leads(sent));
    expect(await (await fetch(`${service.url}/sitemap.xml`)).text()).toContain(`/marketplace/${id}<`);

    const visitor = await visitorOf(service, seller);
    const own = await visitor.open(`/marketplace/${id}`);
    expect(own.html).not.toContain("Nobody but you");
    const wrong = await visitor.send(stranger, "Hire it for 31.00 USD");
    expect([wrong.status, wrong.alerts]).toEqual([409, [expect.stringContaining("your own listing")]]);
    await seller.call("PATCH", `/api/v1/agents/${agent_id}`, { is_public: false });
    expect((await visitor.open(`/marketplace/${id}`)).html).toContain("Nobody but you sees this now");
    expect((await buyer.open(`/marketplace/${id}`)).status).toBe(404);
    const late = await visitorOf(service, await newUser(service));
    const lost = await late.send(stranger, "Hire it for 31.00 USD");
    expect([lost.url.pathname, lost.alerts]).toEqual([
      "/marketplace",
      [expect.stringContaining("not for hire any more")],
    ]);
    const selling = await visitor.open("/marketplace/seller");
    expect((await visitor.follow(selling, "Looked at closely")).url.pathname).toBe(`/marketplace/${id}`);
    const gone = await visitor.send(selling, "Withdraw");
    expect(gone.alerts).toEqual([expect.stringContaining("The listing is withdrawn")]);
    const withdrawn = await visitor.open(`/marketplace/${id}`);
    expect(withdrawn.html).toContain("It is withdrawn");
    expect((await visitor.open("/marketplace/seller")).html).toContain("None of your agents is listed");
    expect(withdrawn.forms.some(({ buttons }) => "Withdraw" in buttons)).toBe(false);
  });

  it("tells a seller what was sold, with the sums first", async () => {
    const seller = await newSeller(service);
    const visitor = await visitorOf(service, seller);
    const before = await visitor.open("/marketplace/seller");
    expect(before.html).toContain("Nobody has hired one of your agents yet");
    const listing = await addListing(seller, { title: "Sold once", price_usd: 31.05 });
    await hire(service, await newUser(service), listing.id);
    await hire(service, await newUser(service), listing.id);
    const after = await visitor.follow(await visitor.open("/marketplace"), "Offer one of yours, or see what you sold");
    for (const shown of ["55.88 USD", "62.10 USD", "6.22 USD", "27.94 USD"]) expect(after.html).toContain(shown);
    expect((await visitor.follow(after, "Sold once")).url.pathname).toBe(`/marketplace/${listing.id}`);
    expect((await visitor.open("/marketplace/seller?page=7")).html).toContain("No sale is on this page");
  });
});
