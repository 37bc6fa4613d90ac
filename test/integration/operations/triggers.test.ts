import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DAILY, EVERY_MINUTE } from "../../../functions/scheduled.ts";
import { DAILY_ITEMS } from "../../../shared/daily/items.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { dailyStates } from "./daily-support.ts";
import { newUser } from "../../stack/client.ts";
import { addAgent, quietQueueClient, range } from "../runs/support.ts";

const MINUTE = 60_000;
const NIGHT = Date.parse("2026-11-21T03:17:00Z");

let service: TestService;
let nights = 0;
let time = NIGHT;

const night = () => service.app.scheduled(DAILY);
const minute = () => service.app.scheduled(EVERY_MINUTE);
const down = (mode: "down" | "none") => service.faults.set({ service: "db", mode });
const iso = () => new Date(time).toISOString();

/** When each item was last done, without repetitions. */
async function done(but: readonly string[] = []): Promise<(string | null)[]> {
  const states = [...(await dailyStates(service)).values()].filter(({ name }) => !but.includes(name));
  return [...new Set(states.map(({ last_success_at: at }) => at))];
}

/** What is also begun after hours without a minute's work. */
const RESCUES = ["rescue runs", "settle sessions", "rescue certifications"];

beforeAll(async () => {
  quietQueueClient();
  service = await startService({ overrides: { now: () => new Date(time) } });
});

/** Each test has a night that began as it should. */
beforeEach(async () => {
  nights += 1;
  time = NIGHT + nights * 10 * 24 * 60 * MINUTE;
  await night();
  service.logs.length = 0;
});

afterAll(() => service.stop());

describe("a trigger of the daily work that meets a dead database", () => {
  it("is made up for within a minute of its return, once", async () => {
    const before = iso();
    time += 24 * 60 * MINUTE;
    down("down");
    await night();
    for (const _minute of range(8)) {
      time += MINUTE;
      await minute();
    }
    down("none");
    expect(await done()).toEqual([before]);
    time += MINUTE;
    service.counters.reset();
    await Promise.all(range(3).map(minute));
    // Each item is begun by one message, and the recount of the boards takes a second turn.
    expect([await done(), service.counters.qstash.messages]).toEqual([[iso()], DAILY_ITEMS.length + 1]);
    const made = iso();
    time += MINUTE;
    await minute();
    expect(await done()).toEqual([made]);
  });

  it("is not anticipated: until some minutes after its time, and again until the next, nothing is begun", async () => {
    const before = iso();
    for (const minutes of [1, 24 * 60 - 2, 3]) {
      time += minutes * MINUTE;
      await minute();
      expect(await done(RESCUES)).toEqual([before]);
    }
    time += MINUTE;
    await minute();
    expect(await done()).toEqual([iso()]);
  });
});

describe("an item that a night left undone", () => {
  const HOUR = 60 * MINUTE;
  const late = async () => [...(await dailyStates(service)).values()].filter(({ is_late }) => is_late).length;

  it("is late four hours after, and until it is done", async () => {
    time += 24 * HOUR;
    expect(await late(), "the night begins").toBe(0);
    time += 4 * HOUR - MINUTE;
    expect(await late()).toBe(0);
    time += 2 * MINUTE;
    expect(await late()).toBe(DAILY_ITEMS.length);
    time += 20 * HOUR;
    expect(await late(), "and when the next night begins").toBe(DAILY_ITEMS.length);
    await night();
    expect(await late()).toBe(0);
  });

  it("is late also where it has never been done, but not before its first night", async () => {
    await service.sql("update daily_work set last_success_at = null, started_at = $1", [iso()]);
    await service.sql("delete from daily_work where name = $1", [DAILY_ITEMS[0]?.name]);
    time += 4 * HOUR - MINUTE;
    expect(await late()).toBe(0);
    time += 2 * MINUTE;
    expect(await late()).toBe(DAILY_ITEMS.length - 1);
  });
});

describe("a part of the work of every minute that fails", () => {
  it.each([
    ["deny ended sessions", "sessions"],
    ["rescue deliveries", "webhook_deliveries"],
    ["start due schedules", "screening_schedules"],
    ["resume certifications", "certifications"],
    ["start daily work that was missed", "daily_work"],
    ["reap", "runs"],
  ])("is told to the log and keeps no other from its work, nor the next minute: %s", async (name, table) => {
    const failed = () =>
      service.logs.map((line) => JSON.parse(line)).filter(({ message }) => message === "scheduled work failed");
    await service.sql(`insert into outbox (consumer, id, body, not_before, due_at)
      values ('recheck', gen_random_uuid(), '{}', now() + interval '5 days', now())`);
    await service.sql("update daily_work set started_at = '2020-01-01'");
    await service.sql(`alter table ${table} rename to gone`);
    await minute();
    await service.sql(`alter table gone rename to ${table}`);
    expect(failed()).toContainEqual(expect.objectContaining({ level: "error", work: name }));
    expect(await service.sql("select from outbox where consumer = 'recheck'")).toEqual([]);
    const begun = await service.sql("select from daily_work where started_at = $1", [iso()]);
    expect(begun).toHaveLength(name === "start daily work that was missed" ? 0 : DAILY_ITEMS.length);
    service.logs.length = 0;
    await minute();
    expect(failed()).toEqual([]);
  });
});

describe("the reaper", () => {
  /** More than are looked at in one piece. */
  const HOPELESS = 250;

  it("gives up all hopeless runs but those that the database refuses, names these, and does what is behind them", async () => {
    const owner = await newUser(service);
    const agent = await addAgent(owner);
    const running = await service.sql<{ id: string }>(
      `insert into runs (id, agent_id, task_id, domain, user_id, trigger, scope, status, attempt, started_at, lease_token,
         lease_expires_at, awaiting_callback, deadline_at)
       select uuidv7(n * interval '1 second'), $1, t.id, t.domain, $2, 'manual', 'personal', 'running', 5, now(), gen_random_uuid(),
         now() - interval '1 hour' + n * interval '1 second', n > $3::integer, $4::timestamptz
       from (select * from tasks limit 1) t, generate_series(1, $3::integer + 1) n order by n returning id`,
      [agent, owner.id, HOPELESS, iso()],
    );
    const poison = [0, 1, 2, 3, 100, 249].map((place) => running[place]?.id);
    await service.sql(`create function refuse() returns trigger language plpgsql as $$ begin
      if new.id = any('{${poison.join(",")}}') and new.status = 'failed' then raise 'refused'; end if; return new; end $$`);
    await service.sql("create trigger refuse before update on runs for each row execute function refuse()");
    const open = async () =>
      (await service.sql<{ id: string }>("select id from runs where lease_expires_at < now() order by id")).map(
        ({ id }) => id,
      );
    time += MINUTE;
    await minute();
    const named = () =>
      service.logs.map((line) => JSON.parse(line)).filter(({ message }) => message.startsWith("stepped"));
    // The last of them waits for the next minute: how much is done in one is bounded.
    await minute();
    expect(await open()).toEqual(poison);
    expect(new Set(named().map(({ run_id: id }) => id))).toEqual(new Set(poison));
    const ended = await service.sql(
      "select failure_code, count(*)::integer as n from runs where agent_id = $1 group by 1 order by 1",
      [agent],
    );
    expect(ended).toEqual([
      { failure_code: "agent_timeout", n: 1 },
      { failure_code: "service_error", n: HOPELESS - poison.length },
      { failure_code: null, n: poison.length },
    ]);
    await service.sql("drop function refuse cascade");
    await minute();
    await minute();
    expect(await open()).toEqual([]);
  });

  it("takes up runs again behind many whose wait can't be ended, since Redis is away", async () => {
    const owner = await newUser(service);
    const agent = await addAgent(owner);
    await service.sql(
      `insert into runs (id, agent_id, task_id, domain, user_id, trigger, scope, status, attempt, started_at, lease_token,
         lease_expires_at, awaiting_callback, deadline_at)
       select uuidv7(n * interval '1 second'), $1, t.id, t.domain, $2, 'manual', 'personal', 'running', 1, now(), gen_random_uuid(),
         now() - interval '1 hour', n <= $3::integer, $4::timestamptz
       from (select * from tasks limit 1) t, generate_series(1, $3::integer + 1) n`,
      [agent, owner.id, HOPELESS, iso()],
    );
    const overdue = () =>
      service.sql(
        `select awaiting_callback, count(*)::integer as n from runs where agent_id = $1 and lease_expires_at < now() group by 1`,
        [agent],
      );
    time += MINUTE;
    service.faults.set({ service: "redis", mode: "down" });
    await minute();
    service.faults.set({ service: "redis", mode: "none" });
    expect(await overdue()).toEqual([{ awaiting_callback: true, n: HOPELESS }]);
    expect(service.logs.filter((line) => line.includes('"work":"reap"'))).toHaveLength(1);
    await minute();
    expect(await overdue()).toEqual([]);
  });
});
