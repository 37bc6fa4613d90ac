import { afterAll, beforeAll, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { inBulk } from "../../stack/bulk.ts";
import { caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { cookiesOf } from "../../stack/cookies.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { WORKERS } from "../../stack/limits.ts";
import { countRows, dailyStates } from "../operations/daily-support.ts";

const DAY = 86_400_000;
const AGENTS = 20_000;
const EVENTS = 12_500;
/** Two subscriptions are told of each event in two attempts. */
const DELIVERIES = 4 * EVENTS;
const OTHERS = 1200;
/** The most rows of a table that one statement may delete or change. */
const MOST = 500;

const TABLES = [
  "agents",
  "analytics_events",
  "otlp_tokens",
  "purchases",
  "readiness_checks",
  "refresh_tokens",
  "revenue",
  "screening_sessions",
  "webhook_deliveries",
  "webhook_events",
  "webhooks",
];

/** Those of which rows stay, without the account or as others'. */
const KEPT = ["webhooks", "analytics_events", "refresh_tokens", "purchases", "revenue"];

let service: TestService;
let user: User;
let neighbour: User;
let ahead = 0;

/** Ids by their kind and number. */
const numbered = (kind: number, n: string) => `('0000000${kind}-0000-7000-8000-' || lpad((${n})::text, 12, '0'))::uuid`;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(Date.now() + ahead) } });
  user = await newUser(service, { plan: "pro", verified: true });
  neighbour = await newUser(service);
  const some = `generate_series(1, ${OTHERS}) n`;
  await service.sql(
    inBulk(
      ["agents", "webhook_events", "webhook_deliveries"],
      `insert into agents (id, user_id, name, connection_mode, variant_of)
        select ${numbered(1, "n")}, '${user.id}', 'Agent ' || n, 'mock', case when n > ${AGENTS - OTHERS} then ${numbered(1, "1")} end
        from generate_series(1, ${AGENTS}) n;
      insert into webhooks (id, user_id, agent_id, url, event_types, secret) values
        (${numbered(2, "1")}, '${user.id}', null, 'https://own.example', '{run.completed}', 'sealed'),
        (${numbered(2, "2")}, '${user.id}', null, 'https://own.example', '{run.completed}', 'sealed'),
        (${numbered(2, "3")}, '${neighbour.id}', null, 'https://other.example', '{run.completed}', 'sealed'),
        (${numbered(2, "4")}, '${neighbour.id}', ${numbered(1, "7")}, 'https://other.example', '{run.completed}', 'sealed');
      insert into webhook_events (id, type, agent_id, body)
        select ${numbered(3, "n")}, 'run.completed', ${numbered(1, "n")}, '{}' from generate_series(1, ${EVENTS}) n;
      insert into webhook_deliveries (webhook_id, event_id, attempt, status)
        select w.id, ${numbered(3, "n")}, attempt, 'succeeded' from webhooks w, generate_series(1, ${EVENTS}) n,
          generate_series(1, 2) attempt where w.user_id = '${user.id}';
      insert into webhook_events (id, type, agent_id, body)
        select ${numbered(4, "n")}, 'run.completed', ${numbered(1, "7")}, '{}' from ${some};
      insert into webhook_deliveries (webhook_id, event_id, attempt, status)
        select w.id, ${numbered(4, "n")}, 1, 'succeeded' from webhooks w, ${some} where w.user_id = '${neighbour.id}'`,
    ),
  );
  await service.sql(
    `insert into otlp_tokens (agent_id, token_hash, prefix) select ${numbered(1, "n")}, n, 'p' from ${some}`,
  );
  await service.sql(
    `insert into readiness_checks (agent_id, checked_at, ok) select ${numbered(1, "n")}, now(), true from ${some}`,
  );
  await service.sql(`insert into screening_sessions (agent_id, user_id, trigger, task_plan, repeats)
    select ${numbered(1, "7")}, '${user.id}', 'manual', '[]', 1 from ${some}`);
  await service.sql(`insert into analytics_events (id, name, user_id, occurred_at)
    select ${numbered(5, "n")}, 'x', '${user.id}', now() from ${some}`);
  await service.sql(`insert into refresh_tokens (token_hash, session_id, replaced_at)
    select n, (select id from sessions where user_id = '${user.id}' limit 1), now() from ${some}`);
  await service.sql(`with sold as (insert into purchases (listing_id, seller_id, buyer_id, agent_name, status, price_usd, fee_usd)
      select uuidv7(), '${user.id}', '${neighbour.id}', 'a', 'COMPLETED', 10, 1 from ${some} returning id)
    insert into revenue (purchase_id, seller_id, gross_usd, fee_usd, net_usd) select id, '${user.id}', 10, 1, 9 from sold`);
  await service.sql(`insert into purchases (listing_id, seller_id, buyer_id, agent_name, status, price_usd, fee_usd)
    select uuidv7(), '${neighbour.id}', '${user.id}', 'a', 'COMPLETED', 10, 1 from ${some}`);
  await service.sql(`analyze ${TABLES.join(", ")}`);
}, 180_000);

afterAll(() => service.stop());

const count = async (text: string) =>
  (await service.sql<{ n: number }>(`select count(*)::int as n from ${text}`))[0]?.n ?? -1;

it("deletes an account of any size by statements over 500 rows each, and lets nobody in from the first of them on", async () => {
  const { body: key } = await user.call("POST", "/api/v1/api-keys", { name: "k", scope: "read" });
  expect((await user.call("POST", "/api/v1/users/me/deletion", { password: PASSWORD })).status).toBe(202);
  ahead = 14 * DAY - 1000;
  const signIn = () => caller(service).call("POST", "/api/v1/auth/login", { email: user.email, password: PASSWORD });
  const device = await signIn();
  const me = (headers: Record<string, string>) => caller(service, headers).call("GET", "/api/v1/auth/me");
  ahead = 14 * DAY + 1000;
  // Whatever comes after the first statement fails.
  await service.sql(`create function refuse() returns trigger language plpgsql as $$
    begin if exists (select from users where id = '${user.id}' and email like 'Deleted-%'
      and xmin <> pg_current_xact_id()::xid) then raise exception 'refused'; end if; return coalesce(new, old); end $$`);
  await service.sql("create trigger refuse before delete or update on agents for each row execute function refuse()");
  const counted = await countRows(service, TABLES);
  await service.app.scheduled(DAILY);
  expect((await dailyStates(service)).get("delete accounts")?.last_error).toContain("P0001");
  expect((await signIn()).status).toBe(401);
  const cookie = `service_refresh=${cookiesOf(device)["service_refresh"]?.value}`;
  const refreshed = { cookie, origin: service.url };
  expect((await caller(service).call("POST", "/api/v1/auth/refresh", undefined, refreshed)).status).toBe(401);
  expect((await me({ authorization: `Bearer ${device.body.access_token}` })).status).toBe(401);
  expect((await me({ "x-api-key": key.key })).status).toBe(401);
  expect(await count(`webhooks where user_id = '${user.id}' and (is_active or secret is not null or url <> '')`)).toBe(
    0,
  );
  await service.sql("drop trigger refuse on agents");
  service.subrequests.limit = WORKERS.subrequests.free;
  service.subrequests.reset();
  await service.app.scheduled(DAILY);
  expect((await dailyStates(service)).get("delete accounts")?.last_error).toBeNull();
  const { most, all } = await counted();
  expect(all["webhook_deliveries"]).toBe(DELIVERIES + 2 * OTHERS);
  expect(Object.fromEntries(Object.entries(most).filter(([, rows]) => rows > MOST))).toEqual({});
  expect(Object.keys(most).toSorted()).toEqual(TABLES);
  for (const table of TABLES.filter((name) => !KEPT.includes(name))) expect(await count(table), table).toBe(0);
  expect(await count(`analytics_events where user_id = '${user.id}'`)).toBe(0);
  expect(await count(`purchases where '${user.id}' in (buyer_id, seller_id)`)).toBe(0);
  expect(await count(`purchases where '${neighbour.id}' in (buyer_id, seller_id)`)).toBe(2 * OTHERS);
  expect(await count("revenue where seller_id is null")).toBe(OTHERS);
  expect(await count(`refresh_tokens t join sessions s on s.id = t.session_id where s.user_id = '${user.id}'`)).toBe(0);
  expect(await count(`webhooks where user_id = '${neighbour.id}'`), "what was about an agent goes with it").toBe(1);
  expect(await count("users where deletion_scheduled_for is not null")).toBe(0);
}, 180_000);
