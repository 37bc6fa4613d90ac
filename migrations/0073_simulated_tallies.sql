-- Whoever ends a run holds this first: so nobody waits for the tallies in the function of before, which knows them by the old key.
lock table runs in share row exclusive mode;--> statement-breakpoint
ALTER TABLE "run_tallies" ADD COLUMN "simulated" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "run_tallies" DROP CONSTRAINT "run_tallies_agent_id_task_id_is_private_pk";--> statement-breakpoint
ALTER TABLE "run_tallies" ADD CONSTRAINT "run_tallies_agent_id_task_id_is_private_simulated_pk" PRIMARY KEY("agent_id","task_id","is_private","simulated");--> statement-breakpoint
-- As before, but simulated runs have tallies of their own.
create or replace function tally_runs() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    update run_tallies t set runs = t.runs - coalesce(x.runs, 0), ended = t.ended - coalesce(x.ended, 0),
      judged = t.judged - coalesce(x.judged, 0), passed = t.passed - coalesce(x.passed, 0),
      latency_ms = t.latency_ms - coalesce(x.latency_ms, 0), latencies = t.latencies - coalesce(x.latencies, 0),
      cost_usd = t.cost_usd - coalesce(x.cost_usd, 0), costs = t.costs - coalesce(x.costs, 0),
      asked = t.asked - case when t.version = old.suite_version then a.asked else 0 end
    from (select run_asked(old) as asked) a left join run_tally(old) x on true
    where t.agent_id = old.agent_id and t.task_id = old.task_id and t.is_private = old.is_private
      and t.simulated = old.simulated and (x.runs is not null or a.asked = 1);
  end if;
  if tg_op <> 'DELETE' then
    insert into run_tallies as t (agent_id, task_id, is_private, simulated, runs, ended, judged, passed, latency_ms, latencies,
        cost_usd, costs, asked, version)
      select new.agent_id, new.task_id, new.is_private, new.simulated, coalesce(x.runs, 0), coalesce(x.ended, 0),
        coalesce(x.judged, 0), coalesce(x.passed, 0), coalesce(x.latency_ms, 0), coalesce(x.latencies, 0),
        coalesce(x.cost_usd, 0), coalesce(x.costs, 0), a.asked, case when a.asked = 1 then new.suite_version end
      from (select run_asked(new) as asked) a left join run_tally(new) x on true
      where x.runs is not null or a.asked = 1
    on conflict (agent_id, task_id, is_private, simulated) do update set runs = t.runs + excluded.runs,
      ended = t.ended + excluded.ended, judged = t.judged + excluded.judged, passed = t.passed + excluded.passed,
      latency_ms = t.latency_ms + excluded.latency_ms, latencies = t.latencies + excluded.latencies,
      cost_usd = t.cost_usd + excluded.cost_usd, costs = t.costs + excluded.costs,
      asked = case when excluded.version is null or excluded.version < t.version then t.asked
        when excluded.version = t.version then t.asked + 1 else 1 end,
      version = greatest(t.version, excluded.version);
  end if;
  return null;
end
$$;
--> statement-breakpoint
-- Of each tally, what comes of simulated runs is taken out.
with sums as materialized (
  select r.agent_id, r.task_id, r.is_private, sum(x.runs) as runs, sum(x.ended) as ended, sum(x.judged) as judged,
    sum(x.passed) as passed, sum(x.latency_ms) as latency_ms, sum(x.latencies) as latencies, sum(x.cost_usd) as cost_usd,
    sum(x.costs) as costs
  from runs r cross join lateral run_tally(r) x where r.simulated group by r.agent_id, r.task_id, r.is_private
), taken_out as (
  update run_tallies t set runs = t.runs - s.runs, ended = t.ended - s.ended, judged = t.judged - s.judged,
    passed = t.passed - s.passed, latency_ms = t.latency_ms - s.latency_ms, latencies = t.latencies - s.latencies,
    cost_usd = t.cost_usd - s.cost_usd, costs = t.costs - s.costs
  from sums s where t.agent_id = s.agent_id and t.task_id = s.task_id and t.is_private = s.is_private and not t.simulated
)
insert into run_tallies (agent_id, task_id, is_private, simulated, runs, ended, judged, passed, latency_ms, latencies, cost_usd, costs)
  select agent_id, task_id, is_private, true, runs, ended, judged, passed, latency_ms, latencies, cost_usd, costs from sums;
