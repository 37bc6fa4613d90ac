import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { MAX_BODY_BYTES } from "../../../shared/webhooks/event.ts";
import { addAgent, range } from "../runs/support.ts";
import { EVERY_MINUTE, headersOf, startReceiver, subscribe, type Webhook, WEBHOOKS } from "./support.ts";

const DAY = 86_400_000;
const AT_ONCE = 5;

let service: TestService;
let receiver: Consumer;
let owner: User;
let agent: string;
/** Ahead of the machine's clock by this, in milliseconds. */
let ahead = 0;
/** Where the clock stands still, if it does. */
let standing: number | null = null;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(standing ?? Date.now() + ahead) } });
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
  receiver.answer = () => ({ status: 200 });
  receiver.seen.length = 0;
});

const sent = (): string[] => receiver.seen.map((request) => headersOf(request).delivery).toSorted();
const attempts = () => service.sql<{ id: string; status: string }>("select id, status from webhook_deliveries");

/** Owes so many events about the agent, and publishes them. */
async function announceAll(events: number): Promise<void> {
  await service.sql(
    `insert into outbox (consumer, id, body, due_at)
     select 'announce', id, jsonb_build_object('id', id, 'type', 'run.completed', 'created_at', now(), 'agent_id', $2::uuid,
       'data', '{}'::jsonb), now() from unnest($1::uuid[]) as e(id)`,
    [range(events).map(() => randomUUID()), agent],
  );
  await service.app.scheduled(EVERY_MINUTE);
}

/** Makes so many attempts that are due, of which the queue knows nothing; returns their ids. */
async function addDue({ id }: Webhook, events: number): Promise<string[]> {
  const rows = await service.sql<{ id: string }>(
    `with e as (insert into webhook_events (type, body) select 'run.completed', '{}' from generate_series(1, $2) returning id)
     insert into webhook_deliveries (webhook_id, event_id, attempt, next_attempt_at)
     select $1, id, 1, now() - interval '1 minute' from e returning id`,
    [id, events],
  );
  return rows.map((row) => row.id);
}

/** Publishes messages to a consumer, and waits until all is done that follows from them. */
async function deliver(consumer: string, ...bodies: object[]): Promise<void> {
  await service.sql(
    `insert into outbox (consumer, id, body, flow_key, due_at)
     select $1, id, body, 'due.' || (body ->> 'webhook_id'), now() from unnest($2::uuid[], $3::jsonb[]) as m(id, body)`,
    [consumer, bodies.map(() => randomUUID()), bodies],
  );
  await service.app.scheduled(EVERY_MINUTE);
  await service.settled();
}

const deliverDue = ({ id }: Webhook) => deliver("deliver-due", { webhook_id: id, due: new Date().toISOString() });

it("what comes while a message is owed is sent with it: five at once, two statements for fifty", async () => {
  const events = 60;
  await subscribe(owner, receiver.url);
  let underWay = 0;
  let most = 0;
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  receiver.answer = async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await held;
    if (receiver.seen.length > 1) await receiver.count(1 + AT_ONCE);
    underWay -= 1;
    return { status: 200 };
  };
  await announceAll(1);
  await receiver.count(1);
  await announceAll(events);
  while ((await attempts()).length <= events);
  service.counters.reset();
  letGo();
  await service.settled();
  // The first one's outcome; 50 claimed, the message for the rest taken from the outbox, recorded; 10 claimed, recorded.
  expect(service.counters.snapshot().db.requests).toBe(6);
  expect(most).toBe(AT_ONCE);
  const made = await attempts();
  expect(made.map(({ status }) => status)).toEqual(range(events + 1).map(() => "succeeded"));
  expect(sent()).toEqual(made.map(({ id }) => id).toSorted());
});

it("no event is left behind that is owed with a message at the moment when that message is taken", async () => {
  const { id } = await subscribe(owner, receiver.url);
  const body = { webhook_id: id, due: new Date().toISOString() };
  await service.sql(
    "insert into outbox (consumer, id, body, due_at) values ('deliver-due', $1, $2, now() + interval '1 hour')",
    [id, body],
  );
  // Makes an attempt, leaves it to the message that is owed, and commits as soon as somebody waits for that.
  const announced = service.sql(`do $$ begin
    with e as (insert into webhook_events (type, body) values ('run.completed', '{}') returning id)
      insert into webhook_deliveries (webhook_id, event_id, attempt, next_attempt_at) select '${id}', id, 1, now() from e;
    update outbox set body = body where id = '${id}';
    for turn in 1..1000 loop
      exit when exists (select from pg_locks l where not granted and pg_backend_pid() = any (pg_blocking_pids(l.pid)));
      perform pg_sleep(0.005);
    end loop; end $$`);
  const isFree = async () =>
    (await service.sql("select from outbox where id = $1 for update skip locked", [id])).length > 0;
  while (await isFree());
  await Promise.all([announced, deliver("deliver-due", body)]);
  expect(await attempts()).toMatchObject([{ status: "succeeded" }]);
});

it("what is owed anew in the same millisecond is no duplicate to the queue", async () => {
  await subscribe(owner, receiver.url);
  standing = Date.now();
  for (const _ of range(3)) {
    await announceAll(1);
    await service.settled();
  }
  standing = null;
  expect(sent()).toHaveLength(3);
});

it("many events at once, owed while others are claimed, are all sent once", async () => {
  for (const n of range(3)) await subscribe(owner, `${receiver.url}/${n}`);
  await announceAll(60);
  await service.settled();
  const made = await attempts();
  expect(made.map(({ status }) => status)).toEqual(range(3 * 60).map(() => "succeeded"));
  expect(sent()).toEqual(made.map(({ id }) => id).toSorted());
});

it("what a slow receiver leaves no time for is handed on, and is sent once", async () => {
  const webhook = await subscribe(owner, receiver.url);
  const due = await addDue(webhook, 12);
  receiver.answer = () => {
    ahead += 5000;
    return { status: 200 };
  };
  service.broker.setChaos({ duplicate: true, shuffle: false });
  await deliverDue(webhook);
  service.broker.setChaos({ duplicate: false, shuffle: false });
  expect(sent()).toEqual(due.toSorted());
  expect((await attempts()).every(({ status }) => status === "succeeded")).toBe(true);
});

it("a success counts before the failure that comes after it", async () => {
  const webhook = await subscribe(owner, receiver.url);
  const since = new Date(Date.now() + ahead - 3 * DAY).toISOString();
  await service.sql("update webhooks set failures = 19, failing_since = $1", [since]);
  await addDue(webhook, AT_ONCE + 1);
  receiver.answer = async () => {
    if (receiver.seen.length !== AT_ONCE) return { status: 200 };
    // The sixth is begun when one of those before it has succeeded.
    await receiver.count(AT_ONCE + 1);
    return { status: 500 };
  };
  await deliverDue(webhook);
  expect((await owner.call("GET", `${WEBHOOKS}/${webhook.id}`)).body).toMatchObject({ is_active: true });
});

it("subscriptions that are due at once share their statements, with nobody's attempts at another's URL", async () => {
  const subscriptions = 20;
  const webhooks: Webhook[] = [];
  for (const n of range(subscriptions)) webhooks.push(await subscribe(owner, `${receiver.url}/${n}`));
  const due: string[] = [];
  for (const webhook of webhooks)
    due.push(...(await addDue(webhook, 12)).map((id) => `${id} at ${new URL(webhook.url).pathname}`));
  const messages = webhooks.map(({ id }) => ({ webhook_id: id, due: new Date().toISOString() }));
  const underWay = new Map<string, number>();
  let most = 0;
  receiver.answer = async ({ url: { pathname } }) => {
    const beside = underWay.get(pathname) ?? 0;
    most = Math.max(most, beside + 1);
    underWay.set(pathname, beside + 1);
    await new Promise((resolve) => setImmediate(resolve));
    underWay.set(pathname, (underWay.get(pathname) ?? 0) - 1);
    return { status: 200 };
  };
  service.counters.reset();
  // Each twice: both copies may well stand in the same statement.
  service.broker.setChaos({ duplicate: true, shuffle: true });
  await deliver("deliver-due", ...messages);
  service.broker.setChaos({ duplicate: false, shuffle: false });
  // By themselves they would take two statements each, and their copies one more, beside what publishing takes.
  expect(service.counters.snapshot().db.requests).toBeLessThan(3 * subscriptions);
  const made = receiver.seen.map((request) => `${headersOf(request).delivery} at ${request.url.pathname}`);
  expect(made.toSorted()).toEqual(due.toSorted());
  expect(most).toBeLessThanOrEqual(AT_ONCE);
  expect((await attempts()).every(({ status }) => status === "succeeded")).toBe(true);
});

it("what is too long to be claimed at once is claimed in pieces, and is sent once", async () => {
  const subscriptions = 6;
  const due: string[] = [];
  const messages: object[] = [];
  for (const n of range(subscriptions)) {
    const webhook = await subscribe(owner, `${receiver.url}/${n}`);
    due.push(...(await addDue(webhook, 50)));
    messages.push({ webhook_id: webhook.id, due: new Date().toISOString() });
  }
  // Each as long as an event may be, and four times that on its way: what one subscription has due is more than Neon returns.
  await service.sql("update webhook_events set body = repeat('\"', $1)", [MAX_BODY_BYTES]);
  await deliver("deliver-due", ...messages);
  expect(sent()).toEqual(due.toSorted());
});
