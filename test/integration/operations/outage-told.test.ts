import { afterAll, beforeAll, expect, it } from "vitest";
import { DAILY, EVERY_MINUTE } from "../../../functions/scheduled.ts";
import { startConsumer } from "../../stack/broker/harness.ts";
import { caller, newUser, PASSWORD } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, quietQueueClient, startAgent } from "../runs/support.ts";
import { addSchedule } from "../runs/schedules-support.ts";
import { headersOf, subscribe } from "../webhooks/support.ts";

const MINUTE = 60_000;

let service: TestService;
/** Begins now: ids that the database makes have its time. */
let time = Date.now();

/** Lets time pass for the service, the queue, and what is owed. */
async function pass(minutes: number): Promise<void> {
  time += minutes * MINUTE;
  await service.sql(
    "update outbox set due_at = due_at - make_interval(mins => $1), created_at = created_at - make_interval(mins => $1)",
    [minutes],
  );
  await service.broker.advance(minutes * MINUTE);
  await service.settled();
}

/** Lets minutes pass with a trigger each; of many at once every fifth has to do. */
async function live(minutes: number, stride = 1): Promise<void> {
  for (let left = minutes; left > 0; left -= stride) {
    await pass(Math.min(stride, left));
    await service.app.scheduled(EVERY_MINUTE);
    await service.settled();
  }
}

beforeAll(async () => {
  quietQueueClient();
  service = await startService({ overrides: { now: () => new Date(time) } });
  await service.app.scheduled(DAILY);
  await live(2);
});

afterAll(() => service.stop());

/** Has the database away for so long, from the statements on that have `first` in them: the queue has the message by then. */
async function whileAway(minutes: number, first: string, work: () => Promise<unknown>): Promise<void> {
  service.faults.set({ service: "db", mode: "down", body: first });
  await work();
  await service.settled();
  service.faults.set({ service: "db", mode: "down" });
  await pass(minutes);
  service.faults.set({ service: "db", mode: "none" });
}

const TABLE = [10, 40, 90, 300, 600].map((away) => [away]);

it.each(TABLE)(
  "a database away for %i minutes delays the event of a run that ended by two more at most",
  async (away) => {
    const owner = await newUser(service, { plan: "pro" });
    const [endpoint, receiver] = await Promise.all([startAgent(), startConsumer()]);
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    const { tasks } = await addSuite(service, 1);
    await subscribe(owner, receiver.url);
    await whileAway(away, "announce_", () => addRun(owner, agent, tasks[0] ?? ""));
    await live(2);
    expect(receiver.seen.map((request) => headersOf(request).event)).toEqual(["run.completed"]);
    // What the queue still had comes, too, and is told no second time.
    await pass(600);
    expect(receiver.seen).toHaveLength(1);
    expect(await service.sql("select from outbox where consumer = 'announce'")).toEqual([]);
    await Promise.all([endpoint.stop(), receiver.stop()]);
  },
);

it.each(TABLE)("a database away for %i minutes delays a scheduled screening by two more at most", async (away) => {
  const owner = await newUser(service, { plan: "pro" });
  const endpoint = await startAgent();
  const agent = await addAgent(owner, { endpoint: endpoint.url });
  const suite = await addSuite(service, 1);
  const schedule = await addSchedule(owner, agent, { suite_id: suite.id, cron: "0 0 1 1 *" });
  await service.sql("update screening_schedules set next_run_at = $2 where id = $1", [
    schedule.id,
    new Date(time).toISOString(),
  ]);
  await whileAway(away, "is_leaving", () => live(1));
  await live(2);
  const state = () =>
    service.sql(
      `select last_error, (select count(*)::int from screening_sessions where agent_id = $2) as screenings
       from screening_schedules where id = $1`,
      [schedule.id, agent],
    );
  expect(await state()).toEqual([{ last_error: null, screenings: 1 }]);
  await pass(600);
  expect(await state()).toEqual([{ last_error: null, screenings: 1 }]);
  expect(await service.sql("select from outbox where consumer = 'schedule'")).toEqual([]);
  await endpoint.stop();
});

// A link to a new password works for an hour.
it.each([
  [10, 15, [1, 1]],
  [40, 20, [1, 1]],
  [90, 45, [0, 1]],
  [300, 65, [0, 1]],
  [600, 65, [0, 1]],
])("a mail service away for %i minutes delays mails by %i more at most", async (away, more, come) => {
  const { email, call } = await newUser(service);
  await service.settled();
  service.mailbox.clear();
  service.faults.set({ service: "mail", mode: "down" });
  await call("POST", "/api/v1/auth/forgot-password", { email });
  await call("PATCH", "/api/v1/auth/me", { current_password: PASSWORD, new_password: `${PASSWORD}!` });
  await live(away, 5);
  // The queue took them: it is not the queue that they wait for.
  expect((await caller(service).call("GET", "/readyz")).body).toMatchObject({ messages: "ok" });
  service.faults.set({ service: "mail", mode: "none" });
  await live(more, 5);
  const texts = service.mailbox.list(email).map(({ text }) => text);
  const links = texts.filter((text) => text.includes("/reset-password?token=")).length;
  expect([links, texts.length - links]).toEqual(come);
  const keys = service.resend.keys.length;
  await live(90, 5);
  expect(service.resend.keys).toHaveLength(keys);
  expect(await service.sql("select from outbox where consumer = 'mail'")).toEqual([]);
});

it.each([40, 26 * 60])(
  "a mail is sent no second time where the database is away for %i minutes behind it",
  async (away) => {
    const { email, call } = await newUser(service);
    await service.settled();
    service.mailbox.clear();
    await whileAway(away, "o.consumer = $1 and o.id = $2", () =>
      call("PATCH", "/api/v1/auth/me", { current_password: PASSWORD, new_password: `${PASSWORD}!` }),
    );
    const keys = service.resend.keys.length;
    await live(2);
    expect(service.mailbox.list(email)).toHaveLength(1);
    // Resend takes a mail that comes again for the same within a day; after that nothing may ask for it.
    expect(service.resend.keys.length - keys).toBeLessThanOrEqual(away > 24 * 60 ? 0 : 1);
    expect(await service.sql("select from outbox where consumer = 'mail'")).toEqual([]);
  },
);

it("a database away for 90 minutes delays what is told of a regression by two more at most", async () => {
  const owner = await newUser(service, { plan: "pro" });
  const [endpoint, receiver] = await Promise.all([startAgent(), startConsumer()]);
  const agent = await addAgent(owner, { endpoint: endpoint.url });
  const suite = await addSuite(service, 20);
  await subscribe(owner, receiver.url, { event_types: ["regression.detected"] });
  const screen = async () => {
    const batch = { agent_id: agent, suite_id: suite.id, repeats: 1 };
    expect((await owner.call("POST", "/api/v1/runs/batch", batch)).status).toBe(200);
  };
  await screen();
  await live(2);
  endpoint.answer = () => json(200, { output: "wrong" });
  await whileAway(90, "planned_tasks(s.task_plan) as tasks", screen);
  await live(2);
  expect(receiver.seen.map((request) => headersOf(request).event)).toEqual(["regression.detected"]);
  await Promise.all([endpoint.stop(), receiver.stop()]);
});
