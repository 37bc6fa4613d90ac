import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { DAILY } from "../../../functions/scheduled.ts";
import { caller, newUser, PASSWORD } from "../../stack/client.ts";
import { tokenOf } from "../../stack/mailbox.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { PAGE, pagesOf } from "../../../shared/db/rows.ts";
import { inBulk } from "../../stack/bulk.ts";
import { unzip } from "../../stack/unzip.ts";
import { contextOf } from "../runs/run-events-support.ts";
import { looked, planOf, type Recorder, scanned, startRecorder } from "../http/plans-support.ts";

const DAY = 86_400_000;
/** So many others have so much of everything each. */
const ACCOUNTS = 2000;
const EACH = 10;
/** Subscriptions of the account that is exported, and attempts of each. */
const OWN = 6;
const ATTEMPTS = 3000;
const BIG = ["api_keys", "team_invitations"];

let recorder: Recorder;
let service: TestService;
let ahead = 0;

beforeAll(async () => {
  recorder = await startRecorder();
  service = await startService({
    settings: { NEON_LOCAL_PROXY: recorder.url },
    overrides: { now: () => new Date(Date.now() + ahead) },
  });
  // Spread over many accounts, as they are: of one that had all of them, most of a table would have to be read.
  await service.sql(`with others as (insert into users (email) select n || '@others.example' from generate_series(1, ${ACCOUNTS}) n
      returning id),
    teams as (insert into teams (name, owner_id) select 'Others', id from others returning id, owner_id),
    each as (select t.*, n from teams t, generate_series(1, ${EACH}) n),
    keys as (insert into api_keys (user_id, name, prefix, key_hash, scope)
      select owner_id, 'key ' || n, 'ask_', 'hash ' || owner_id || n, 'read' from each),
    invited as (insert into team_invitations (team_id, email, role, token_hash, invited_by, expires_at)
      select id, owner_id || '.' || n || '@example.com', 'viewer', 'token ' || owner_id || n, owner_id, now() from each)
    select`);
  await service.sql("analyze");
}, 60_000);

afterAll(async () => {
  await service.stop();
  await recorder.close();
});

/** The large tables that the statement with these words in it reads from their beginning. */
async function readWhole(words: string): Promise<string[]> {
  const statement = recorder.statements.find(({ query }) => query.includes(words));
  if (statement === undefined) throw new Error(`no statement says ${words}`);
  return scanned(await planOf(service, statement, false)).filter((table) => BIG.includes(table));
}

it("a claim finds what it ends without reading what is others'", async () => {
  const { email } = await newUser(service);
  const nobody = caller(service);
  await nobody.call("POST", "/api/v1/auth/forgot-password", { email });
  await service.settled();
  const token = tokenOf(service.mailbox.list(email)[0]);
  recorder.statements.length = 0;
  expect(
    (await nobody.call("POST", "/api/v1/auth/reset-password", { token, new_password: "a different horse entirely" }))
      .status,
  ).toBe(200);
  expect(await readWhole("revoked as (")).toEqual([]);
});

it("an export reads the attempts of subscriptions page by page, and has each of them once", async () => {
  const user = await newUser(service);
  await service.sql(
    inBulk(
      ["webhook_deliveries"],
      `with owners as (select '${user.id}'::uuid as id, ${OWN} as size union all
          (select id, ${OWN} * 8 from users where email like '%@others.example' limit 1)),
        told as (insert into webhook_events (type, body) values ('ping', '{}') returning id),
        hooks as (insert into webhooks (user_id, url, event_types)
          select o.id, 'https://hooks.example.com', '{run.completed}' from owners o, generate_series(1, o.size) returning id)
        insert into webhook_deliveries (webhook_id, event_id, attempt, status)
        select h.id, t.id, n, 'failed' from hooks h, told t, generate_series(1, ${ATTEMPTS}) n`,
    ),
  );
  await service.sql("analyze webhooks, webhook_deliveries, webhook_events");
  recorder.statements.length = 0;
  const response = await fetch(`${service.url}/api/v1/users/me/export`, {
    headers: { authorization: `Bearer ${user.token}` },
  });
  const files = unzip(Buffer.from(await response.arrayBuffer()));
  const ids = (files.get("webhook-deliveries.jsonl") ?? "").match(/"id":"[^"]+"/g) ?? [];
  expect([ids.length, new Set(ids).size]).toEqual([OWN * ATTEMPTS, OWN * ATTEMPTS]);
  const pages = recorder.statements.filter(({ query }) => query.includes('"webhook_deliveries" d'));
  expect(pages).toHaveLength(Math.ceil((OWN * ATTEMPTS) / PAGE.rows));
  // Those of a page, and of the subscription where it ends and the one after it.
  for (const page of pages)
    expect(looked(await planOf(service, page), ["webhook_deliveries"])).toBeLessThanOrEqual(PAGE.rows + 2 * ATTEMPTS);
});

it.each([
  [3, 150, 40],
  // A page begins at a run that the page before it has read to its end.
  [1, 2 * PAGE.rows + 1, 1],
  [60, 249, 1],
  [2000, 3, 2],
])("an export reads the spans of %i × %i runs page by page, and has each of them once", async (agents, own, each) => {
  const user = await newUser(service);
  const runs = agents * own;
  await service.sql(
    inBulk(
      ["spans"],
      `with owners as (select '${user.id}'::uuid as id union all
          (select id from users where email like '%@others.example' and id not in (select user_id from agents) limit 1)),
        made as (insert into agents (user_id, name, connection_mode)
          select o.id, 'Told ' || n, 'mock' from owners o, generate_series(1, ${agents}) n returning id),
        told as (select m.id as agent_id, uuidv7() as run_id from made m, generate_series(1, ${own}))
        insert into spans (run_id, span_id, agent_id, kind, name, started_at, duration_ms)
        select t.run_id, lpad(to_hex(n), 16, '0'), t.agent_id, 'model', 'chat', now(), 1 from told t, generate_series(1, ${each}) n`,
    ),
  );
  await service.sql("vacuum analyze agents, spans");
  recorder.statements.length = 0;
  const response = await fetch(`${service.url}/api/v1/users/me/export`, {
    headers: { authorization: `Bearer ${user.token}` },
  });
  const files = unzip(Buffer.from(await response.arrayBuffer()));
  const lines = (files.get("spans.jsonl") ?? "").trim().split("\n");
  const ids = lines.map((line) => JSON.parse(line)).map(({ run_id, span_id }) => `${run_id} ${span_id}`);
  expect([ids.length, new Set(ids).size]).toEqual([runs * each, runs * each]);
  const pages = recorder.statements.filter(({ query }) => query.includes('"spans" s'));
  expect(pages).toHaveLength(Math.ceil((runs * each) / PAGE.rows));
  // Those of a page, counted before, of the runs where it begins and ends, and one of each run and agent that it has.
  for (const page of pages)
    expect(looked(await planOf(service, page), ["spans"])).toBeLessThanOrEqual(
      2 * PAGE.rows + 6 * each + Math.min(runs, Math.ceil(PAGE.rows / each)) + 2 * agents,
    );
});

it("an export reads as many runs as a page has, wherever they are among those of others", async () => {
  const [task] = await service.sql<{ id: string }>("select id from tasks where not is_secret limit 1");
  const users = await Promise.all([1, 2, 3].map(() => newUser(service, { plan: "pro" })));
  const runsOf = (where: string, each: number, place: string) =>
    `with a as (insert into agents (user_id, name, connection_mode) select id, 'Exported', 'mock' from users where ${where}
       returning id, user_id)
     insert into runs (id, agent_id, task_id, user_id, status, trigger, scope, domain)
     select (lpad(to_hex(${place}), 12, '0') || '7000' || rpad('8', 16, '0'))::uuid, a.id, '${task?.id}', a.user_id, 'completed', 'manual', 'personal', 'math'
     from generate_series(1, ${each}) n, (select *, row_number() over () as k from a) a`;
  const own = 2 * PAGE.rows + 1;
  // Those of 200 others, and then before all of them, among them, and behind them.
  const places = ["n", "2000001 + n * 12", "4000000 + n"];
  await service.sql(
    inBulk(
      ["runs"],
      [
        runsOf("email like '%0@others.example'", 300, "2000000 + n * 400 + k * 2"),
        ...users.map(({ id }, at) => runsOf(`id = '${id}'`, own, places[at] ?? "")),
      ].join(";\n"),
    ),
  );
  await service.sql("vacuum analyze agents, runs");
  const looks: number[] = [];
  for (const { token } of users) {
    recorder.statements.length = 0;
    for (const path of ["users/me/export", "runs/export.csv"])
      await (
        await fetch(`${service.url}/api/v1/${path}`, { headers: { authorization: `Bearer ${token}` } })
      ).arrayBuffer();
    const pages = recorder.statements.filter(
      ({ query }) => /'(items|ahead)'/.test(query) && query.includes('"runs" r'),
    );
    for (const page of pages) looks.push(looked(await planOf(service, page), ["runs"]));
  }
  // Three of each file of runs, and one each of what was sent and received and of sessions.
  expect(looks).toHaveLength(3 * 8);
  expect(Math.max(...looks)).toBeLessThanOrEqual(2 * PAGE.rows + 1);
});

it("the end of an account finds what goes with it without reading what is others'", async () => {
  const user = await newUser(service, { verified: true });
  expect((await user.call("POST", "/api/v1/users/me/deletion", { password: PASSWORD })).status).toBe(202);
  ahead = 15 * DAY;
  recorder.statements.length = 0;
  await service.app.scheduled(DAILY);
  expect(await readWhole('"memberships" as (')).toEqual([]);
});

it("an export has few more rows put together than it tells, however long they are", async () => {
  await service.sql("create sequence put_together");
  let told = 0;
  const pages = pagesOf(
    contextOf(service, () => new Date()),
    {
      item: z.string(),
      json: sql`to_jsonb(repeat(case when nextval('put_together') > 0 then 'x' end, 40000))`,
      from: sql`(select lpad(n::text, 32, '0')::uuid as id from generate_series(1, 1000) n) r where true`,
      id: sql`r.id`,
    },
  );
  for await (const items of pages) told += items.length;
  const [made] = await service.sql<{ rows: number }>("select last_value::integer as rows from put_together");
  expect(told).toBe(1000);
  // All of them once, since it was not known how long they are, then twice as many as fit.
  expect(made?.rows).toBeLessThanOrEqual(3 * told);
});
