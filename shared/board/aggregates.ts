import { type SQL, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { type Moment, momentSql } from "../db/instant.ts";
import {
  agents,
  board_entries,
  isFinishedRun,
  run_tallies,
  runs,
  suites,
  task_scores,
  tasks,
} from "../db/schema/index.ts";

/** The slug of the suite on which agents are compared. */
export const CORE_SUITE = "core";

/** SQL: the periods of the board, each with the time from which runs belong to it. */
function periods(now: Moment): SQL {
  const since = (days: number) => sql`${momentSql(now)} - ${days * 24}::integer * interval '1 hour'`;
  return sql`(values ('all', '-infinity'::timestamptz), ('30d', ${since(30)}), ('7d', ${since(7)})) as p(period, since)`;
}

/** SQL: a run's cost where every call of it is known and has a price, otherwise null; the same as `scoredCost`. */
export const COST: SQL = sql`case when not r.evidence_cost_partial and r.evidence_cost_source <> 'runner_aggregate'
  then r.evidence_cost_usd::double precision end`;

/** How many of an agent's runs of a task are scored: the latest ones. */
export const SCORED_RUNS = 10;

/** SQL: whether the run row `r` of the task row `t` may be scored: counted or simulated, at the task's current suite version. */
export const SCORABLE: SQL = sql`(${isFinishedRun(sql`r.status`)} and not r.is_private and r.trigger <> 'trial'
  and (r.counted or r.simulated) and r.failure_code is distinct from 'service_error'
  and r.suite_version = t.suite_version)`;

/** SQL: reference / max(reference, value), also where both are 0; null for a null value. */
function ratio(reference: SQL, value: SQL): SQL {
  return sql`case when ${value} <= ${reference} then 1 else ${reference} / ${value} end`;
}

/** SQL: the cost efficiency of the run row `r` of the task row `t`: 0 where it did not pass; null where its cost is not known. */
export const EFFICIENCY: SQL = sql`case when r.passed or ${COST} is null then ${ratio(sql`t.reference_cost_usd`, COST)} else 0 end`;

/**
 * SQL: the cells of the agents and tasks that the query `pairs` (columns `agent_id`, `task_id`) names, each pair once, each
 * cell aggregated from the latest ten runs at the task's current suite version. Latest by when they were asked for, as their
 * ids tell: in which order they end is up to the agent, which could leave out those that it fails. They are found by an
 * index, those of a period among them, so that a cell takes no longer when there are more runs behind it. The formulas are
 * those of shared/scoring/score.ts.
 */
export function cells(pairs: SQL, now: Moment): SQL {
  return sql`
    select agent_id, task_id, period, simulated, n, c, c::double precision / n as success,
      ((c + 1.0) / (n + 2) * (c + 2) / (n + 3) * (c + 3) / (n + 4))::double precision as reliability,
      cost_efficiency, correctness, latency, cost, tool_efficiency,
      (gradable * (c + 1.0) / (n + 2) * (c + 2) / (n + 3) * (c + 3) / (n + 4))::double precision as robustness,
      cost_floor_applied, last_run_at
    from (
      select c.agent_id, c.task_id, p.period, k.simulated, count(*)::integer as n,
        count(*) filter (where r.passed)::integer as c, avg(coalesce(r.efficiency, 0)) as cost_efficiency,
        avg(r.correctness) as correctness, avg(r.latency) as latency, avg(r.efficiency) as cost,
        avg(r.tool_efficiency) as tool_efficiency, avg(r.gradable)::double precision as gradable,
        bool_or(r.cost_floor_applied) as cost_floor_applied, max(r.finalized_at) as last_run_at
      from (${pairs}) c join ${tasks} t on t.id = c.task_id cross join (values (false), (true)) k(simulated)
        cross join lateral (
          select r.passed, r.correctness, r.finalized_at, (r.status = 'completed')::integer as gradable,
            r.evidence_cost_floor_applied as cost_floor_applied, ${EFFICIENCY} as efficiency,
            ${ratio(sql`t.reference_latency_ms::double precision`, sql`case when r.status = 'completed' then r.latency_ms end`)} as latency,
            case when t.expected_tool_calls > 0
              then ${ratio(sql`t.expected_tool_calls::double precision`, sql`r.tool_calls_made`)} end as tool_efficiency
          from ${runs} r
          where r.agent_id = c.agent_id and r.task_id = c.task_id and r.simulated = k.simulated and ${SCORABLE}
          order by r.id desc limit ${SCORED_RUNS}
        ) r cross join ${periods(now)}
      where r.finalized_at >= p.since
      group by c.agent_id, c.task_id, p.period, k.simulated
    ) aggregated`;
}

/** A table of aggregates: its key, its other columns, those of them that the board shows, and the order to write rows in. */
export interface Aggregate {
  table: PgTable;
  key: string;
  values: string;
  shown: string;
  order: string;
}

/** The cells. */
export const CELLS: Aggregate = {
  table: task_scores,
  key: "agent_id, period, task_id, simulated",
  values:
    "n, c, success, reliability, cost_efficiency, correctness, latency, cost, tool_efficiency, robustness, cost_floor_applied, last_run_at",
  shown: "success, reliability, cost_efficiency",
  order: "agent_id, period, task_id, simulated",
};

/** The entries of the boards. */
export const BOARD: Aggregate = {
  table: board_entries,
  key: "agent_id, domain, period",
  values:
    "tier, composite_score, score_variance, score_lowest, score_highest, score_low, score_high, success_rate, reliability, cost_efficiency, correctness, latency, cost, tool_efficiency, robustness, cost_floor_applied, runs, tasks, asked_runs, uneven, last_run_at, listed, verified, certified",
  shown: "tier, composite_score, runs, tasks",
  // Board by board, so that two statements lock the boards' totals in the same order.
  order: "domain, period, agent_id",
};

/** SQL: the assignments of an upsert that take these columns from the proposed row. */
export function overwrite(columns: string): SQL {
  return sql.raw(
    columns
      .split(", ")
      .map((name) => `${name} = excluded.${name}`)
      .join(", "),
  );
}

/** SQL: stores the rows that the query `rows` selects. */
export function store({ table, key, values, order }: Aggregate, rows: SQL): SQL {
  const columns = sql.raw(`${key}, ${values}`);
  return sql`insert into ${table} (${columns}) select ${columns} from (${rows}) x order by ${sql.raw(order)}
    on conflict (${sql.raw(key)}) do update set ${overwrite(values)}`;
}

/** SQL: stores the cells of the agents and tasks that `pairs` names as for `cells`, in every period. */
export function storeCells(pairs: SQL, now: Moment): SQL {
  return store(CELLS, cells(pairs, now));
}

/**
 * SQL: the entries of agents on boards, for each row that the query `wanted` (columns `agent_id`, `domain`) selects, once.
 * An agent whose real cells cover every active core task of the board is ranked on those alone; an agent without any real
 * cell is shown with its simulated ones. How evenly the ranked ones were asked is as in shared/scoring/evenness.ts: what is
 * put aside until its session ends counts as asked, and makes nothing even before. Of entries that are alike, as most are
 * of an agent's periods, the interval is computed once.
 */
export function entries(wanted: SQL): SQL {
  // `offset 0` has the cells of each agent found by the index, also where the planner expects a great many agents, and found
  // once, however many boards of it are wanted. What is materialized is not computed for each row that it is joined to,
  // whichever way the planner joins.
  return sql`
    with asked as materialized (${wanted}), standard as materialized (
      select b.domain, count(*) as tasks from (select distinct domain from asked) b
        join ${tasks} t on b.domain in ('all', t.domain) and t.is_active
        join ${suites} k on k.id = t.suite_id and k.slug = ${CORE_SUITE}
      group by b.domain
    ), wanted as materialized (
      select a.*, coalesce(d.tasks, -1) as standard from asked a left join standard d on d.domain = a.domain
    ), asked_of as materialized (
      select agent_id, domain, sum(asked)::integer as runs,
        sum(abs(told - usual)) > greatest(1, count(*) / 10.0) as uneven
      from (
        select w.agent_id, w.domain, y.asked, told, round(avg(told) over (partition by w.agent_id, w.domain)) as usual
        from wanted w join ${run_tallies} y on y.agent_id = w.agent_id and not y.is_private
          cross join lateral (select y.asked - count(*) as told from ${runs} r where r.agent_id = y.agent_id
            and r.task_id = y.task_id and r.canary is null and not r.is_private and run_asked(r) = 1
            and r.suite_version = y.version) h
          join ${tasks} t on t.id = y.task_id and t.suite_version = y.version and t.is_active and w.domain in ('all', t.domain)
          join ${suites} k on k.id = t.suite_id and k.slug = ${CORE_SUITE}
      ) x group by agent_id, domain
    ), placed as (
      select s.*, b.domain, b.standard, (k.slug = ${CORE_SUITE} and t.is_active) as is_core,
        bool_or(not s.simulated) over board as has_real,
        count(*) filter (where not s.simulated and k.slug = ${CORE_SUITE} and t.is_active) over board as covered
      from (select distinct agent_id from wanted) w
        cross join lateral (select * from ${task_scores} where agent_id = w.agent_id offset 0) s
        join ${tasks} t on t.id = s.task_id cross join lateral (values ('all'), (t.domain)) d(domain)
        join wanted b on b.agent_id = s.agent_id and b.domain = d.domain left join ${suites} k on k.id = t.suite_id
      window board as (partition by s.agent_id, b.domain, s.period)
    ), chosen as (
      select p.*, 0.4 * p.success + 0.3 * p.reliability + 0.3 * p.cost_efficiency as score,
        case when not p.has_real then 2 when p.covered = p.standard then 0 else 1 end as tier
      from placed p
      where p.simulated = not p.has_real
    ), summed as (
    select c.agent_id, c.domain, c.period, c.tier::smallint as tier,
      floor(avg(score) * 10000 + 0.5 + 1e-7) / 100 as composite_score, coalesce(var_samp(score), 0) as score_variance,
      min(score) as score_lowest, max(score) as score_highest,
      avg(success) as success_rate, avg(c.reliability) as reliability, avg(c.cost_efficiency) as cost_efficiency,
      avg(c.correctness) as correctness, avg(c.latency) as latency, avg(c.cost) as cost,
      avg(c.tool_efficiency) as tool_efficiency, avg(c.robustness) as robustness,
      bool_or(c.cost_floor_applied) as cost_floor_applied, sum(n)::integer as runs,
      count(*)::integer as tasks, case when c.tier = 0 then o.runs end as asked_runs, c.tier = 0 and coalesce(o.uneven, false) as uneven,
      max(c.last_run_at) as last_run_at,
      a.is_public and a.is_active as listed, a.verified_state <> 'unverified' as verified,
      a.verified_state = 'certified' as certified
    from chosen c join ${agents} a on a.id = c.agent_id
      left join asked_of o on o.agent_id = c.agent_id and o.domain = c.domain
    where c.tier <> 0 or c.is_core
    group by c.agent_id, c.domain, c.period, c.tier, a.id, o.runs, o.uneven
    )
    select s.*, max(i.low) over alike as score_low, max(i.high) over alike as score_high
    from (select s.*, row_number() over alike as copy from summed s
        window alike as (partition by composite_score, score_variance, score_lowest, score_highest, tasks)) s
      cross join lateral score_interval(case when s.copy = 1 then s.composite_score end, s.score_variance, s.score_lowest,
        s.score_highest, s.tasks) i
    window alike as (partition by s.composite_score, s.score_variance, s.score_lowest, s.score_highest, s.tasks)`;
}

/** SQL: stores the entries that the query `wanted` (columns `agent_id`, `domain`) names, in every period. */
export function storeEntries(wanted: SQL): SQL {
  return store(BOARD, entries(wanted));
}
