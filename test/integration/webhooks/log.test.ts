import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, PASSWORD, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, from, range, tally } from "../runs/support.ts";
import {
  announce,
  EVERY_MINUTE,
  headersOf,
  logOf,
  startReceiver,
  subscribe,
  type Webhook,
  WEBHOOKS,
} from "./support.ts";

const DAILY = "17 3 * * *";
const DELETION = "/api/v1/users/me/deletion";

let service: TestService;
let receiver: Consumer;
let owner: User;
let agent: string;
/** Ahead of the machine's clock by this, in milliseconds. */
let ahead = 0;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(Date.now() + ahead) } });
  receiver = await startReceiver();
  owner = await newUser(service, { plan: "enterprise" });
  agent = await addAgent(owner);
});

afterAll(async () => {
  await service.stop();
  await receiver.stop();
});

beforeEach(async () => {
  await service.sql("delete from webhooks");
  await service.sql("delete from webhook_events");
  receiver.answer = () => ({ status: 200, body: "taken" });
  receiver.seen.length = 0;
});

const at = (path: string): string => `${receiver.url}/${path}`;
const ping = ({ id }: Webhook) => owner.call("POST", `${WEBHOOKS}/${id}/test`);
const again = ({ id }: Webhook, delivery: string, headers: Record<string, string> = {}) =>
  owner.call("POST", `${WEBHOOKS}/${id}/deliveries/${delivery}/redeliver`, undefined, headers);
const count = async (table: string): Promise<number> =>
  (await service.sql<{ n: number }>(`select count(*)::int as n from ${table}`))[0]?.n ?? -1;

describe("a test", () => {
  it.each([
    [200, "succeeded"],
    [302, "exhausted"],
    [410, "exhausted"],
    [500, "exhausted"],
  ])("answered with %i tells so at once, is not repeated and turns nothing off", async (status, outcome) => {
    const webhook = await subscribe(owner, at("ping"));
    receiver.answer = () => ({ status, body: "heard" });
    const { status: answered, body } = await ping(webhook);
    expect([answered, body]).toMatchObject([
      200,
      { event_type: "ping", attempt: 1, status: outcome, response_status: status, response_excerpt: "heard" },
    ]);
    expect([body.attempted_at, body.next_attempt_at]).toEqual([expect.any(String), null]);
    const [request] = receiver.seen;
    expect(receiver.bodies()).toEqual([
      { id: body.event_id, type: "ping", created_at: expect.any(String), data: { webhook_id: webhook.id } },
    ]);
    expect(headersOf(request as (typeof receiver.seen)[0])).toMatchObject({ event: "ping", delivery: body.id });
    expect(await logOf(owner, webhook.id)).toEqual([body]);
    expect((await owner.call("GET", `${WEBHOOKS}/${webhook.id}`)).body.is_active).toBe(true);
    expect(await service.sql("select failures from webhooks")).toEqual([{ failures: 0 }]);
  });

  it("of a webhook that is deleted meanwhile is 404", async () => {
    const webhook = await subscribe(owner, at("ping"));
    receiver.answer = async () => {
      await owner.call("DELETE", `${WEBHOOKS}/${webhook.id}`);
      return { status: 200 };
    };
    expect((await ping(webhook)).status).toBe(404);
  });

  it("and a redelivery are 409 while it is off: nothing is sent", async () => {
    const webhook = await subscribe(owner, at("ping"));
    const { id } = (await ping(webhook)).body;
    await owner.call("PATCH", `${WEBHOOKS}/${webhook.id}`, { is_active: false });
    for (const { status, body } of [await ping(webhook), await again(webhook, id)])
      expect([status, body.code]).toEqual([409, "webhook_inactive"]);
    await service.settled();
    expect(receiver.seen).toHaveLength(1);
    expect(await count("webhook_deliveries")).toBe(1);
  });
});

describe("a redelivery", () => {
  it("sends the same event under a new delivery id, also of what succeeded", async () => {
    const webhook = await subscribe(owner, at("again"));
    const event = await announce(service, agent);
    const [first] = await logOf(owner, webhook.id);
    const { status, body } = await again(webhook, first?.id ?? "");
    expect([status, body]).toMatchObject([202, { event_id: event, attempt: 2, status: "pending", attempted_at: null }]);
    await service.settled();
    expect((await logOf(owner, webhook.id)).map(({ id, status: outcome }) => [id, outcome])).toEqual([
      [body.id, "succeeded"],
      [first?.id, "succeeded"],
    ]);
    const [one, two] = receiver.seen;
    expect(two?.body).toEqual(one?.body);
    expect(receiver.seen.map((request) => headersOf(request).delivery)).toEqual([first?.id, body.id]);
  });

  it("makes the attempt that an event waits for, now, and the table goes on from there", async () => {
    const webhook = await subscribe(owner, at("again"));
    receiver.answer = () => ({ status: 500 });
    await announce(service, agent);
    const [next, first] = await logOf(owner, webhook.id);
    const { body } = await again(webhook, first?.id ?? "");
    expect(body).toMatchObject({ id: next?.id, attempt: 2, status: "pending" });
    await service.settled();
    expect(receiver.seen).toHaveLength(2);
    receiver.answer = () => ({ status: 200 });
    ahead += 80_000;
    await service.broker.advance(80_000);
    await service.settled();
    expect(receiver.seen).toHaveLength(3);
    expect((await logOf(owner, webhook.id)).map(({ status }) => status)).toEqual(["succeeded", "failed", "failed"]);
  });

  it("asked for by many at once sends each attempt that the log has once", async () => {
    const webhook = await subscribe(owner, at("again"));
    await announce(service, agent);
    const [first] = await logOf(owner, webhook.id);
    const answers = await Promise.all(range(8).map((n) => again(webhook, first?.id ?? "", from(n))));
    expect(tally(answers)).toEqual({ 202: 8 });
    await service.settled();
    const log = await logOf(owner, webhook.id);
    expect(log.map(({ attempt }) => attempt)).toEqual(range(log.length).map((n) => log.length - n));
    expect(log.every(({ status }) => status === "succeeded")).toBe(true);
    const sent = receiver.seen.map((request) => headersOf(request).delivery);
    expect(sent.toSorted()).toEqual(log.map(({ id }) => id).toSorted());
  });

  it("of an event whose attempt ends at that moment makes another one", async () => {
    const webhook = await subscribe(owner, at("again"));
    receiver.answer = () => ({ status: 500 });
    await announce(service, agent);
    const [pending] = await logOf(owner, webhook.id);
    // Ends the attempt, and commits that as soon as somebody waits for it.
    const ended = service.sql(`do $$ begin
      update webhook_deliveries set status = 'succeeded' where id = '${pending?.id}';
      for turn in 1..1000 loop
        exit when exists (select from pg_locks l where not granted and pg_backend_pid() = any (pg_blocking_pids(l.pid)));
        perform pg_sleep(0.005);
      end loop; end $$`);
    const isFree = async () =>
      (await service.sql("select from webhook_deliveries where id = $1 for update skip locked", [pending?.id])).length >
      0;
    while (await isFree());
    const { status, body } = await again(webhook, pending?.id ?? "");
    await ended;
    expect([status, body]).toMatchObject([202, { attempt: 3, status: "pending" }]);
  });

  it("is asked for once by a repeated request", async () => {
    const webhook = await subscribe(owner, at("again"));
    const { id } = (await ping(webhook)).body;
    const answers = [
      await again(webhook, id, { "idempotency-key": "again" }),
      await again(webhook, id, { "idempotency-key": "again" }),
    ];
    await service.settled();
    expect(answers[1]?.body).toEqual(answers[0]?.body);
    expect(receiver.seen).toHaveLength(2);
  });
});

describe("what is lost on our side", () => {
  it("an attempt whose outcome could not be kept is made again under the same id", async () => {
    const webhook = await subscribe(owner, at("twice"));
    receiver.answer = () => {
      if (receiver.seen.length === 1) service.faults.set({ service: "db", mode: "down" });
      return { status: 200 };
    };
    await announce(service, agent);
    service.faults.set({ service: "db", mode: "none" });
    ahead += 30_000;
    await service.broker.advance(30_000);
    await service.settled();
    expect(receiver.seen, "its holder may still be at work").toHaveLength(1);
    await service.sql("update webhook_deliveries set lease_expires_at = now() - interval '1 second'");
    ahead += 120_000;
    await service.app.scheduled(EVERY_MINUTE);
    await service.settled();
    const [first, second] = receiver.seen.map((request) => headersOf(request).delivery);
    expect([receiver.seen.length, second]).toEqual([2, first]);
    expect(await logOf(owner, webhook.id)).toMatchObject([{ id: first, attempt: 1, status: "succeeded" }]);
  });

  it("an attempt whose message was lost is found again after an hour", async () => {
    const webhook = await subscribe(owner, at("late"));
    await service.sql(
      `with e as (insert into webhook_events (type, body) values ('run.completed', '{}') returning id)
       insert into webhook_deliveries (webhook_id, event_id, attempt, next_attempt_at) select $1, id, 1, $2 from e`,
      [webhook.id, new Date(Date.now() + ahead - 59 * 60_000)],
    );
    const minute = async () => {
      await service.app.scheduled(EVERY_MINUTE);
      await service.settled();
      return receiver.seen.length;
    };
    expect(await minute()).toBe(0);
    ahead += 61_000;
    expect([await minute(), await minute()]).toEqual([1, 1]);
    expect((await logOf(owner, webhook.id)).map(({ status }) => status)).toEqual(["succeeded"]);
  });
});

describe("the log", () => {
  it("is in pages, newest first, and is a subscription's own", async () => {
    const [one, two] = [await subscribe(owner, at("one")), await subscribe(owner, at("two"))];
    const ids: string[] = [];
    for (const _n of range(3)) ids.unshift((await ping(one)).body.id);
    await ping(two);
    const { body } = await owner.call("GET", `${WEBHOOKS}/${one.id}/deliveries?page=2&page_size=2`);
    expect([body.total, body.items.map(({ id }: { id: string }) => id)]).toEqual([3, ids.slice(2)]);
  });

  it("keeps attempts 30 days, and an event as long as one of its attempts", async () => {
    const webhook = await subscribe(owner, at("kept"));
    const days = [31, 29];
    for (const age of days)
      await service.sql(
        `with e as (insert into webhook_events (id, type, body, created_at)
           values (uuidv7(interval '-31 days'), 'run.failed', '{}', now() - interval '31 days') returning id)
         insert into webhook_deliveries (id, webhook_id, event_id, attempt, status)
         select uuidv7(make_interval(days => -$2::integer)), $1, id, 1, 'succeeded' from e`,
        [webhook.id, age],
      );
    await service.app.scheduled(DAILY);
    expect([await count("webhook_deliveries"), await count("webhook_events")]).toEqual([1, 1]);
    ahead += 2 * 86_400_000;
    await service.app.scheduled(DAILY);
    ahead -= 2 * 86_400_000;
    expect([await count("webhook_deliveries"), await count("webhook_events")]).toEqual([0, 0]);
    expect(await count("webhooks")).toBe(1);
  });
});

it("a deleted account counts its subscriptions before, and leaves neither them nor what was told", async () => {
  const leaver = await newUser(service, { plan: "pro" });
  const theirs = await addAgent(leaver);
  await subscribe(owner, at("stays"));
  await subscribe(leaver, at("goes"));
  await subscribe(leaver, at("goes"), { agent_id: theirs });
  await announce(service, agent);
  await announce(service, theirs);
  expect((await leaver.call("GET", DELETION)).body.webhook_subscriptions).toBe(2);
  expect((await leaver.call("POST", DELETION, { password: PASSWORD })).status).toBe(202);
  ahead += 15 * 86_400_000;
  await service.app.scheduled(DAILY);
  const tables = ["webhooks", "webhook_deliveries", "webhook_events"];
  expect(await Promise.all(tables.map(count))).toEqual([1, 1, 1]);
  await announce(service, theirs);
  expect(receiver.seen).toHaveLength(3);
});
