import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Consumer, hold } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import type { Handler } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, range } from "../runs/support.ts";
import { announce, EVERY_MINUTE, headersOf, startReceiver, subscribe } from "./support.ts";

/** `FANOUT=full` makes it 10,000 deliveries to 100 receivers. */
const [RECEIVERS, EVENTS] = process.env["FANOUT"] === "full" ? [100, 100] : [24, 10];
const PARALLELISM = 5;

/** What the receivers do in turn; a third of them does not take it. */
const KINDS = [
  "healthy",
  "fails",
  "healthy",
  "healthy",
  "hangs",
  "healthy",
  "healthy",
  "redirects",
  "healthy",
] as const;
type Kind = (typeof KINDS)[number] | "gone";

const ANSWERS: Record<Kind, Handler> = {
  healthy: () => ({ status: 200, body: "ok" }),
  fails: () => ({ status: 500, body: "no" }),
  hangs: hold,
  redirects: () => ({ status: 307, headers: { location: "/elsewhere" } }),
  gone: () => ({ status: 410, body: "gone" }),
};

/** The kind of the n-th receiver: every twelfth is gone. */
const kindOf = (n: number): Kind => (n % 12 === 11 ? "gone" : (KINDS[n % KINDS.length] ?? "healthy"));

interface Row {
  id: string;
  n: string;
  event_id: string;
  status: string;
  response_status: number | null;
  sent: boolean;
}

let service: TestService;
let receiver: Consumer;
let owner: User;
/** Ends every exchange with a receiver that hangs, as the deadline does. */
const deadline = new AbortController();

beforeAll(async () => {
  service = await startService({
    overrides: {
      fetch: (input, init) => {
        const { url, signal } = new Request(input, init);
        if (!url.includes("/hangs/")) return fetch(input, init);
        return fetch(input, { ...init, signal: AbortSignal.any([deadline.signal, signal]) });
      },
    },
  });
  receiver = await startReceiver((request) => (ANSWERS[request.url.pathname.split("/")[2] as Kind] ?? hold)(request));
  owner = await newUser(service, { plan: "enterprise" });
});

afterAll(async () => {
  await service.stop();
  await receiver.stop();
});

const rows = (): Promise<Row[]> =>
  service.sql<Row>(`select d.id, split_part(w.url, '/', 6) as n, d.event_id, d.status, d.response_status,
    d.attempted_at is not null as sent from webhook_deliveries d join webhooks w on w.id = d.webhook_id`);
const received = (kind: Kind) => receiver.seen.filter(({ url }) => url.pathname.includes(`/${kind}/`));
const numbersOf = (kind: Kind) => range(RECEIVERS).filter((n) => kindOf(n) === kind);

it("reaches every healthy receiver with every event while others fail, hang, redirect or are gone", async () => {
  const agent = await addAgent(owner);
  const { id: first } = await subscribe(owner, `${receiver.url}/${kindOf(0)}/0`);
  await service.sql(
    `insert into webhooks (user_id, url, event_types, secret)
     select user_id, u.url, event_types, secret from webhooks, unnest($2::text[]) as u(url) where id = $1`,
    [first, range(RECEIVERS - 1).map((n) => `${receiver.url}/${kindOf(n + 1)}/${n + 1}`)],
  );
  const events = range(EVENTS).map(() => randomUUID());
  await service.sql(
    `insert into outbox (consumer, id, body, due_at)
     select 'announce', id, jsonb_build_object('id', id, 'type', 'run.completed', 'created_at', now(), 'agent_id', $2::uuid,
       'data', '{}'::jsonb), now() from unnest($1::uuid[]) as e(id)`,
    [events, agent],
  );
  await service.app.scheduled(EVERY_MINUTE);
  const all = numbersOf("healthy").length * EVENTS;
  while (received("healthy").length < all) await receiver.count(receiver.seen.length + 1);

  // All of them are through while those that hang hold their own places, and no more than these.
  const ended = (await rows()).filter(({ n, sent }) => sent && kindOf(Number(n)) === "hangs").length;
  const held = received("hangs").length - ended;
  expect([held > 0, held <= numbersOf("hangs").length * PARALLELISM]).toEqual([true, true]);
  deadline.abort(new DOMException("The deadline has passed.", "TimeoutError"));
  await service.settled();

  const log = await rows();
  expect(log.filter(({ status }) => status === "pending").length).toBe(
    ["fails", "hangs", "redirects"].flatMap((kind) => numbersOf(kind as Kind)).length * EVENTS,
  );
  for (const n of numbersOf("healthy")) {
    const own = log.filter((row) => row.n === String(n));
    expect(own.map(({ event_id }) => event_id).toSorted()).toEqual(events.toSorted());
    expect(own.every(({ status, response_status }) => status === "succeeded" && response_status === 200)).toBe(true);
  }

  // Two more rounds of attempts: the table's first delays.
  await service.broker.advance(90_000);
  await service.settled();
  const [complete, heard] = [await rows(), receiver.seen.map((request) => headersOf(request).delivery)];
  expect(new Set(heard).size, "each attempt is sent once").toBe(heard.length);
  const hung = new Set(complete.filter(({ n, sent }) => sent && kindOf(Number(n)) === "hangs").map(({ id }) => id));
  const sent = complete.filter((row) => row.sent && !hung.has(row.id)).map(({ id }) => id);
  const taken = received("hangs").map((request) => headersOf(request).delivery);
  expect(heard.filter((id) => !taken.includes(id)).toSorted(), "the log is complete").toEqual(sent.toSorted());
  expect(taken.filter((id) => !hung.has(id))).toEqual([]);

  for (const n of numbersOf("gone")) {
    const own = complete.filter((row) => row.n === String(n));
    const arrived = own.filter((row) => row.sent);
    expect(own.map(({ status }) => status)).toEqual(own.map(() => "exhausted"));
    expect(arrived.length).toBeLessThanOrEqual(PARALLELISM);
    expect(arrived.every(({ response_status }) => response_status === 410)).toBe(true);
  }
  const gone = received("gone").length;
  await announce(service, agent);
  expect(received("gone")).toHaveLength(gone);
  expect(received("healthy")).toHaveLength(all + numbersOf("healthy").length);
}, 900_000);
