import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DAILY, EVERY_MINUTE } from "../../../functions/scheduled.ts";
import { type Consumer, startConsumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { answersFor, buy, shortenSuites, stateOf, statusOf } from "./certify-support.ts";
import { addAgent, quietQueueClient, startAgent } from "../runs/support.ts";
import { signedIn, subscribe } from "../webhooks/support.ts";

const HOST = "agent.example.com";
const RUNS = 10;
const DAY_MS = 86_400_000;

let service: TestService;
let endpoint: Consumer;
let receiver: Consumer;
let owner: User;
/** From the machine's clock to the service's, which stands at noon when a test begins, so that a day holds what it has to. */
let ahead = 0;
const now = (): Date => new Date(Date.now() + ahead);

beforeAll(async () => {
  quietQueueClient();
  ahead = DAY_MS / 2 - (Date.now() % DAY_MS);
  [endpoint, receiver] = await Promise.all([startAgent(), startConsumer()]);
  service = await startService({
    overrides: {
      now,
      fetch: (input, init) =>
        new URL(input instanceof Request ? input.url : input).hostname === HOST
          ? fetch(endpoint.url, init)
          : fetch(input, init),
    },
  });
  await shortenSuites(service);
});

afterAll(async () => {
  await service.stop();
  await Promise.all([endpoint.stop(), receiver.stop()]);
});

beforeEach(async () => {
  ahead = DAY_MS / 2 - (Date.now() % DAY_MS);
  resolver("none");
  service.dns.setZone({ [HOST]: { A: ["93.184.216.34"] } });
  owner = await newUser(service, { plan: "pro", verified: true });
});

const resolver = (mode: "servfail" | "none"): void => service.faults.set({ service: "resolver", mode });

/** Has the certification of an agent begin whose name is no longer resolved once it has answered three runs. */
async function begin(): Promise<{ agent: string; answered: number; missing: number }> {
  const agent = await addAgent(owner, { endpoint: `https://${HOST}/` });
  const webhook = { event_types: ["certification.updated"], agent_id: agent };
  await subscribe(owner, receiver.url, webhook);
  let calls = 0;
  endpoint.answer = (request) => {
    calls += 1;
    if (calls === 3) resolver("servfail");
    return answersFor(0.001)(request);
  };
  expect((await buy(owner, agent)).status).toBe(200);
  await service.settled();
  const answered = (await runsOf(agent))["completed"] ?? 0;
  expect(answered).toBeLessThan(RUNS);
  return { agent, answered, missing: RUNS - answered };
}

async function runsOf(agent: string): Promise<Record<string, number>> {
  const rows = await service.sql<{ how: string; runs: number }>(
    `select coalesce(failure_code, status) as how, count(*)::int as runs from runs where agent_id = $1 group by 1`,
    [agent],
  );
  return Object.fromEntries(rows.map(({ how, runs }) => [how, runs]));
}

/** Lets the leases of all attempts run out, until no run is under way any more. */
async function exhaust(agent: string): Promise<void> {
  for (let round = 0; round < 30; round += 1) {
    const open = await service.sql(
      `update runs set lease_expires_at = now() - interval '1 second', attempt = greatest(attempt, 4)
       where agent_id = $1 and status in ('queued', 'running') returning id`,
      [agent],
    );
    if (open.length === 0) return;
    await service.app.scheduled(EVERY_MINUTE);
    await service.settled();
  }
  throw new Error("runs go on for ever");
}

async function daily(days: number): Promise<void> {
  ahead += days * DAY_MS;
  await service.app.scheduled(DAILY);
  await service.settled();
}

const status = async (agent: string) => statusOf(await signedIn(service, owner), agent);

describe("an agent whose name is no longer resolved in the middle of its certification", () => {
  it("is never certified by the runs before: the rest is repeated, for 14 days, and then there is no verdict", async () => {
    const { agent, answered, missing } = await begin();
    const waits = async (service_error: number) => {
      await exhaust(agent);
      expect(await runsOf(agent)).toEqual({ completed: answered, service_error });
      expect(await status(agent)).toMatchObject({
        status: "screening",
        score: null,
        runs_missing: 0,
        progress: { total: RUNS, finished: answered, passed: answered },
      });
    };
    await waits(4 * missing);
    // Once more a day each, however often it is looked at.
    await daily(0);
    await waits(4 * missing);
    await daily(1);
    await waits(5 * missing);
    await daily(0);
    await waits(5 * missing);

    service.mailbox.clear();
    await daily(13);
    await exhaust(agent);
    const end = { status: "not_certified", score: null, runs_missing: missing, issued_at: null };
    expect(await status(agent)).toMatchObject({ ...end, progress: { total: RUNS, finished: answered } });
    expect(await stateOf(service, agent)).toBe("verified");
    const told = receiver.bodies().map((body) => (body as { data: { agent_id: string } }).data);
    expect(told.findLast(({ agent_id }) => agent_id === agent)).toMatchObject(end);
    const [mail] = service.mailbox.list(owner.email);
    expect(mail?.subject).toBe("Your agent's certification could not be completed");
    expect(mail?.text).toContain(`${missing} runs could not be carried out, so there is no verdict.`);
    const { certification_id } = await status(agent);
    const alarm = service.logs
      .filter((line) => line.includes("ended without a verdict"))
      .map((line) => JSON.parse(line));
    expect(alarm).toMatchObject([{ level: "error", certification_id, runs_missing: missing }]);
  });

  it("is certified by all of them once it is resolved again", async () => {
    const { agent, answered, missing } = await begin();
    await exhaust(agent);
    endpoint.answer = answersFor(0.001);
    resolver("none");
    await daily(1);
    expect(await runsOf(agent)).toEqual({ completed: RUNS, service_error: 4 * missing });
    expect(await status(agent)).toMatchObject({
      status: "certified",
      runs_missing: 0,
      progress: { total: RUNS, finished: RUNS, passed: RUNS },
    });
    expect(answered).toBeLessThan(RUNS);
  });
});
