import { createHmac, randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { NoticeParams } from "../../../shared/mail/message.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, quietQueueClient, range } from "../runs/support.ts";
import {
  announce,
  headersOf,
  logOf,
  newTeam,
  SECRET,
  signedIn,
  startReceiver,
  subscribe,
  type Webhook,
  WEBHOOKS,
} from "./support.ts";

const DELAYS_S = [5, 60, 300, 1800, 7200, 21_600, 43_200, 86_400];
const DAY = 86_400_000;

let service: TestService;
let receiver: Consumer;
let user: User;
let stranger: User;
let agent: string;
/** The service's clock stands still between the steps of a test; the queue's goes on, and neither goes back. */
let clock = Date.now();
let ahead = 0;

beforeAll(async () => {
  quietQueueClient();
  service = await startService({ overrides: { now: () => new Date(clock) } });
  receiver = await startReceiver();
  user = await newUser(service, { plan: "enterprise" });
  stranger = await newUser(service, { plan: "enterprise" });
  agent = await addAgent(user, { is_public: false });
});

afterAll(async () => {
  await service.stop();
  await receiver.stop();
});

beforeEach(async () => {
  clock = Date.now() + ahead;
  service.faults.set({ service: "qstash", mode: "none" });
  await service.sql("delete from webhooks");
  await service.sql("delete from webhook_events");
  await service.sql("delete from notices");
  await service.sql("delete from outbox");
  receiver.answer = () => ({ status: 200, body: "taken" });
  receiver.seen.length = 0;
});

/** Lets time pass, for the service and for the queue, and what falls due be done. */
async function pass(seconds: number): Promise<void> {
  ahead += seconds * 1000;
  clock = Date.now() + ahead;
  await service.broker.advance(seconds * 1000);
  await service.settled();
}

const at = (path: string): string => `${receiver.url}/${path}`;
const paths = (): string[] => receiver.seen.map(({ url }) => url.pathname.split("/").at(-1) ?? "").toSorted();
const read = async ({ id }: Webhook) => (await user.call("GET", `${WEBHOOKS}/${id}`)).body as Webhook;

describe("an event", () => {
  it("goes, signed, to each subscription that listens to it, and to no other", async () => {
    const second = await addAgent(user);
    await subscribe(user, at("all"));
    await subscribe(user, at("bound"), { agent_id: agent, event_types: ["run.failed", "run.completed"] });
    await subscribe(user, at("unsigned"), { secret: undefined });
    await subscribe(user, at("other-agent"), { agent_id: second });
    await subscribe(user, at("other-type"), { event_types: ["run.failed", "agent.score_updated"] });
    await subscribe(user, at("off"), { is_active: false });
    await subscribe(stranger, at("strangers"));
    const data = { run: { id: randomUUID(), name: "Größe “7” 🚀\u2028" } };
    const id = await announce(service, agent, { data });
    expect(paths()).toEqual(["all", "bound", "unsigned"]);
    expect(await service.sql("select id from webhook_deliveries")).toHaveLength(3);
    for (const request of receiver.seen) {
      const { event, delivery, timestamp, v2 } = headersOf(request);
      expect([event, timestamp]).toEqual(["run.completed", String(Math.floor(clock / 1000))]);
      expect(request.body.toString()).toBe(
        JSON.stringify({ id, type: "run.completed", created_at: "2026-11-21T09:00:00.123Z", data }),
      );
      const signature = createHmac("sha256", SECRET).update(`${timestamp}.${delivery}.`).update(request.body);
      expect(v2).toBe(request.url.pathname.endsWith("unsigned") ? undefined : `v2=${signature.digest("hex")}`);
    }
    expect(new Set(receiver.seen.map((request) => headersOf(request).delivery)).size).toBe(3);
  });

  it("of an agent that changed hands goes to its present owner's subscriptions alone", async () => {
    const moved = await addAgent(user);
    await subscribe(user, at("personal"));
    await subscribe(user, at("bound"), { agent_id: moved });
    const team = await newTeam(service, stranger);
    await service.sql("update agents set team_id = $1 where id = $2", [team, moved]);
    await subscribe(stranger, at("workspace"), { agent_id: moved });
    await subscribe(stranger, at("their-personal"));
    await announce(service, moved);
    expect(paths()).toEqual(["workspace"]);
  });

  it("that nobody listens to leaves nothing, and one that is too long is not sent", async () => {
    await announce(service, agent);
    await subscribe(user, at("all"));
    await announce(service, agent, { data: { text: "x".repeat(64 * 1024) } });
    const fits =
      64 * 1024 -
      JSON.stringify({
        id: randomUUID(),
        type: "run.completed",
        created_at: "2026-11-21T09:00:00.123Z",
        data: { text: "" },
      }).length;
    await announce(service, agent, { data: { text: "x".repeat(fits) } });
    expect(receiver.seen.map(({ body }) => body.length)).toEqual([64 * 1024]);
    expect(await service.sql("select id from webhook_events")).toHaveLength(1);
  });

  it("is sent once to each subscription though every message comes twice, at once, and again later", async () => {
    for (const n of range(5)) await subscribe(user, at(String(n)));
    service.broker.setChaos({ duplicate: true, shuffle: true });
    const id = await announce(service, agent);
    service.broker.setChaos({ duplicate: false, shuffle: false });
    await service.sql(
      `insert into outbox (consumer, id, generation, body, due_at)
       select 'deliver-due', id, 7, jsonb_build_object('webhook_id', id, 'due', now()), now() from webhooks`,
    );
    await announce(service, agent, { id });
    expect(paths()).toEqual(["0", "1", "2", "3", "4"]);
    expect(await service.sql("select distinct status, attempt from webhook_deliveries")).toEqual([
      { status: "succeeded", attempt: 1 },
    ]);
  });
});

describe("an attempt that fails", () => {
  it.each<[string, number, string]>([
    ["a redirect", 302, "there"],
    ["a client error", 404, "nothing here"],
    ["an informal success beyond 2xx", 304, ""],
  ])("is one that is answered with %s", async (_what, status, body) => {
    const webhook = await subscribe(user, at("fails"));
    receiver.answer = () => ({ status, body, headers: { location: at("elsewhere") } });
    await announce(service, agent);
    const log = await logOf(user, webhook.id);
    expect(log[1]).toMatchObject({ status: "failed", response_status: status, response_excerpt: body });
    expect(paths()).toEqual(["fails"]);
  });

  it("is followed by a success that ends the time of failures", async () => {
    const webhook = await subscribe(user, at("recovers"));
    receiver.answer = () => ({ status: 503 });
    await announce(service, agent);
    const state = () => service.sql("select failures, failing_since is not null as failing from webhooks");
    expect(await state()).toEqual([{ failures: 1, failing: true }]);
    receiver.answer = () => ({ status: 204 });
    await pass(20);
    expect(await state()).toEqual([{ failures: 0, failing: false }]);
    expect((await logOf(user, webhook.id)).map(({ status }) => status)).toEqual(["succeeded", "failed"]);
  });
});

describe("a subscription is turned off", () => {
  /** The mails about webhooks that are owed while the queue takes none. */
  const mails = () => service.sql<{ body: Record<string, unknown> }>("select body from outbox where consumer = 'mail'");

  it("by one 410: its owner is mailed once, and nothing goes there until it is turned on again", async () => {
    const webhook = await subscribe(user, at("gone"));
    receiver.answer = () => ({ status: 500 });
    await announce(service, agent);
    await announce(service, agent);
    receiver.answer = () => {
      service.faults.set({ service: "qstash", mode: "down" });
      return { status: 410, body: "gone" };
    };
    await pass(20);
    expect(await read(webhook)).toMatchObject({ is_active: false, disabled_reason: "receiver_gone" });
    const owed = await mails();
    expect(owed.map(({ body }) => [body["template"], body["to"]])).toEqual([["webhook_disabled", user.email]]);
    expect(NoticeParams.parse(owed[0]?.body["params"])).toEqual({
      username: null,
      title: at("gone"),
      reason: "The receiver answered 410 Gone.",
      page_id: null,
    });
    service.faults.set({ service: "qstash", mode: "none" });
    await service.sql("update outbox set due_at = now() where consumer = 'mail'");
    await service.app.scheduled("* * * * *");
    await service.settled();
    const told = service.mailbox.list(user.email).filter(({ subject }) => subject === "Your webhook was turned off");
    expect(told.map(({ text }) => text.includes("The receiver answered 410 Gone."))).toEqual([true]);
    // It promises no event that nobody keeps.
    expect(told[0]?.text).toContain("What happens while the webhook is off is neither sent nor kept");
    const before = receiver.seen.length;
    const unkept = await announce(service, agent);
    await pass(320);
    expect((await logOf(user, webhook.id)).map(({ event_id }) => event_id)).not.toContain(unkept);
    expect(receiver.seen).toHaveLength(before);
    expect((await logOf(user, webhook.id)).filter(({ status }) => status === "pending")).toEqual([]);
    await user.call("PATCH", `${WEBHOOKS}/${webhook.id}`, { is_active: true });
    expect(await read(webhook)).toMatchObject({ is_active: true, disabled_reason: null });
    receiver.answer = () => ({ status: 200 });
    await announce(service, agent);
    expect(receiver.seen).toHaveLength(before + 1);
  });

  it("with others at the same receiver: one mail tells of all of them, and another of those elsewhere", async () => {
    const other = await startReceiver(() => ({ status: 410 }));
    receiver.answer = () => ({ status: 410 });
    service.mailbox.clear();
    const urls = [...range(5).map((n) => at(`gone/${n}`)), `${other.url}/gone`];
    for (const url of urls) await subscribe(user, url);
    await announce(service, agent);
    const off = await service.sql("select from webhooks where not is_active");
    const told = service.mailbox.list(user.email).map(({ text }) => urls.filter((url) => text.includes(url)));
    await other.stop();
    expect([off.length, told.length, told.flat().filter((url) => url.startsWith(other.url)).length]).toEqual([6, 2, 1]);
  });

  it.each([
    ["20 attempts over 3 days", 19, 3 * DAY, true],
    ["19 attempts over 3 days", 18, 3 * DAY, false],
    ["20 attempts within less than 3 days", 19, 3 * DAY - 1, false],
  ])("or not by failures without one success: %s", async (_what, failures, failingMs, off) => {
    const webhook = await subscribe(user, at("fails"));
    const since = new Date(clock - failingMs).toISOString();
    await service.sql("update webhooks set failures = $1, failing_since = $2", [failures, since]);
    receiver.answer = () => {
      service.faults.set({ service: "qstash", mode: "down" });
      return { status: 500 };
    };
    await announce(service, agent);
    expect(await read(webhook)).toMatchObject({
      is_active: !off,
      disabled_reason: off ? "receiver_failing" : null,
    });
    expect(await mails()).toHaveLength(off ? 1 : 0);
    expect((await logOf(user, webhook.id))[0]?.status).toBe(off ? "exhausted" : "pending");
  });

  it("by its owner: what waits for its next attempt is not sent, and the log says so", async () => {
    const webhook = await subscribe(user, at("paused"));
    receiver.answer = () => ({ status: 500 });
    await announce(service, agent);
    await user.call("PATCH", `${WEBHOOKS}/${webhook.id}`, { is_active: false });
    await pass(20);
    expect(receiver.seen).toHaveLength(1);
    expect((await logOf(user, webhook.id))[0]).toMatchObject({
      status: "exhausted",
      attempted_at: null,
      failure_detail: expect.stringContaining("turned off"),
    });
  });
});

// Last: its days end every session.
describe("an attempt that goes on to fail", () => {
  it("is followed by eight more at their times, each with an id of its own, then by none", async () => {
    const webhook = await subscribe(user, at("fails"));
    receiver.answer = () => ({ status: 500, body: "broken" });
    const event = await announce(service, agent);
    for (const [index, delay] of DELAYS_S.entries()) {
      const [next, last] = await service.sql(
        "select attempt, status, response_status, attempted_at, next_attempt_at from webhook_deliveries order by id desc",
      );
      const due = new Date(clock + delay * 1000);
      expect(last).toMatchObject({ attempt: index + 1, status: "failed", response_status: 500, next_attempt_at: due });
      expect(next).toMatchObject({ attempt: index + 2, status: "pending", attempted_at: null, next_attempt_at: due });
      if (delay >= 60) await pass(delay - 45);
      expect(receiver.seen).toHaveLength(index + 1);
      await pass(delay >= 60 ? 60 : 20);
      expect(receiver.seen).toHaveLength(index + 2);
    }
    await pass(7 * 86_400);
    const owner = await signedIn(service, user);
    const log = await logOf(owner, webhook.id);
    expect(log.map(({ status }) => status)).toEqual(["exhausted", ...range(8).map(() => "failed")]);
    expect(log[0]).toMatchObject({ attempt: 9, response_excerpt: "broken", next_attempt_at: null });
    const sent = receiver.seen.map(headersOf);
    expect(sent.map(({ delivery }) => delivery)).toEqual(log.map(({ id }) => id).toReversed());
    expect(new Set(sent.map(({ timestamp }) => timestamp)).size).toBe(9);
    expect(new Set(receiver.bodies().map((body) => (body as { id: string }).id))).toEqual(new Set([event]));
  });
});
