import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, from, range, reserved, tally, type TestSuite } from "./support.ts";

let service: TestService;
let owner: User;
let agent: string;
let suite: TestSuite;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "pro" });
  agent = await addAgent(owner, { allow_trial: true });
  suite = await addSuite(service, 3);
});

afterAll(() => service.stop());

const keyed = (key: string, number = 0) => ({ "idempotency-key": key, ...from(number) });

/** Both endpoints that spend runs, each with a request and what it takes. */
const ENDPOINTS: [path: string, body: () => Record<string, unknown>, units: number][] = [
  ["/api/v1/runs", () => ({ agent_id: agent, task_id: suite.tasks[0] }), 1],
  ["/api/v1/runs/batch", () => ({ agent_id: agent, suite_id: suite.id, repeats: 2 }), 6],
];

/** A part of the statement that reserves; what is still done for earlier runs has it not. */
const RESERVING = "idempotency_keys";

/** How much more there is of each than `before` said; the outbox is emptied by and by. */
async function growth(before: Record<string, number>) {
  const after = await reserved(service);
  return { runs: diff("runs"), sessions: diff("sessions"), allowances: diff("allowances") };
  function diff(name: string): number {
    return (after[name] ?? 0) - (before[name] ?? 0);
  }
}

describe.each(ENDPOINTS)("POST %s with an Idempotency-Key", (path, body, units) => {
  const sessions = path.endsWith("batch") ? 1 : 0;

  it("gives the first answer again, and says so", async () => {
    const headers = keyed(randomUUID());
    const first = await owner.call("POST", path, body(), headers);
    const before = await reserved(service);
    await service.settled();
    const again = await owner.call("POST", path, body(), headers);
    expect(first.headers.get("idempotency-replayed")).toBeNull();
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect(await growth(before)).toEqual({ runs: 0, sessions: 0, allowances: 0 });
  });

  it("takes the same members in another order for the same request", async () => {
    const headers = keyed(randomUUID());
    const first = await owner.call("POST", path, body(), headers);
    const reordered = Object.fromEntries(Object.entries(body()).toReversed());
    const again = await owner.call("POST", path, reordered, headers);
    expect(again.text).toBe(first.text);
  });

  it("refuses another body under the same key", async () => {
    const headers = keyed(randomUUID());
    await owner.call("POST", path, body(), headers);
    const before = await reserved(service);
    const other = await owner.call("POST", path, { ...body(), private: true }, headers);
    const errors = [{ in: "header", pointer: "/Idempotency-Key", code: "idempotency_key_reused" }];
    expect(other).toMatchObject({ status: 422, body: { code: "idempotency_key_reused", errors } });
    expect(await growth(before)).toEqual({ runs: 0, sessions: 0, allowances: 0 });
  });

  it("reserves once for 20 requests at once", async () => {
    const key = randomUUID();
    const before = await reserved(service);
    const answers = await Promise.all(range(20).map((n) => owner.call("POST", path, body(), keyed(key, n))));
    const good = answers.filter(({ status }) => status < 300);
    expect(new Set(good.map(({ text }) => text)).size).toBe(1);
    expect(good.filter(({ headers }) => headers.get("idempotency-replayed") === null)).toHaveLength(1);
    for (const { body: problem } of answers.filter(({ status }) => status >= 300)) {
      expect(problem).toMatchObject({ status: 409, code: "idempotency_in_progress" });
    }
    expect(await growth(before)).toEqual({ runs: units, sessions, allowances: units });
  });

  it("finds a reservation whose answer was lost after the commit, and reserves nothing twice", async () => {
    const headers = keyed(randomUUID());
    await service.settled();
    const before = await reserved(service);
    service.faults.set({ service: "db", mode: "lost", count: 1, body: RESERVING });
    const lost = await owner.call("POST", path, body(), headers);
    expect(lost).toMatchObject({ status: 503, body: { code: "dependency_unavailable" } });
    expect(lost.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(await growth(before)).toEqual({ runs: units, sessions, allowances: units });
    const found = await owner.call("POST", path, body(), headers);
    expect(found.headers.get("idempotency-replayed")).toBe("true");
    const ids = [found.body].flat().map(({ id }: { id: string }) => id);
    expect(await service.sql("select id from runs where id = any($1::uuid[])", [ids])).toHaveLength(units);
    expect(await growth(before)).toEqual({ runs: units, sessions, allowances: units });
  });

  it.each(["error", "down"] as const)("keeps nothing of a request that the database refused (%s)", async (mode) => {
    const headers = keyed(randomUUID());
    await service.settled();
    const before = await reserved(service);
    service.faults.set({ service: "db", mode, count: 1, body: RESERVING });
    expect((await owner.call("POST", path, body(), headers)).status).toBe(503);
    expect(await growth(before)).toEqual({ runs: 0, sessions: 0, allowances: 0 });
    const next = await owner.call("POST", path, body(), headers);
    expect([next.status < 300, next.headers.get("idempotency-replayed")]).toEqual([true, null]);
  });

  it("means another request for another caller", async () => {
    const headers = keyed(randomUUID());
    const other = await newUser(service, { plan: "pro" });
    const own = await addAgent(other);
    const mine = await owner.call("POST", path, body(), headers);
    const theirs = await other.call("POST", path, { ...body(), agent_id: own }, headers);
    expect(theirs.headers.get("idempotency-replayed")).toBeNull();
    expect([theirs.status, [theirs.body].flat()[0].agent_id]).toEqual([mine.status, own]);
  });
});

describe("an Idempotency-Key", () => {
  it("of anonymous callers is that of their address and client", async () => {
    const [key, body] = [randomUUID(), { agent_id: agent, task_id: suite.tasks[0] }];
    const anonymous = caller(service);
    const submit = (number: number, client: Record<string, string> = {}) =>
      anonymous.call("POST", "/api/v1/runs", body, { ...keyed(key, number), ...client });
    const [first, again] = [await submit(1), await submit(1)];
    expect([again.text, again.headers.get("idempotency-replayed")]).toEqual([first.text, "true"]);
    // Who shares the address and guesses the key neither gets another's answer nor takes the key from them.
    const others = [await submit(2), await submit(1, { "user-agent": "another" }), await submit(1, { origin: "null" })];
    expect(others.map(({ status }) => status)).toEqual([202, 202, 202]);
    expect(new Set([first, ...others].map((answer) => answer.body.id)).size).toBe(4);
  });

  it("gives a refusal again too, even where it would pass now", async () => {
    const poor = await newUser(service);
    const own = await addAgent(poor);
    const [headers, body] = [keyed(randomUUID()), { agent_id: own, suite_id: suite.id, repeats: 10 }];
    await poor.call("POST", "/api/v1/runs/batch", body);
    const refused = await poor.call("POST", "/api/v1/runs/batch", body, headers);
    await service.sql("update users set plan = 'pro' where id = $1", [poor.id]);
    const again = await poor.call("POST", "/api/v1/runs/batch", body, headers);
    expect(tally([refused, again])).toEqual({ 402: 2 });
    expect(again.body.used).toBe(30);
  });

  it.each(["", "with space", "é", "x".repeat(256)])("that is malformed (%j) is refused", async (key) => {
    const refused = await owner.call("POST", "/api/v1/runs", { agent_id: agent, task_id: suite.tasks[0] }, keyed(key));
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ in: "header", pointer: "/Idempotency-Key" }] } });
  });
});
