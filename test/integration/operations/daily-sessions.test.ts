import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { sha256 } from "../../../shared/platform/crypto.ts";
import { caller, newUser } from "../../stack/client.ts";
import { cookiesOf } from "../../stack/cookies.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { countRows } from "./daily-support.ts";

const DAY = 86_400_000;
const MOST = 5000;

let service: TestService;
let user: string;
let time = Date.parse("2026-11-21T03:17:00Z");

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(time) } });
  user = (await newUser(service)).id;
});

afterAll(() => service.stop());

/** Stores a session that ends at the time, with so many credentials besides the one that is returned. */
async function addSession(endsAt: number, replaced: number): Promise<string> {
  const [id, credential] = [randomUUID(), randomUUID()];
  await service.sql("insert into sessions (id, user_id, expires_at) values ($1, $2, $3)", [id, user, new Date(endsAt)]);
  await service.sql("insert into refresh_tokens (token_hash, session_id) values ($1, $2)", [sha256(credential), id]);
  await service.sql(
    `insert into refresh_tokens (token_hash, session_id, replaced_at)
     select gen_random_uuid(), $1, $2 from generate_series(1, $3::integer)`,
    [id, new Date(endsAt - 20 * DAY), replaced],
  );
  return credential;
}

const left = (table: string) => service.sql(`select count(*)::int as n from ${table} where created_at < now()`);

it("forgets ended sessions by 5,000 rows a statement, however many credentials one of them was given", async () => {
  await service.sql("delete from sessions");
  await addSession(time - 3 * DAY, 20_000);
  for (let other = 0; other < 3; other += 1) await addSession(time - 2 * DAY, 10);
  await addSession(time - DAY / 2, 7);
  const counted = await countRows(service, ["sessions", "refresh_tokens"]);
  await service.app.scheduled(DAILY);
  const { most, all } = await counted();
  expect(all).toEqual({ sessions: 4, refresh_tokens: 20_034 });
  expect(most["refresh_tokens"]).toBe(MOST);
  expect([...(await left("sessions")), ...(await left("refresh_tokens"))]).toEqual([{ n: 1 }, { n: 8 }]);
});

it("forgets ended sessions whole, even if something else deletes credentials of theirs at the same time", async () => {
  await service.sql("delete from sessions");
  await addSession(time - 3 * DAY, 20_000);
  const free = () => service.sql("select from refresh_tokens for update skip locked");
  // So many that there are some among any 5,000.
  const deleted = service.sql(`do $$ begin
    delete from refresh_tokens where token_hash in (select token_hash from refresh_tokens limit 16_000);
    for turn in 1..4000 loop
      exit when exists (select from pg_locks l where not granted and pg_backend_pid() = any (pg_blocking_pids(l.pid)));
      perform pg_sleep(0.005);
    end loop;
  end $$`);
  while ((await free()).length > 5000);
  await Promise.all([service.app.scheduled(DAILY), deleted]);
  expect([...(await left("sessions")), ...(await left("refresh_tokens"))]).toEqual([{ n: 0 }, { n: 0 }]);
});

it("forgets a replaced credential of a session in use once it has expired; until then its replay ends the session", async () => {
  await service.sql("delete from sessions");
  const refresh = (credential: string) =>
    caller(service).call("POST", "/api/v1/auth/refresh", undefined, {
      cookie: `service_refresh=${credential}`,
      origin: service.url,
    });
  const next = async (credential: string) => cookiesOf(await refresh(credential))["service_refresh"]?.value ?? "";
  const first = await addSession(time + 30 * DAY, 0);
  time += 20 * DAY;
  const second = await next(first);
  time += 20 * DAY;
  const third = await next(second);
  time += 10 * DAY;
  const hashes = (...credentials: string[]) => credentials.map(sha256).toSorted();
  const kept = async () =>
    (await service.sql<{ hash: string }>("select token_hash as hash from refresh_tokens order by 1")).map(
      ({ hash }) => hash,
    );
  await service.app.scheduled(DAILY);
  expect(await kept(), "replaced 30 days ago to the second").toEqual(hashes(first, second, third));
  time += 1000;
  await service.app.scheduled(DAILY);
  expect(await kept()).toEqual(hashes(second, third));
  expect((await refresh(first)).status).toBe(401);
  const fourth = await next(third);
  expect((await refresh(second)).status).toBe(401);
  expect((await refresh(fourth)).status, "the session ended with the replay").toBe(401);
});
