import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { EVERY_MINUTE } from "../../../functions/scheduled.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Answer, type Caller, newUser, type User } from "../../stack/client.ts";
import type { FaultMode } from "../../stack/faults.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  addAgent,
  addRun,
  addSuite,
  answersRightly,
  quietQueueClient,
  startAgent,
  type TestSuite,
  unique,
  used,
} from "../runs/support.ts";
import { announce, logOf, signedIn, subscribe, WEBHOOKS } from "../webhooks/support.ts";

const HOST = "agent.example.com";
const ENDPOINT = `https://${HOST}/`;
const PUBLIC = { A: ["93.184.216.34"], AAAA: ["2606:2800:220:1::1"] };
const WAYS: FaultMode[] = ["down", "hang", "error", "rate_limited", "garbage", "truncated", "lost", "servfail"];
const DAY_S = 86_400;

let service: TestService;
let owner: User;
let other: Consumer;
let suite: TestSuite;
/** The requests that left for `HOST`; they end at `other`, on this machine. */
const packets: string[] = [];
let ahead = 0;
let frozen: Date | null = null;
const now = (): Date => frozen ?? new Date(Date.now() + ahead);

beforeAll(async () => {
  quietQueueClient();
  other = await startAgent();
  service = await startService({
    overrides: {
      now,
      // What hangs does so for good: there is nothing to wait for.
      dnsTimeoutMs: 500,
      fetch: (input, init) => {
        const url = new URL(input instanceof Request ? input.url : input);
        if (url.hostname === "127.0.0.1") return fetch(input, init);
        packets.push(url.href);
        return fetch(other.url, init);
      },
    },
  });
  service.dns.setZone({ [HOST]: PUBLIC });
  owner = await newUser(service, { plan: "enterprise" });
  suite = await addSuite(service, 1);
});

afterAll(async () => {
  await service.stop();
  await other.stop();
});

beforeEach(() => {
  service.dns.setZone({ [HOST]: PUBLIC });
  fail("none");
  other.answer = answersRightly;
  packets.length = 0;
  frozen = null;
});

function fail(mode: FaultMode): void {
  service.faults.set({ service: "resolver", mode });
}

/** Submits a run of an agent at `HOST` while the resolver fails, to the end of its first attempt. */
async function runWhile(mode: FaultMode): Promise<{ agent: string; run: string }> {
  const agent = await addAgent(owner, { endpoint: ENDPOINT });
  fail(mode);
  const run = await addRun(owner, agent, suite.tasks[0] ?? "");
  await service.settled();
  return { agent, run };
}

const read = async (run: string) => (await owner.call("GET", `/api/v1/runs/${run}`)).body;

/** Lets the leases of attempts run out, and the runs be taken up again. */
async function expireLeases(): Promise<void> {
  await service.sql(
    "update runs set lease_expires_at = now() - interval '1 second' where lease_expires_at is not null",
  );
  await service.app.scheduled(EVERY_MINUTE);
  await service.settled();
}

/** Lets time pass, for the service and for the queue, and what falls due be done. */
async function pass(seconds: number): Promise<void> {
  ahead += seconds * 1000;
  await service.broker.advance(seconds * 1000);
  await service.settled();
}

describe("a run whose name our resolver does not answer for", () => {
  it.each(WAYS)("is given up for now, blamed on nobody, and carried out later: %s", async (mode) => {
    const { run } = await runWhile(mode);
    expect(await read(run)).toMatchObject({ status: "running", failure_code: null, evidence_signed: false });
    expect(packets).toEqual([]);
    fail("none");
    await expireLeases();
    expect(await read(run)).toMatchObject({ status: "completed", passed: true, evidence_signed: true });
    expect(packets).toEqual([ENDPOINT]);
  });

  it("ends as our fault after five attempts: refunded, unsigned, in no score", async () => {
    const before = await used(service, "user", owner.id);
    const { agent, run } = await runWhile("error");
    expect(await used(service, "user", owner.id)).toBe(before + 1);
    for (let attempt = 1; attempt < 5; attempt += 1) {
      expect((await read(run)).status).toBe("running");
      await expireLeases();
    }
    await expireLeases();
    expect(await read(run)).toMatchObject({ status: "failed", failure_code: "service_error", evidence_signed: false });
    expect(await used(service, "user", owner.id)).toBe(before);
    expect(await service.sql("select from run_evidence where run_id = $1", [run])).toEqual([]);
    expect(await service.sql("select from task_scores where agent_id = $1", [agent])).toEqual([]);
    expect(packets).toEqual([]);
  });

  it("can't be called off that way by an agent that has seen its task", async () => {
    const agent = await addAgent(owner, { endpoint: ENDPOINT });
    other.answer = (request) => {
      if (packets.length > 1) return answersRightly(request);
      fail("error");
      return { status: 429, headers: { "retry-after": "0" } };
    };
    const run = await addRun(owner, agent, suite.tasks[0] ?? "");
    await service.settled();
    expect(await read(run)).toMatchObject({ status: "completed", evidence_signed: true });
    expect(packets).toEqual([ENDPOINT, ENDPOINT]);
  });
});

describe("a run is the agent's to answer for where the resolver says for certain that", () => {
  it.each([
    ["there is no such name", {}],
    ["the name has no address", { [HOST]: { TXT: ["v=1"] } }],
    ["an address is not public", { [HOST]: { A: ["93.184.216.34", "10.0.0.1"] } }],
    ["an address of the other type is not public", { [HOST]: { A: ["93.184.216.34"], AAAA: ["fd00::1"] } }],
  ])("%s", async (_case, zone) => {
    const agent = await addAgent(owner, { endpoint: ENDPOINT });
    service.dns.setZone(zone);
    const run = await addRun(owner, agent, suite.tasks[0] ?? "");
    await service.settled();
    expect(await read(run)).toMatchObject({
      status: "failed",
      failure_code: "endpoint_not_allowed",
      evidence_signed: true,
    });
    expect(packets).toEqual([]);
  });
});

describe("a caller is told that the fault is ours, and nothing is sent or kept, by", () => {
  const create = (fields: object) => owner.call("POST", "/api/v1/agents", { name: unique("New"), ...fields });
  const test = () => owner.call("POST", "/api/v1/integrations/test-connection", { endpoint: ENDPOINT });
  const find = (verb: string) => owner.call("POST", `/api/v1/registry/${verb}`, { url: ENDPOINT });
  const check = () => owner.call("POST", `/api/v1/agents/${agent}/readiness/check`);
  let agent: string;

  beforeEach(async () => void (agent = await addAgent(owner, { endpoint: ENDPOINT })));

  it.each<[string, () => Promise<Answer>, number]>([
    ["a test of a connection", test, 200],
    ["a check of readiness", check, 200],
    ["discovery", () => find("discover"), 200],
    ["registration", () => find("register"), 422],
    ["making an agent", () => create({ endpoint: ENDPOINT }), 201],
    ["changing one", () => owner.call("PATCH", `/api/v1/agents/${agent}`, { endpoint: `${ENDPOINT}v2` }), 200],
    ["subscribing", () => owner.call("POST", WEBHOOKS, { url: ENDPOINT, event_types: ["run.failed"] }), 201],
  ])("%s, which else is answered", async (_what, attempt, otherwise) => {
    const rows = () =>
      service.sql(`select (select count(*) from readiness_checks) as checks, (select count(*) from webhooks) as webhooks,
        (select jsonb_agg(endpoint order by id) from agents) as agents`);
    const before = await rows();
    fail("error");
    const { status, body, headers } = await attempt();
    expect([status, body.code, headers.get("retry-after")]).toEqual([503, "dependency_unavailable", "60"]);
    expect(body.detail).toMatch(/our fault/);
    expect([await rows(), packets]).toEqual([before, []]);
    fail("none");
    other.answer = () => json(200, { output: "ready" });
    expect((await attempt()).status).toBe(otherwise);
  });

  it("an import, in the row that it befell, and the others are made", async () => {
    fail("error");
    const rows = [{ name: unique("Bulk"), endpoint: ENDPOINT }, { name: unique("Bulk") }];
    const { status, body } = await owner.call("POST", "/api/v1/agents/bulk", { rows });
    expect([status, body.results]).toMatchObject([
      200,
      [{ status: "invalid", errors: [{ code: "dependency_unavailable", pointer: "" }] }, { status: "created" }],
    ]);
  });
});

describe("a webhook's delivery that our resolver keeps from being sent", () => {
  const strain = async (id: string) =>
    (await service.sql("select is_active, failures, failing_since from webhooks where id = $1", [id]))[0];
  const untouched = { is_active: true, failures: 0, failing_since: null };
  let agent: string;
  let user: Caller;

  beforeAll(async () => void (agent = await addAgent(owner, { is_public: false })));
  beforeEach(async () => {
    await service.sql("delete from webhooks");
    user = await signedIn(service, owner);
  });

  it("is put off, counts nothing against the receiver, and is the same attempt when it is sent", async () => {
    const { id } = await subscribe(user, ENDPOINT);
    fail("error");
    await announce(service, agent, { at: now() });
    const [first] = await logOf(user, id);
    expect(first).toMatchObject({ attempt: 1, status: "pending", failure_detail: null });
    await pass(65);
    expect([await strain(id), packets]).toEqual([untouched, []]);
    fail("none");
    await pass(65);
    expect(await logOf(user, id)).toMatchObject([{ id: first?.id, attempt: 1, status: "succeeded" }]);
    expect([await strain(id), packets]).toEqual([untouched, [ENDPOINT]]);
  });

  it.each([
    [0, 60],
    [8 * 60, 120],
    [2 * 3600, 1800],
    [2 * DAY_S, 3600],
  ])("waits ever longer: %i s after the event for %i s", async (age, wait) => {
    await subscribe(user, ENDPOINT);
    fail("error");
    frozen = new Date(now().getTime() + 1000);
    await announce(service, agent, { at: new Date(frozen.getTime() - age * 1000) });
    const [row] = await service.sql<{ next_attempt_at: Date }>("select next_attempt_at from webhook_deliveries");
    expect(row?.next_attempt_at).toEqual(new Date(frozen.getTime() + wait * 1000));
  });

  it("is given up three days after the event, and says why; by hand it is sent once more", async () => {
    const { id } = await subscribe(user, ENDPOINT);
    fail("error");
    await announce(service, agent, { at: new Date(now().getTime() - 3 * DAY_S * 1000 - 1000) });
    const [row] = await logOf(user, id);
    expect(row).toMatchObject({
      attempt: 1,
      status: "exhausted",
      failure_detail: expect.stringMatching(/our own DNS/),
    });
    expect([await strain(id), packets]).toEqual([untouched, []]);
    fail("none");
    await user.call("POST", `${WEBHOOKS}/${id}/deliveries/${row?.id}/redeliver`);
    await service.settled();
    expect(packets).toEqual([ENDPOINT]);
  });

  it("is told at once where it is a ping", async () => {
    const { id } = await subscribe(user, ENDPOINT);
    fail("error");
    const { status, body } = await user.call("POST", `${WEBHOOKS}/${id}/test`);
    expect([status, body]).toMatchObject([
      200,
      { status: "exhausted", failure_detail: expect.stringMatching(/our own/) },
    ]);
    expect([await strain(id), packets]).toEqual([untouched, []]);
  });
});
