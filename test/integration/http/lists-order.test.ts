import { afterAll, beforeAll, expect, it } from "vitest";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newSubmission, SUBMISSIONS } from "../catalogue/submissions-support.ts";
import { addListing, begin, LISTINGS, newSeller, PURCHASES } from "../payments/marketplace-support.ts";
import { addSchedule, addTeam, SCHEDULES } from "../runs/schedules-support.ts";
import { addAgent, addSuite, range } from "../runs/support.ts";
import { WEBHOOKS } from "../webhooks/support.ts";

const ADMIN = "admin@example.test";

let service: TestService;
/** How far the clock of the Worker is ahead, in milliseconds. */
let ahead = 0;

beforeAll(async () => {
  service = await startService({
    stripe: true,
    settings: { ADMIN_EMAILS: ADMIN },
    overrides: { now: () => new Date(Date.now() + ahead) },
  });
});

afterAll(() => service.stop());

/** Expects a list to be in the order of the times it shows, the newest first; returns its ids. */
async function expectOrder(by: User, path: string): Promise<string[]> {
  const { body, status, text } = await by.call<{ items: { id: string; created_at: string }[] }>("GET", path);
  expect(status, text).toBe(200);
  const times = body.items.map(({ created_at }) => created_at);
  expect(times, path).toEqual(times.toSorted().toReversed());
  return body.items.map(({ id }) => id);
}

/** Expects the ids of a table to be of the times of their rows, so that every list of it has one order. */
async function expectIdsOfTheirTimes(table: string): Promise<void> {
  const rows = await service.sql(`select uuid_extract_timestamp(id) as of, created_at as shown from ${table}`);
  expect(rows.length, table).toBeGreaterThan(1);
  for (const { of, shown } of rows) expect(of, table).toEqual(shown);
}

it("what waited for an account is listed by its own time, behind what was made meanwhile", async () => {
  const host = await newUser(service, { plan: "team", verified: true });
  const owner = await newUser(service, { plan: "team", verified: true });
  const operator = await newUser(service, { email: ADMIN, verified: true });
  const suite = await addSuite(service, 1);
  const team = await addTeam(service, host, { editor: owner });
  const [own, shared] = [await addAgent(owner), await addAgent(owner, { team_id: team })];
  const make = async (by: User, agent_id: string) =>
    Promise.all([
      newSubmission(by),
      addSchedule(owner, agent_id, { suite_id: suite.id, repeats: 1 }).then(({ id }) => id),
      owner
        .call("POST", WEBHOOKS, { url: "http://127.0.0.1:9/", event_types: ["run.completed"], agent_id })
        .then(({ body }) => String(body.id)),
    ]);

  await service.sql("create table gate ()");
  const held = service.sql(`do $$ begin
    perform from users where id = '${host.id}' for update;
    loop exit when exists (select from gate); perform pg_sleep(0.01); end loop;
  end $$`);
  const waiting = make(host, shared);
  const blocked = `select from pg_stat_activity
    where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
  await expect.poll(async () => (await service.sql(blocked)).length, { timeout: 30_000 }).toBe(3);
  const meanwhile = await make(owner, own);
  await service.sql("insert into gate default values");
  await held;
  const waited = await waiting;

  for (const [index, path, by] of [
    [0, SUBMISSIONS, operator],
    [1, SCHEDULES, owner],
    [2, WEBHOOKS, owner],
  ] as const) {
    expect(await expectOrder(by, path)).toEqual([meanwhile[index], waited[index]]);
  }
  for (const table of ["task_submissions", "screening_schedules", "webhooks"]) await expectIdsOfTheirTimes(table);
});

it("purchases and listings are listed by one clock, whichever Worker made them", async () => {
  const seller = await newSeller(service);
  const buyer = await newUser(service, { verified: true });
  const listings = [];
  for (const n of range(4)) listings.push((await addListing(seller, { title: `Recipe ${n}` })).id);
  const bought = [];
  for (const [index, clock] of [3300, 0, 1500, 20].entries()) {
    ahead = clock;
    bought.push((await begin(buyer, listings[index] ?? "")).id);
  }
  ahead = 0;
  expect(await expectOrder(buyer, PURCHASES)).toEqual(bought.toReversed());
  expect(await expectOrder(buyer, LISTINGS)).toEqual(listings.toReversed());
  for (const table of ["purchases", "listings"]) await expectIdsOfTheirTimes(table);
  // Who comes back goes on with the same purchase.
  const again = await buyer.call("POST", PURCHASES, { listing_id: listings[0] });
  expect([again.status, again.body.id]).toEqual([200, bought[0]]);
});
