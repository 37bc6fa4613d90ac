import { inBulk } from "../../stack/bulk.ts";
import { caller } from "../../stack/client.ts";
import type { TestService } from "../../stack/service.ts";

/** How an item of the daily work stands, as `/readyz` tells it. */
export interface DailyState {
  name: string;
  last_success_at: string | null;
  last_error: string | null;
  is_late: boolean;
}

/** Every item of the daily work, by name. */
export async function dailyStates(service: TestService): Promise<Map<string, DailyState>> {
  const { body } = await caller(service).call("GET", "/readyz");
  const { daily } = body as unknown as { daily: DailyState[] };
  return new Map(daily.map((state) => [state.name, state]));
}

/** SQL: an id whose last byte puts its agent into the first part of those that are recomputed side by side. */
export const IN_ONE_PART = "overlay(uuidv7()::text placing '00' from 35)::uuid";

/**
 * Adds agents, each with one scored run of two months ago and what the boards keep of it. The first one's is summed up by
 * the daily work, those of all others are copies of it. `id` is SQL for their ids.
 */
export async function addScoredAgents(
  service: TestService,
  owner: string,
  task: string,
  count: number,
  sumUp: () => Promise<void>,
  id = "uuidv7()",
): Promise<void> {
  const [first] = await service.sql<{ agent_id: string }>(`${inserted(owner, task, 1, id)} returning agent_id`);
  await service.sql(
    `insert into task_scores (agent_id, task_id, period, simulated, n, c, success, reliability, cost_efficiency,
       correctness, robustness, last_run_at) values ($1, $2, 'all', false, 1, 1, 1, 1, 1, 1, 1, now())`,
    [first?.agent_id, task],
  );
  await sumUp();
  const tables = ["agents", "runs", "task_scores", "board_entries"];
  const copies: string[] = [];
  for (const table of ["task_scores", "board_entries"]) {
    const columns = await service.sql<{ name: string }>(
      `select column_name as name from information_schema.columns where table_name = '${table}' and column_name <> 'agent_id'`,
    );
    const names = columns.map(({ name }) => name).join(", ");
    copies.push(`insert into ${table} (agent_id, ${names}) select a.id, ${names.replaceAll(/(\w+)/g, "x.$1")}
      from ${table} x, agents a where x.agent_id = '${first?.agent_id}' and a.id <> x.agent_id and a.user_id = '${owner}'`);
  }
  await service.sql(inBulk(tables, [inserted(owner, task, count - 1, id), ...copies].join(";\n")));
  await service.sql(`update board_totals b set listed = (select count(*) from board_entries e
    where e.listed and (e.domain, e.period) = (b.domain, b.period))`);
  await service.sql(`analyze ${tables.join(", ")}`);
}

/** SQL that adds so many agents with a scored run each. */
function inserted(owner: string, task: string, count: number, id: string): string {
  return `with a as (
      insert into agents (id, user_id, name, connection_mode)
      select ${id}, '${owner}', 'Agent ${count}.' || n, 'mock' from generate_series(1, ${count}) n returning id
    )
    insert into runs (agent_id, task_id, domain, trigger, scope, status, counted, evidence_signed, passed, correctness,
      suite_version, evidence_cost_partial, finalized_at)
    select a.id, t.id, t.domain, 'manual', 'personal', 'completed', true, true, true, 1, 1, false, '2026-01-01'
    from a, tasks t where t.id = '${task}'`;
}

/** Adds rows of each kind that the daily work deletes and that nothing else hangs on, all long over; of keys so many. */
export async function addOldRows(service: TestService, owner: string, count: number, keys = count): Promise<void> {
  const many = `generate_series(1, ${count}) n`;
  await service.sql(`insert into idempotency_keys (caller, key, fingerprint, result, expires_at)
    select 'c', n, 'f', '{}', '2026-01-01' from generate_series(1, ${keys}) n`);
  await service.sql(
    `insert into provider_events (id, type, done_at) select 'evt_' || n, 't', '2026-01-01' from ${many}`,
  );
  await service.sql(
    `insert into sessions (user_id, expires_at, revoked_at) select $1, '2026-01-01', '2026-01-01' from ${many}`,
    [owner],
  );
  await service.sql(
    `insert into device_authorizations (device_hash, user_code_hash, client_name, network, interval_seconds, expires_at)
     select 'hash ' || n, 'hash ' || n, 'c', 'n', 5, '2026-01-01' from ${many}`,
  );
  await service.sql(
    `insert into email_tokens (token_hash, user_id, purpose, email, expires_at)
     select 'hash ' || n, $1, 'verify_email', 'e', '2026-01-01' from ${many}`,
    [owner],
  );
}

/** How many of them are left, by table. */
export async function oldRows(service: TestService): Promise<Record<string, number>> {
  const [counts] = await service.sql<Record<string, number>>(
    `select (select count(*)::int from idempotency_keys where expires_at < '2026-02-01') as keys,
      (select count(*)::int from provider_events where done_at < '2026-02-01') as events,
      (select count(*)::int from sessions where expires_at < '2026-02-01') as sessions,
      (select count(*)::int from device_authorizations) as devices,
      (select count(*)::int from email_tokens where expires_at < '2026-02-01') as tokens`,
  );
  return counts ?? {};
}

/**
 * Counts from now on how many rows of these tables each statement deletes or changes, with all that it does by foreign keys
 * and triggers. Returns what tells the most that one did to a table, and how many it did at all.
 */
export async function countRows(
  service: TestService,
  tables: readonly string[],
): Promise<() => Promise<{ most: Record<string, number>; all: Record<string, number> }>> {
  await service.sql("create table touched (at timestamptz, name text, rows integer)");
  await service.sql(`create function touch() returns trigger language plpgsql as $$
    begin insert into touched select statement_timestamp(), tg_table_name, count(*) from gone; return null; end $$`);
  for (const table of tables)
    for (const event of ["delete", "update"])
      await service.sql(`create trigger touch_${event} after ${event} on ${table} referencing old table as gone
        for each statement execute function touch()`);
  return async () => {
    const rows = await service.sql<{ name: string; most: number; all: number }>(
      `select name, max(rows)::int as most, sum(rows)::int as all
       from (select name, at, sum(rows) as rows from touched group by name, at) t group by name`,
    );
    return {
      most: Object.fromEntries(rows.map(({ name, most }) => [name, most])),
      all: Object.fromEntries(rows.map(({ name, all }) => [name, all])),
    };
  };
}

/**
 * Adds sessions of the owner's agents that are over but for their end, whose message was lost: each has a canary that is
 * not told yet. Returns their ids.
 */
export async function addForgottenSessions(
  service: TestService,
  owner: string,
  task: string,
  count: number,
): Promise<string[]> {
  const rows = await service.sql<{ id: string }>(
    `with s as (
       insert into screening_sessions (agent_id, user_id, trigger, task_plan, repeats)
       select id, user_id, 'manual', '[]', 1 from (select * from agents where user_id = $1 order by id limit $3) a
       returning id, agent_id
     ), r as (
       insert into runs (agent_id, task_id, domain, trigger, scope, status, counted, evidence_signed, passed, correctness,
         suite_version, evidence_cost_partial, finalized_at, screening_session_id, canary)
       select s.agent_id, t.id, t.domain, 'manual', 'personal', 'completed', false, false, true, 1, 1, false, '2026-01-01', s.id, null
       from s, tasks t where t.id = $2 returning id, screening_session_id
     ), h as (
       insert into held_results (run_id, is_canary, jws, kid) select id, true, null, null from r
     )
     select screening_session_id as id from r order by 1`,
    [owner, task, count],
  );
  return rows.map(({ id }) => id);
}
