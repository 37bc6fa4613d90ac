import { caller } from "../../stack/client.ts";
import type { TestService } from "../../stack/service.ts";

/** How an item of the daily work stands, as `/readyz` tells it. */
export interface DailyState {
  name: string;
  last_success_at: string | null;
  last_error: string | null;
}

/** Every item of the daily work, by name. */
export async function dailyStates(service: TestService): Promise<Map<string, DailyState>> {
  const { body } = await caller(service).call("GET", "/readyz");
  const { daily } = body as unknown as { daily: DailyState[] };
  return new Map(daily.map((state) => [state.name, state]));
}

/**
 * Adds agents, each with one scored run of two months ago and what the boards keep of it. The first one's is summed up by
 * the daily work, those of all others are copies of it.
 */
export async function addScoredAgents(
  service: TestService,
  owner: string,
  task: string,
  count: number,
  sumUp: () => Promise<void>,
): Promise<void> {
  const insert = `with a as (
      insert into agents (user_id, name, connection_mode)
      select $1, 'Agent ' || $3::integer || '.' || n, 'mock' from generate_series(1, $3::integer) n returning id
    )
    insert into runs (agent_id, task_id, domain, trigger, scope, status, counted, evidence_signed, passed, correctness,
      suite_version, evidence_cost_partial, finalized_at)
    select id, $2, (select domain from tasks where id = $2), 'manual', 'personal', 'completed', true, true, true, 1, 1, false, '2026-01-01' from a returning agent_id`;
  const [first] = await service.sql<{ agent_id: string }>(insert, [owner, task, 1]);
  await service.sql(
    `insert into task_scores (agent_id, task_id, period, simulated, n, c, success, reliability, cost_efficiency,
       correctness, robustness, last_run_at) values ($1, $2, 'all', false, 1, 1, 1, 1, 1, 1, 1, now())`,
    [first?.agent_id, task],
  );
  await sumUp();
  const tables = ["agents", "runs", "task_scores", "board_entries"];
  for (const table of tables) await service.sql(`alter table ${table} disable trigger all`);
  await service.sql(insert, [owner, task, count - 1]);
  for (const table of ["task_scores", "board_entries"]) {
    await service.sql(
      `insert into ${table} select (jsonb_populate_record(x, jsonb_build_object('agent_id', a.id))).*
       from ${table} x, agents a where x.agent_id = $1 and a.id <> $1 and a.user_id = $2`,
      [first?.agent_id, owner],
    );
  }
  for (const table of tables) await service.sql(`alter table ${table} enable trigger all`);
  await service.sql(`update board_totals b set listed = (select count(*) from board_entries e
    where e.listed and (e.domain, e.period) = (b.domain, b.period))`);
  await service.sql(`analyze ${tables.join(", ")}`);
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
      (select count(*)::int from email_tokens where expires_at < '2026-02-01') as tokens`,
  );
  return counts ?? {};
}
