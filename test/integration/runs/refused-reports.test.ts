import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { EVERY_MINUTE } from "../../../functions/scheduled.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, callbackIn, KEY, startAgent, type TestSuite } from "./support.ts";

const DONE = { status: "completed", output: KEY };
/** What the statement alone has that takes an agent's report. */
const REPORTING = "kept_take_reports";
/** Beyond the time limit of a task. */
const PAST_DEADLINE_MS = 61_000;
/** Beyond the end of the wait, until which a report that came in time may be under way, and the second to which the queue rounds. */
const PAST_WAIT_MS = 77_000;

let service: TestService;
let owner: User;
let endpoint: Consumer;
let agent: string;
let suite: TestSuite;
let skipped = 0;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(Date.now() + skipped) } });
  owner = await newUser(service, { plan: "pro" });
  endpoint = await startAgent();
  agent = await addAgent(owner, { endpoint: endpoint.url });
  suite = await addSuite(service, 1);
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

beforeEach(() => {
  endpoint.seen.length = 0;
  endpoint.answer = () => ({ status: 202 });
});

/** Puts both clocks, the service's and the queue's, past the wait for whatever was promised, and waits for what is due. */
async function pastWait(): Promise<void> {
  skipped += PAST_WAIT_MS;
  await service.broker.advance(PAST_WAIT_MS);
  await service.settled();
}

/** The run and the token of the latest request to the agent. */
const asked = () => callbackIn(endpoint.seen.at(-1)?.body);

async function promised(): Promise<{ runId: string; token: string }> {
  await addRun(owner, agent, suite.tasks[0] ?? "");
  await service.settled();
  return asked();
}

const report = ({ runId, token }: { runId: string; token: string }, body: object = DONE) =>
  caller(service).call("PATCH", `/api/v1/runs/${runId}`, body, { authorization: `Bearer ${token}` });
/** Sends a report as it stands. */
const sent = (
  { runId, token }: { runId: string; token: string },
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
) => caller(service).call("PATCH", `/api/v1/runs/${runId}`, body, { authorization: `Bearer ${token}`, ...headers });
const read = async (runId: string) => (await owner.call("GET", `/api/v1/runs/${runId}`)).body;

async function refused(by: { runId: string; token: string }, mode: "down" | "error", body?: object): Promise<void> {
  service.faults.set({ service: "db", mode, count: 1, body: REPORTING });
  expect((await report(by, body)).status).toBe(503);
}

it.each(["down", "error"] as const)(
  "a report in time that the database (%s) could not take is not held against its agent: the run is taken up again",
  async (mode) => {
    const first = await promised();
    await refused(first, mode);
    await pastWait();
    expect(await read(first.runId)).toMatchObject({ status: "running", failure_code: null });
    await service.app.scheduled(EVERY_MINUTE);
    await service.settled();
    const second = asked();
    expect([second.runId, (await report(first)).status, (await report(second)).status]).toEqual([
      first.runId,
      401,
      200,
    ]);
    await service.settled();
    expect(endpoint.seen).toHaveLength(2);
    expect(await read(first.runId)).toMatchObject({ status: "completed", passed: true, evidence_signed: true });
  },
);

it("a report in time that the database has yet to answer when the deadline passes is the answer", async () => {
  const run = await promised();
  service.faults.set({ service: "db", mode: "hang", count: 1, body: REPORTING });
  const reported = report(run);
  await vi.waitUntil(() => service.faults.hanging("db") === 1, { timeout: 10_000, interval: 1 });
  skipped += PAST_DEADLINE_MS;
  await service.broker.advance(PAST_DEADLINE_MS);
  service.faults.set({ service: "db", mode: "none" });
  expect((await reported).status).toBe(200);
  await service.settled();
  expect(await read(run.runId)).toMatchObject({ status: "completed", passed: true });
});

it("each time counts by itself: a run that is taken up again is its agent's to report on", async () => {
  const first = await promised();
  for (let time = 1; time <= 2; time += 1) {
    await refused(asked(), "error");
    await pastWait();
    await service.app.scheduled(EVERY_MINUTE);
    await service.settled();
  }
  expect(endpoint.seen).toHaveLength(3);
  await pastWait();
  expect(await read(first.runId)).toMatchObject({ status: "failed", failure_code: "agent_timeout" });
});

it("one that is taken after all, or tried again in time, is the answer", async () => {
  const run = await promised();
  await refused(run, "error");
  expect((await report(run)).status).toBe(200);
  await pastWait();
  expect(await read(run.runId)).toMatchObject({ status: "completed", passed: true });
  expect(endpoint.seen).toHaveLength(1);
});

it("a report after the deadline saves no run, nor does one that says only that the agent is at work", async () => {
  const [late, busy] = [await promised(), await promised()];
  await refused(busy, "error", { status: "running" });
  skipped += PAST_DEADLINE_MS;
  await refused(late, "error");
  await service.broker.advance(PAST_WAIT_MS);
  await service.settled();
  for (const { runId } of [late, busy])
    expect(await read(runId)).toMatchObject({ status: "failed", failure_code: "agent_timeout" });
});

describe("the owner of a run that ends without a report", () => {
  beforeAll(async () => {
    owner = await newUser(service, { plan: "pro" });
    agent = await addAgent(owner, { endpoint: endpoint.url });
  });

  const FORMS: [string, string | Uint8Array<ArrayBuffer>, Record<string, string>, string][] = [
    [
      "another media type",
      JSON.stringify(DONE),
      { "content-type": "text/plain" },
      "415: Send the body with Content-Type",
    ],
    [
      "gzip",
      new Uint8Array(gzipSync(JSON.stringify(DONE))),
      { "content-encoding": "gzip" },
      "415: Send the body without",
    ],
    ["no JSON", "{", {}, "400: The body can't be parsed as JSON"],
    [
      "an unknown member",
      JSON.stringify({ ...DONE, refused: false }),
      {},
      "422: /refused: This field is not known here",
    ],
    ["too much", JSON.stringify({ ...DONE, output: "x".repeat(1024 * 1024) }), {}, "413: The body is larger than"],
  ];

  it.each(FORMS)("is told why one was refused: %s", async (_case, body, headers, why) => {
    const run = await promised();
    expect(`${(await sent(run, body, headers)).status}`).toBe(why.slice(0, 3));
    await pastWait();
    expect(await read(run.runId)).toMatchObject({
      failure_code: "agent_timeout",
      failure_detail: expect.stringContaining(`before the deadline. The last one was refused with ${why}`),
    });
  });

  it("is told by how much one was late, and so is its agent", async () => {
    const run = await promised();
    skipped += PAST_DEADLINE_MS;
    const late = await report(run);
    expect([late.status, late.body.detail]).toEqual([401, "The report came after the deadline of its run."]);
    skipped += PAST_WAIT_MS - PAST_DEADLINE_MS;
    await service.broker.advance(PAST_WAIT_MS);
    await service.settled();
    const { failure_detail } = await read(run.runId);
    expect(failure_detail).toMatch(/before the deadline\. One came 1\.\d seconds after it\.$/);
  });

  it("is not told of what a stranger sent", async () => {
    const [run, other] = [await promised(), await promised()];
    expect((await sent({ ...run, token: other.token }, "{", {})).status).toBe(401);
    await pastWait();
    expect((await read(run.runId)).failure_detail).toContain("If the agent sent one, the answer to it says");
  });

  it("hears nothing of it where it was sent again in time, and taken", async () => {
    const run = await promised();
    expect([(await sent(run, "{", {})).status, (await report(run)).status]).toEqual([400, 200]);
    await pastWait();
    expect(await read(run.runId)).toMatchObject({ status: "completed", failure_detail: null });
  });
});

it("one of the owner after the deadline is refused until the run has ended, which says when it came", async () => {
  const { runId } = await promised();
  const told = (body: object) => owner.call("PATCH", `/api/v1/runs/${runId}`, body);
  skipped += PAST_DEADLINE_MS;
  for (const body of [DONE, { status: "running" }])
    expect(await told(body)).toMatchObject({ status: 409, body: { code: "report_too_late" } });
  expect(await read(runId)).toMatchObject({ status: "running" });
  await pastWait();
  const final = await owner.call("GET", `/api/v1/runs/${runId}`);
  expect(final.body).toMatchObject({ status: "failed", failure_code: "agent_timeout" });
  expect(final.body["failure_detail"]).toMatch(/One came 1\.\d seconds after it\.$/);
  const again = await told(DONE);
  expect([again.status, again.text]).toEqual([200, final.text]);
});

it("ends by the reaper where the queue has lost the message for it", async () => {
  const [silent, told] = [await promised(), await promised()];
  await refused(told, "down");
  skipped += PAST_DEADLINE_MS;
  await service.sql(
    "update runs set lease_expires_at = now() - interval '1 second' where id = any($1) and awaiting_callback",
    [[silent.runId, told.runId]],
  );
  await service.app.scheduled(EVERY_MINUTE);
  await service.settled();
  expect(await read(silent.runId)).toMatchObject({ status: "failed", failure_code: "agent_timeout" });
  expect(await read(told.runId)).toMatchObject({ status: "running", failure_code: null });
  await service.app.scheduled(EVERY_MINUTE);
  await service.settled();
  expect((await report(asked())).status).toBe(200);
  await service.settled();
  expect(await read(told.runId)).toMatchObject({ status: "completed", passed: true });
});
