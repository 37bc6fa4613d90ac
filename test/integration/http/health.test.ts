import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createApplication } from "../../../functions/app.ts";
import { DAILY_ITEMS } from "../../../shared/daily/items.ts";
import { type Caller, caller } from "../../stack/client.ts";
import { leastTime } from "../../stack/least-time.ts";
import { startService, type TestService } from "../../stack/service.ts";

const NAMES = { db: "database", redis: "redis", qstash: "queue" } as const;
/** A service whose daily work is yet to come. */
const WORK = {
  daily: DAILY_ITEMS.map(({ name }) => ({ name, last_success_at: null, last_error: null, is_late: false })),
  minting: "ok",
  log: "ok",
  messages: "ok",
  missing_settings: [],
};
const SERVICES = Object.keys(NAMES) as (keyof typeof NAMES)[];

let service: TestService;
let monitor: Caller;

beforeAll(async () => {
  service = await startService();
  monitor = caller(service);
});

afterEach(() => {
  for (const name of SERVICES) service.faults.set({ service: name, mode: "none" });
});

afterAll(() => service.stop());

describe("healthz", () => {
  it("is 200 at once whatever is down or hangs, and asks nobody", async () => {
    for (const mode of ["down", "hang"] as const) {
      for (const name of SERVICES) service.faults.set({ service: name, mode });
      service.counters.reset();
      const answer = await monitor.call("GET", "/healthz");
      expect(await leastTime(500, () => monitor.call("GET", "/healthz"))).toBeLessThan(500);
      expect([answer.status, answer.body]).toEqual([200, { status: "ok" }]);
      expect(answer.headers.get("cache-control")).toBe("no-store");
      const { db, redis, qstash } = service.counters.snapshot();
      expect([db.requests, redis.requests, qstash.requests]).toEqual([0, 0, 0]);
    }
  });
});

describe("readyz", () => {
  it("is 200 and names each dependency when all answer", async () => {
    const answer = await monitor.call("GET", "/readyz");
    expect([answer.status, answer.body]).toEqual([
      200,
      { status: "ok", dependencies: { database: "ok", redis: "ok", queue: "ok" }, ...WORK },
    ]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  it("names what is not set and is needed all the same: the key of mails, and what Stripe's events are signed with", async () => {
    const { RESEND_API_KEY: _key, ...settings } = service.settings;
    const bare = createApplication({ ...settings, STRIPE_SECRET_KEY: "sk_test_1" });
    const execution = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} };
    const answer = await bare.fetch(new Request(`${service.url}/readyz`), {}, execution);
    const missing_settings = ["RESEND_API_KEY", "STRIPE_WEBHOOK_SECRET"];
    expect([answer.status, await answer.json()]).toMatchObject([200, { status: "ok", missing_settings }]);
  });

  it.each(
    SERVICES.flatMap((name) => (["down", "error", "garbage", "hang"] as const).map((mode) => [name, mode] as const)),
  )("is 503 within four seconds and names what does not answer: %s is %s", async (name, mode) => {
    service.faults.set({ service: name, mode });
    const start = performance.now();
    const answer = await monitor.call("GET", "/readyz");
    expect(performance.now() - start).toBeLessThan(4000);
    const dependencies = { database: "ok", redis: "ok", queue: "ok", [NAMES[name]]: "down" };
    const work = name === "db" ? { ...WORK, daily: [], minting: "down", log: "down", messages: "down" } : WORK;
    expect([answer.status, answer.body]).toEqual([503, { status: "down", dependencies, ...work }]);
  });

  it("says that nothing can be minted where the key is gone that the secrets of the epochs are under", async () => {
    const settings = { ...service.settings, DATA_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString("base64") };
    const answer = await createApplication(settings).fetch(new Request(`${service.url}/readyz`));
    expect([answer.status, await answer.json()]).toMatchObject([200, { minting: "down" }]);
  });

  it.each([
    ["rolled once since the last deployment", "ok", "QSTASH_NEXT_SIGNING_KEY"],
    ["rolled twice", "down", "another"],
  ])("says whether what the queue signs is taken: its keys were %s", async (_, queue, known) => {
    const { QSTASH_CURRENT_SIGNING_KEY: key = "", ...rest } = service.settings;
    const settings = { ...rest, QSTASH_CURRENT_SIGNING_KEY: "old", QSTASH_NEXT_SIGNING_KEY: "older", [known]: key };
    const answer = await createApplication(settings).fetch(new Request(`${service.url}/readyz`));
    expect(await answer.json()).toMatchObject({ dependencies: { queue } });
  });

  it("finds the queue where its address is set with a slash at the end, as the queue's own client does", async () => {
    const settings = { ...service.settings, QSTASH_URL: `${service.broker.url}/` };
    const answer = await createApplication(settings).fetch(new Request(`${service.url}/readyz`));
    expect(await answer.json()).toMatchObject({ dependencies: { queue: "ok" } });
  });

  it("is 200 again when the dependency is back", async () => {
    service.faults.set({ service: "db", mode: "down" });
    expect((await monitor.call("GET", "/readyz")).status).toBe(503);
    service.faults.set({ service: "db", mode: "none" });
    expect((await monitor.call("GET", "/readyz")).status).toBe(200);
  });
});
