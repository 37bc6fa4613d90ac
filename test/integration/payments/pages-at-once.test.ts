import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { caller, newUser, PASSWORD } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, quietQueueClient, startAgent } from "../runs/support.ts";
import { addTeam } from "../workspaces/teams-support.ts";
import { openCheckout, payCheckout } from "./certify-payment-support.ts";
import { buy, shortenSuites } from "./certify-support.ts";
import { accountOf, addListing, newSeller, PURCHASES } from "./marketplace-support.ts";

const DAY = 86_400_000;
const GRACE = 14 * DAY;

let service: TestService;
let ahead = 0;

beforeAll(async () => {
  service = await startService({ stripe: true, overrides: { now: () => new Date(Date.now() + ahead) } });
  await shortenSuites(service);
  quietQueueClient();
});

beforeEach(() => {
  ahead = 0;
});

afterAll(() => service.stop());

/** How many times the provider was asked for this of a payment page. */
const asked = (what: "sessions" | "expire") =>
  service.stripe.requests.filter(({ method, path }) => method === "POST" && path.endsWith(`/${what}`)).length;
const hangs = (what: "db" | "provider") => vi.waitFor(() => expect(service.faults.hanging(what)).toBe(1), 10_000);

it("a page that is made while its purchase fails in another request is not given out, and is closed", async () => {
  const seller = await newSeller(service);
  const listing = await addListing(seller);
  const buyer = await newUser(service);
  const account = await accountOf(service, seller);
  service.stripe.onboard(account, { charges_enabled: false, payouts_enabled: false });
  service.faults.set({ service: "db", mode: "hang", count: 1, body: "set status = 'FAILED'" });
  const refused = buyer.call("POST", PURCHASES, { listing_id: listing.id });
  await hangs("db");
  service.faults.set({ service: "provider", mode: "hang", count: 1, path: "POST /v1/checkout/sessions" });
  const late = buyer.call("POST", PURCHASES, { listing_id: listing.id });
  await hangs("provider");
  service.faults.set({ service: "db", mode: "none" });
  expect((await refused).body).toMatchObject({ code: "seller_not_ready" });
  service.stripe.onboard(account, { charges_enabled: true, payouts_enabled: true });
  service.faults.set({ service: "provider", mode: "none" });
  expect((await late).body).toMatchObject({ code: "seller_not_ready" });
  await service.settled();
  expect(await service.sql("select status, checkout_url from purchases where buyer_id = $1", [buyer.id])).toEqual([
    { status: "FAILED", checkout_url: null },
  ]);
  expect(asked("expire")).toBe(1);
});

it("a page that an account opened for a workspace's agent is closed with the account", async () => {
  const endpoint = await startAgent();
  const [owner, admin] = [await newUser(service, { plan: "team" }), await newUser(service, { verified: true })];
  const team = await addTeam(service, owner, { admin });
  const agent = await addAgent(owner, { team_id: team, endpoint: endpoint.url });
  await admin.call("POST", "/api/v1/users/me/deletion", { password: PASSWORD });
  ahead = GRACE - 60_000;
  const { body } = await caller(service).call("POST", "/api/v1/auth/login", { email: admin.email, password: PASSWORD });
  Object.assign(admin, caller(service, { authorization: `Bearer ${body.access_token}` }));
  const { session } = await openCheckout(service, admin, agent);
  ahead = GRACE + 60_000;
  await service.app.scheduled(DAILY);
  await service.settled();
  expect(() => payCheckout(service, session)).toThrow(/expired/);
  await endpoint.stop();
});

it("a page that is made while its buyer's account is deleted is not given out, and is closed", async () => {
  const endpoint = await startAgent();
  const owner = await newUser(service, { plan: "pro", verified: true });
  const agent = await addAgent(owner, { endpoint: endpoint.url });
  await owner.call("POST", "/api/v1/users/me/deletion", { password: PASSWORD });
  ahead = GRACE - 60_000;
  const login = { email: owner.email, password: PASSWORD };
  const { body } = await caller(service).call("POST", "/api/v1/auth/login", login);
  const before = asked("expire");
  service.faults.set({ service: "provider", mode: "hang", count: 1, path: "POST /v1/checkout/sessions" });
  const buying = buy(caller(service, { authorization: `Bearer ${body.access_token}` }), agent);
  await hangs("provider");
  ahead = GRACE + 60_000;
  await service.app.scheduled(DAILY);
  service.faults.set({ service: "provider", mode: "none" });
  expect((await buying).status).toBeGreaterThanOrEqual(400);
  await service.settled();
  expect(asked("expire")).toBe(before + 1);
  await endpoint.stop();
});
