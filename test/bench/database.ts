import { neon, neonConfig } from "@neondatabase/serverless";
import { Pool } from "pg";
import { caller } from "../stack/client.ts";
import { json, listen } from "../stack/http.ts";
import type { Stack } from "../stack/stack.ts";
import { type Figure, median } from "./measure.ts";

/** The stack's database: by the driver that the service uses, and beside it to arrange things. */
export interface BenchDatabase {
  pool: Pool;
  /** The account statement of `GET /auth/me`, by the service's driver. */
  account(userId: string): Promise<unknown>;
  /** A bare insert of as many sessions, runs and outbox rows as a batch makes. */
  rawBatch(agentId: string, taskIds: string[], repeats: number): Promise<unknown>;
  /** One round trip that does nothing. */
  ping(): Promise<unknown>;
  close(): Promise<void>;
}

/** Connects to a stack's database. */
export function driver(stack: Stack): BenchDatabase {
  neonConfig.fetchEndpoint = () => `${stack.settings["NEON_LOCAL_PROXY"]}/sql`;
  const sql = neon(stack.settings["DATABASE_URL"] ?? "");
  const pool = new Pool({ connectionString: stack.databaseUrl, max: 2 });
  return {
    pool,
    account: (userId) =>
      sql.query(
        `select jsonb_build_object('id', u.id, 'email', u.email, 'plan', u.plan,
           'arena_run_count', (select coalesce(sum(used), 0) from allowances where kind = 'user' and owner = u.id::text),
           'monthly_run_count', coalesce((select used from allowances where kind = 'user' and owner = u.id::text
             and period = '2026-11'), 0),
           'agent_count', (select count(*) from agents a where a.user_id = u.id and a.is_active),
           'team_count', (select count(*) from team_members m where m.user_id = u.id)) as result
         from users u where u.id = $1`,
        [userId],
      ),
    rawBatch: (agentId, taskIds, repeats) =>
      sql.query(
        `with s as (
           insert into screening_sessions (agent_id, trigger, task_plan, repeats)
           select $1, 'manual', (select jsonb_agg(jsonb_build_object('task_id', id, 'suite_version', suite_version))
             from tasks where id = any($2::uuid[])), $3 returning id
         ), r as (
           insert into runs (agent_id, task_id, trigger, screening_session_id, position, repeat_index, repeat_total, scope)
           select $1, t.id, 'manual', s.id, t.ordinality, n, $3, 'personal'
           from s, unnest($2::uuid[]) with ordinality as t(id, ordinality), generate_series(1, $3::integer) n returning *
         ), o as (
           insert into outbox (consumer, id, body, flow_key)
           select 'dispatch', id, jsonb_build_object('run_id', id), agent_id::text from r
         ) select jsonb_agg(to_jsonb(r)) from r`,
        [agentId, taskIds, repeats],
      ),
    ping: () => sql.query("select 1"),
    close: () => pool.end(),
  };
}

/** What one run costs beyond its four round trips and the agent's own time, against 5 ms. */
export async function screeningOverhead(stack: Stack, database: BenchDatabase, token: string): Promise<Figure> {
  const agent = await listen(() => json(200, { output: "42" }));
  const owner = caller(stack, { authorization: `Bearer ${token}`, "cf-connecting-ip": "10.9.9.9" });
  const created = await owner.call("POST", "/api/v1/agents", { name: "Timed", endpoint: `${agent.url}/run` });
  const [task] = (
    await database.pool.query<{ id: string }>("select id from tasks where not is_secret order by id limit 1")
  ).rows;
  const trips: number[] = [];
  const runs: number[] = [];
  for (let round = 0; round < 15; round += 1) {
    const started = performance.now();
    for (let trip = 0; trip < 4; trip += 1) await database.ping();
    trips.push(performance.now() - started);
    const run = await owner.call("POST", "/api/v1/runs", { agent_id: created.body.id, task_id: task?.id });
    let state: { started: string | null; finalized: string | null } | undefined;
    while (state?.finalized == null) {
      [state] = (
        await database.pool.query<{ started: string | null; finalized: string | null }>(
          "select started_at as started, finalized_at as finalized from runs where id = $1",
          [run.body.id],
        )
      ).rows;
    }
    runs.push(new Date(state.finalized).getTime() - new Date(state.started ?? "").getTime());
  }
  await agent.close();
  const value = Math.max(0, median(runs) - median(trips));
  return { name: "a run beyond its four round trips", value, unit: "ms", budget: 5, kind: "most" };
}

/** A million agents on the board of all domains. */
export async function boardOfAMillion({ pool }: BenchDatabase): Promise<void> {
  await pool.query("alter table board_entries disable trigger all");
  await pool.query("alter table agents disable trigger all");
  await pool.query(`with owner as (select id from users limit 1), a as (
      insert into agents (user_id, name, connection_mode, verified_state)
      select owner.id, 'Agent ' || n, 'mock', 'verified' from owner, generate_series(1, 1000000) n returning id
    )
    insert into board_entries (agent_id, domain, period, tier, composite_score, score_variance, success_rate, reliability,
      cost_efficiency, correctness, latency, cost, tool_efficiency, robustness, runs, tasks, last_run_at, listed, verified)
    select id, 'all', 'all', 0, round((random() * 100)::numeric, 2), 0.1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5,
      (random() * 400)::integer, 40, now(), true, true from a`);
  await pool.query(`insert into board_totals values ('all', 'all', 1000000, 1000000)
    on conflict (domain, period) do update set listed = excluded.listed, verified = excluded.verified`);
  await pool.query("alter table board_entries enable trigger all");
  await pool.query("alter table agents enable trigger all");
  await pool.query("vacuum analyze board_entries, agents");
}
