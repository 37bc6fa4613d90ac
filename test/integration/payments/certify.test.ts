import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DAILY, EVERY_MINUTE } from "../../../functions/scheduled.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import type { Settings } from "../../stack/settings.ts";
import { variant } from "./billing-support.ts";
import {
  addEnded,
  answersFor,
  buy,
  CERTIFY,
  goOn,
  grantUnpublished,
  type Made,
  paidBy,
  runsOf,
  shortenSuites,
  stateOf,
  statusOf,
} from "./certify-support.ts";
import { addAgent, addSuite, from, quietQueueClient, range, startAgent, tally, used } from "../runs/support.ts";
import { addTeam } from "../runs/schedules-support.ts";

const DAY = 86_400_000;
/** When every test begins; tokens that are made then are good for a quarter of an hour. */
const START = Date.parse("2026-11-21T09:00:00.000Z");
const TASKS = 2;
const RUNS = 5 * TASKS;

let service: TestService;
let endpoint: Consumer;
/** What an agent is certified by. */
let tasks: string[];
/** What no agent is certified by. */
let scored: string[];
let owner: User;
let stranger: User;
let clock = START;
let tests = 0;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(clock) } });
  endpoint = await startAgent();
  tasks = await shortenSuites(service);
  scored = (await addSuite(service, 5)).tasks;
  quietQueueClient();
  [owner, stranger] = [await newUser(service, { plan: "team" }), await newUser(service)];
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

beforeEach(async () => {
  clock = START;
  endpoint.answer = answersFor(0.001);
  await service.sql("delete from allowances");
  await service.sql("delete from certifications where status in ('awaiting_payment', 'screening', 'paused_quota')");
  await service.sql("update users set plan = 'team' where id = $1", [owner.id]);
  // Each test from an address of its own, so that no limit is shared.
  tests += 1;
  await signIn();
});

/** Signs both in anew: the sessions of before are gone where the nights of three months went by. */
async function signIn(): Promise<void> {
  for (const user of [owner, stranger]) {
    const { email } = user;
    const { body } = await caller(service, from(tests)).call("POST", "/api/v1/auth/login", {
      email,
      password: PASSWORD,
    });
    user.token = body.access_token;
    Object.assign(user, caller(service, { authorization: `Bearer ${user.token}`, ...from(tests) }));
  }
}

const live = (fields: object = {}, by: User = owner): Promise<string> =>
  addAgent(by, { endpoint: endpoint.url, ...fields });

/** Reads at the time of the start again. */
async function atStart<T>(work: () => Promise<T>): Promise<T> {
  const then = clock;
  clock = START;
  await signIn();
  return work().finally(() => (clock = then));
}

async function trigger(cron: string, at: number): Promise<void> {
  clock = at;
  await service.app.scheduled(cron);
  await service.settled();
}

const ALL: Made = { passed: 5 };

async function ended(made: Made[]): Promise<{ agent: string; id: string }> {
  const agent = await live();
  return { agent, id: await addEnded(service, { agent, owner, scored, made }) };
}

/** Has such an agent judged. */
async function judged(made: Made[]) {
  const { agent, id } = await ended(made);
  expect(await Promise.all(range(3).map(() => goOn(service, id)))).toEqual([200, 200, 200]);
  const { status, score } = await statusOf(owner, agent);
  return { agent, verdict: { status, score, shown: await stateOf(service, agent) } };
}

describe("a certification", () => {
  it("in dev mode is granted, screened by all tasks, secret ones too, and certifies a good agent for 90 days", async () => {
    const agent = await live();
    const { status, body } = await buy(owner, agent);
    expect(status).toBe(200);
    expect(body).toMatchObject({ kind: "dev_grant", status: "screening" });
    await service.settled();
    const { certification_id, screening_session_id } = body;
    expect(await statusOf(owner, agent)).toEqual({
      agent_id: agent,
      certification_id,
      screening_session_id,
      status: "certified",
      progress: { total: RUNS, finished: RUNS, passed: RUNS },
      paused_reason: null,
      runs_missing: 0,
      score: 90,
      issued_at: new Date(START).toISOString(),
      expires_at: new Date(START + 90 * DAY).toISOString(),
    });
    const { body: session } = await owner.call("GET", `/api/v1/screening-sessions/${screening_session_id}`);
    expect(session).toMatchObject({ trigger: "certification", repeats: 5, status: "completed" });
    expect(session.task_plan.map(({ task_id }: { task_id: string }) => task_id)).toEqual(tasks);
    expect(await paidBy(service, agent)).toEqual({ certification: RUNS });
    expect(await used(service, "user", owner.id)).toBe(0);
    const { body: read } = await owner.call("GET", `/api/v1/agents/${agent}`);
    expect(read.verified_state).toBe("certified");
    const credential = await owner.call("GET", `/api/v1/agents/${agent}/credential`);
    expect(credential).toMatchObject({ status: 200, body: { verified: true } });
  });

  it("is granted once, though asked for in parallel or again", async () => {
    const agent = await live();
    endpoint.answer = () => new Promise((resolve) => setImmediate(() => resolve({ status: 500 })));
    const answers = await Promise.all(range(8).map(() => buy(owner, agent)));
    expect(tally(answers)).toEqual({ 200: 1, 409: 7 });
    const refused = answers.filter(({ status }) => status === 409).map(({ body }) => body.code);
    expect(new Set(refused)).toEqual(new Set(["certification_in_progress"]));
    await service.settled();
    expect(await runsOf(service, agent)).toEqual({ failed: RUNS });
    expect((await statusOf(owner, agent)).status).toBe("not_certified");
    expect((await buy(owner, agent)).status).toBe(200);
    await service.settled();
  });

  it("answers a repeated Idempotency-Key with the first grant, and starts no other", async () => {
    const agent = await live();
    const key = { "idempotency-key": "certify-once" };
    const first = await buy(owner, agent, {}, key);
    await service.settled();
    const again = await buy(owner, agent, {}, key);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.body).toEqual(first.body);
    expect(await runsOf(service, agent)).toEqual({ completed: RUNS });
    const nobodys = await buy(stranger, agent, {}, { "idempotency-key": "not-mine" });
    expect(nobodys.status).toBe(404);
  });

  it("keeps an agent certified while new runs are scored", async () => {
    const { agent } = await judged([ALL]);
    await owner.call("POST", "/api/v1/runs", { agent_id: agent, task_id: tasks[0] });
    await service.settled();
    expect(await stateOf(service, agent)).toBe("certified");
  });

  it("ends after 90 days to the minute, and leaves the agent verified and free to be certified again", async () => {
    const agent = await live();
    await buy(owner, agent);
    await service.settled();
    await trigger(DAILY, START + 90 * DAY - 1);
    expect([await stateOf(service, agent), (await atStart(() => statusOf(owner, agent))).status]).toEqual([
      "certified",
      "certified",
    ]);
    await trigger(EVERY_MINUTE, START + 90 * DAY);
    expect([await stateOf(service, agent), (await atStart(() => statusOf(owner, agent))).status]).toEqual([
      "verified",
      "expired",
    ]);
    await atStart(async () => expect((await buy(owner, agent)).status).toBe(200));
    await service.settled();
    // One that has expired takes nothing from the one in force.
    await service.sql(
      "update certifications set status = 'certified', expires_at = $2 where agent_id = $1 and status = 'expired'",
      [agent, new Date(START)],
    );
    await trigger(DAILY, START + DAY);
    expect(await stateOf(service, agent)).toBe("certified");
  });

  it("is no simulated agent's: it ends when its agent becomes one, also at the moment of the verdict", async () => {
    const { agent } = await judged([ALL]);
    await owner.call("PATCH", `/api/v1/agents/${agent}`, { endpoint: `${endpoint.url}/moved` });
    expect(await stateOf(service, agent)).toBe("certified");
    const races = await Promise.all(range(6).map(() => ended([ALL])));
    const simulate = (id: string) => owner.call("PATCH", `/api/v1/agents/${id}`, { connection_mode: "mock" });
    await Promise.all([simulate(agent), ...races.flatMap((race) => [goOn(service, race.id), simulate(race.agent)])]);
    for (const id of [agent, ...races.map((race) => race.agent)]) {
      expect(await stateOf(service, id)).not.toBe("certified");
      expect((await owner.call("GET", `/api/v1/agents/${id}/credential`)).status).toBe(404);
    }
    const revoked = await service.sql("select from certifications where agent_id = $1 and revoked_at is not null", [
      agent,
    ]);
    expect([(await statusOf(owner, agent)).status, revoked.length]).toEqual(["expired", 1]);
  });

  it("ends with its agent's account, and its credential is revoked", async () => {
    const leaver = await newUser(service, { plan: "pro" });
    const agent = await live({}, leaver);
    await buy(leaver, agent);
    await service.settled();
    const screened = await live({}, leaver);
    await grantUnpublished(service, leaver, screened);
    await service.sql("update users set deletion_scheduled_for = $2 where id = $1", [leaver.id, new Date(START)]);
    await trigger(DAILY, START);
    const left = await service.sql(
      "select agent_id, status, user_id, jws, revoked_at is not null as revoked from certifications where agent_id in ($1, $2)",
      [agent, screened],
    );
    expect(left).toEqual([{ agent_id: agent, status: "expired", user_id: null, jws: null, revoked: true }]);
    expect(await stateOf(service, agent)).toBe("verified");
  });
});

describe("what stands against a certification", () => {
  /** The owner at services that are set otherwise: switched off, or with a payment key and no price. */
  let at: Record<"uncertified" | "unsealed" | "unbilled" | "unpriced", Caller>;
  let hidden: string;

  beforeAll(async () => {
    clock = START;
    const set = (settings: Settings): Caller => {
      const other = variant(service, settings, { now: () => new Date(clock) });
      const headers = { authorization: `Bearer ${owner.token}` };
      return {
        call: (method, path, body, more) => other.call(method, path, body, { ...headers, ...from(tests), ...more }),
      };
    };
    at = {
      uncertified: set({ FLAGS: "secret_suites" }),
      unsealed: set({ FLAGS: "certify" }),
      unbilled: set({ FLAGS: "certify,secret_suites" }),
      unpriced: set({ STRIPE_SECRET_KEY: "sk_test_unused", STRIPE_WEBHOOK_SECRET: "whsec_unused" }),
    };
    hidden = await live({ is_public: false }, await newUser(service));
  });

  const ofOwner = () => live();
  const mock = () => addAgent(owner);
  const certified = async () => (await judged([ALL])).agent;
  const deactivated = async () => {
    const agent = await live();
    await owner.call("DELETE", `/api/v1/agents/${agent}`);
    return agent;
  };
  const retired = async () => {
    const agent = await live();
    await service.sql("update agents set connection_mode = 'customer_llm' where id = $1", [agent]);
    return agent;
  };

  // Each has everything against it that comes after, as far as that is possible.
  it.each<[string, number, () => Caller, () => Promise<string> | string, boolean?]>([
    ["certify_disabled", 503, () => at.uncertified, () => hidden, false],
    ["certify_disabled", 503, () => at.unsealed, () => hidden, false],
    ["certify_disabled", 503, () => at.uncertified, () => hidden],
    ["billing_disabled", 503, () => at.unbilled, () => hidden, false],
    ["not_found", 404, () => at.unpriced, () => hidden, false],
    ["not_found", 404, () => stranger, ofOwner, false],
    ["not_found", 404, () => stranger, ofOwner],
    ["eu_waiver_required", 422, () => at.unpriced, mock, false],
    ["eu_waiver_required", 422, () => at.unpriced, mock],
    ["agent_not_live", 409, () => at.unpriced, mock, true],
    ["agent_not_live", 409, () => at.unpriced, deactivated, true],
    ["agent_not_live", 409, () => at.unpriced, retired, true],
    ["already_certified", 409, () => at.unpriced, certified, true],
    ["payment_not_configured", 503, () => at.unpriced, ofOwner, true],
  ])("is told in order: %s (%i)", async (code, status, who, which, eu_waiver_accepted) => {
    const agent = await which();
    const before = await service.sql("select count(*) from certifications");
    expect(await buy(who(), agent, { eu_waiver_accepted })).toMatchObject({ status, body: { code } });
    expect(await service.sql("select count(*) from certifications")).toEqual(before);
  });

  it("is listed in whole for those who may buy", async () => {
    const read = async (who: Caller, agent: string) =>
      (await who.call("GET", `${CERTIFY}/eligibility?agent_id=${agent}`)).body;
    const agent = await live();
    expect(await read(owner, agent)).toEqual({
      agent_id: agent,
      eligible: true,
      reasons: [],
      price_usd: 39,
      runs_needed: RUNS,
    });
    const cases: [string, string[]][] = [
      [await addAgent(owner), ["mock_only"]],
      [await retired(), ["retired_connection"]],
      [await deactivated(), ["no_endpoint"]],
      [await certified(), ["already_certified"]],
    ];
    for (const [one, reasons] of cases) expect(await read(owner, one)).toMatchObject({ eligible: false, reasons });
    await grantUnpublished(service, owner, agent);
    for (const off of [at.uncertified, at.unsealed])
      expect(await read(off, agent)).toMatchObject({ eligible: false, reasons: ["certify_disabled", "in_progress"] });
  });

  it.each<[string, number[]]>([
    ["stranger", [404, 404, 404]],
    ["viewer", [404, 200, 404]],
    ["member", [404, 200, 404]],
    ["runner", [404, 200, 404]],
    ["editor", [404, 200, 404]],
    ["admin", [200, 200, 200]],
    ["owner", [200, 200, 200]],
  ])(
    "is a matter of those who answer for the agent: eligibility, status and checkout for a %s",
    async (role, wanted) => {
      const somebody = role === "owner" ? owner : await newUser(service);
      const isMember = role !== "owner" && role !== "stranger";
      await service.sql("update users set plan = 'enterprise' where id = $1", [owner.id]);
      const team = await addTeam(service, owner, isMember ? { [role]: somebody } : {});
      const agent = await live({ team_id: team, is_public: false });
      const of = (what: string) => somebody.call("GET", `${CERTIFY}/${what}?agent_id=${agent}`);
      const asked = [await of("eligibility"), await of("status"), await buy(somebody, agent)];
      expect(asked.map(({ status }) => status)).toEqual(wanted);
      await service.settled();
      const isBought = wanted[2] === 200;
      expect((await statusOf(owner, agent)).status).toBe(isBought ? "certified" : "none");
      expect(await paidBy(service, agent)).toEqual(isBought ? { certification: RUNS } : {});
      expect(await used(service, "team", team)).toBe(0);
      expect((await caller(service).call("GET", `/api/v1/agents/${agent}/credential`)).status).toBe(404);
    },
  );

  it("is nothing for an agent that never was certified, and stands in the diagnostic", async () => {
    const agent = await live();
    expect(await statusOf(owner, agent)).toMatchObject({
      certification_id: null,
      status: "none",
      progress: { total: 0, finished: 0, passed: 0 },
    });
    const diagnostic = async (who: Caller) => (await who.call("GET", `${CERTIFY}/diagnostic`)).body;
    expect(await diagnostic(at.uncertified)).toMatchObject({ enabled: false, secret_suites_enabled: true });
    expect(await diagnostic(at.unsealed)).toMatchObject({ enabled: false, secret_suites_enabled: false });
    expect(await diagnostic(caller(service))).toEqual({
      enabled: true,
      secret_suites_enabled: true,
      price_usd: 39,
      price_configured: false,
      payment_configured: false,
      dev_mode: true,
      repeats: 5,
      task_count: TASKS,
      pass_score: 70,
      valid_days: 90,
    });
  });
});
