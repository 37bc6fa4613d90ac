import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, quietQueueClient, startAgent } from "../runs/support.ts";
import { addTeam, elsewhere, TEAMS } from "../workspaces/teams-support.ts";
import { deliverEvent, openCheckout, payCheckout } from "./certify-payment-support.ts";
import { answersFor, buy, shortenSuites, statusOf } from "./certify-support.ts";

let service: TestService;
let endpoint: Consumer;
let owner: User;
let opener: User;
let other: User;
let team: string;
let agent: string;

beforeAll(async () => {
  quietQueueClient();
  [service, endpoint] = await Promise.all([startService({ stripe: true }), startAgent()]);
  await shortenSuites(service);
  endpoint.answer = answersFor(0.001);
  owner = await newUser(service, { plan: "enterprise" });
});

beforeEach(async () => {
  [opener, other] = [await newUser(service), await newUser(service)];
  [owner, opener, other] = elsewhere([owner, opener, other]);
  team = await addTeam(service, owner);
  for (const { id } of [opener, other])
    await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, 'admin')", [team, id]);
  agent = await addAgent(owner, { team_id: team, endpoint: endpoint.url });
  service.mailbox.clear();
});

afterAll(async () => {
  expect(service.stripe.refused).toEqual([]);
  await Promise.all([service.stop(), endpoint.stop()]);
});

const remove = async (user: User) =>
  expect((await owner.call("DELETE", `${TEAMS}/${team}/members/${user.id}`)).status).toBe(204);

/** Has the provider tell of a payment, and the screening be made. */
async function confirm(session: string): Promise<void> {
  expect(await deliverEvent(service, payCheckout(service, session).completed)).toBe(200);
  await service.settled();
}

/** In whose name the agent's certification was screened, and who was mailed its result. */
async function whose() {
  const rows = await service.sql<{ user_id: string }>(
    `select user_id from runs where agent_id = $1 union select user_id from screening_sessions where agent_id = $1`,
    [agent],
  );
  const told = service.mailbox.list().filter(({ subject }) => /certif/i.test(subject));
  return { runs: rows.map(({ user_id }) => user_id), told: told.map(({ to }) => to) };
}

describe("the checkout that an admin of a workspace opened", () => {
  it("is the same for another one, as long as whoever opened it may buy", async () => {
    const first = await openCheckout(service, opener, agent);
    expect((await buy(other, agent)).body).toMatchObject({ url: first.url, certification_id: first.id });
    await confirm(first.session);
    expect(await whose()).toEqual({ runs: [opener.id], told: [opener.email] });
  });

  it.each([
    ["was removed", () => remove(opener)],
    ["may no longer buy", () => service.sql("update team_members set role = 'editor' where user_id = $1", [opener.id])],
  ])("is closed, and gives way to the buyer's own, once whoever opened it %s", async (_how, lose) => {
    const first = await openCheckout(service, opener, agent);
    await lose();
    const key = { "idempotency-key": `left-${agent}` };
    const { status, body } = await buy(other, agent, {}, key);
    expect(status).toBe(200);
    expect([body.url === first.url, body.certification_id === first.id]).toEqual([false, false]);
    expect((await buy(other, agent, {}, key)).body).toEqual(body);
    expect(() => payCheckout(service, first.session)).toThrow(/expired/);
    const second = await openCheckout(service, other, agent);
    expect([second.url, second.id]).toEqual([body.url, body.certification_id]);
    const asked = service.stripe.requests.findLast(
      ({ method, path }) => method === "POST" && path.endsWith("sessions"),
    );
    expect(asked?.params).toMatchObject({ customer_email: other.email });
    await confirm(second.session);
    expect((await statusOf(other, agent)).status).toBe("certified");
    expect(await whose()).toEqual({ runs: [other.id], told: [other.email] });
  });

  it("counts if it was paid before, for the workspace: nothing of it goes to the one who was removed", async () => {
    const { session, id } = await openCheckout(service, opener, agent);
    const { completed } = payCheckout(service, session);
    await remove(opener);
    expect(await buy(other, agent)).toMatchObject({ status: 409, body: { code: "certification_in_progress" } });
    expect(await deliverEvent(service, completed)).toBe(200);
    await service.settled();
    expect(await statusOf(owner, agent)).toMatchObject({ certification_id: id, status: "certified" });
    expect(await whose()).toEqual({ runs: [owner.id], told: [owner.email] });
  });

  it("that was never made ready gives way, too", async () => {
    service.faults.set({ service: "provider", mode: "error", path: "POST /v1/checkout/sessions" });
    expect((await buy(opener, agent)).status).toBe(503);
    service.faults.set({ service: "provider", mode: "none" });
    await remove(opener);
    const { session } = await openCheckout(service, other, agent);
    await confirm(session);
    expect(await whose()).toEqual({ runs: [other.id], told: [other.email] });
  });
});
