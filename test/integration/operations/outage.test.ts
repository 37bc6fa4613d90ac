import { afterAll, beforeAll, expect, it } from "vitest";
import { DAILY, EVERY_MINUTE } from "../../../functions/scheduled.ts";
import { newUser } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, quietQueueClient, startAgent, used } from "../runs/support.ts";

const MINUTE = 60_000;
/** Behind the daily work of the night, so that the next is far away. */
const MORNING = Date.parse("2026-11-21T04:00:00Z");

let service: TestService;
let time = MORNING;

/** Lets time pass for the service and the queue alike. */
async function pass(minutes: number): Promise<void> {
  time += minutes * MINUTE;
  await service.broker.advance(minutes * MINUTE);
  await service.settled();
}

async function minute(): Promise<void> {
  await pass(1);
  await service.app.scheduled(EVERY_MINUTE);
  await service.settled();
}

beforeAll(async () => {
  quietQueueClient();
  service = await startService({ overrides: { now: () => new Date(time) } });
  await service.app.scheduled(DAILY);
});

afterAll(() => service.stop());

/** Has a run submitted whose message the queue can't deliver, since the database is away for so long. */
async function whileAway(minutes: number, submittedBefore = "0") {
  const owner = await newUser(service, { plan: "pro" });
  const endpoint = await startAgent();
  const agent = await addAgent(owner, { endpoint: endpoint.url });
  const { tasks } = await addSuite(service, 1);
  await minute();
  service.faults.set({ service: "qstash", mode: "hang" });
  const runId = await addRun(owner, agent, tasks[0] ?? "");
  await service.sql("update runs set created_at = $2::timestamptz - $3::interval where id = $1", [
    runId,
    new Date(time).toISOString(),
    submittedBefore,
  ]);
  service.faults.set({ service: "db", mode: "down" });
  service.faults.set({ service: "qstash", mode: "none" });
  await service.settled();
  // As where the queue took it in time: what is still owed is published again in any case.
  await service.sql("delete from outbox where id = $1", [runId]);
  await pass(minutes);
  service.faults.set({ service: "db", mode: "none" });
  return {
    endpoint,
    used: () => used(service, "user", owner.id),
    async read() {
      const [run] = await service.sql(
        `select status, failure_code, attempt, (select count(*)::int from run_evidence where run_id = r.id) as statements,
          (select count(*)::int from outbox where id = r.id) as owed from runs r where id = $1`,
        [runId],
      );
      return run;
    },
  };
}

// The queue gives a message up after 33 minutes, and after 66 what is to tell of that.
it.each([
  [32, 2],
  [40, 27],
  [64, 2],
  [90, 1],
  [300, 1],
])("a database away for %i minutes costs a queued run nothing but time: it ends within %i more", async (away, more) => {
  const run = await whileAway(away);
  for (let left = more; left > 0; left -= 1) await minute();
  expect(await run.read()).toEqual({ status: "completed", failure_code: null, attempt: 1, statements: 1, owed: 0 });
  expect(run.endpoint.seen).toHaveLength(1);
  expect(await run.used()).toBe(1);
  await run.endpoint.stop();
});

it("a run that has waited for a day is given up at its message's end, paid back", async () => {
  const run = await whileAway(40, "25 hours");
  await pass(27);
  expect(await run.read()).toMatchObject({ status: "failed", failure_code: "service_error", owed: 0 });
  expect(run.endpoint.seen).toEqual([]);
  expect(await run.used()).toBe(0);
  await run.endpoint.stop();
});

it("a minute's work that is done each minute looks for no lost runs", async () => {
  const begun = () => service.sql("select started_at from daily_work where name = 'rescue runs'");
  await minute();
  const before = await begun();
  for (let left = 29; left > 0; left -= 1) await minute();
  await pass(28);
  await minute();
  expect(await begun()).toEqual(before);
  await pass(30);
  await minute();
  const after = await begun();
  expect(after).not.toEqual(before);
  await minute();
  expect(await begun()).toEqual(after);
});
