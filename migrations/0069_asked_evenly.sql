ALTER TABLE "board_entries" ADD COLUMN "asked_runs" integer;--> statement-breakpoint
ALTER TABLE "board_entries" ADD COLUMN "uneven" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "run_tallies" ADD COLUMN "asked" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "run_tallies" ADD COLUMN "version" integer;--> statement-breakpoint
-- Whether a final run was asked of its agent in earnest. A canary was, too; a cancelled run was not, nor one that failed by our fault.
create function run_asked(r runs) returns integer language sql immutable parallel safe as $$
  select (r.status in ('completed', 'failed') and not r.simulated and r.trigger <> 'trial'
    and r.failure_code is distinct from 'service_error' and r.suite_version is not null)::integer
$$;
--> statement-breakpoint
-- A run that goes along with its agent finds no tally any more, and changes none. One that turns out to be a canary leaves
-- the sums, and stays asked. What was asked at an older version is no longer counted once there is a newer one.
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
      and (x.runs is not null or a.asked = 1);
  end if;
  if tg_op <> 'DELETE' then
    insert into run_tallies as t
      select new.agent_id, new.task_id, new.is_private, coalesce(x.runs, 0), coalesce(x.ended, 0), coalesce(x.judged, 0),
        coalesce(x.passed, 0), coalesce(x.latency_ms, 0), coalesce(x.latencies, 0), coalesce(x.cost_usd, 0),
        coalesce(x.costs, 0), a.asked, case when a.asked = 1 then new.suite_version end
      from (select run_asked(new) as asked) a left join run_tally(new) x on true
      where x.runs is not null or a.asked = 1
    on conflict (agent_id, task_id, is_private) do update set runs = t.runs + excluded.runs,
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
insert into run_tallies as t (agent_id, task_id, is_private, runs, ended, judged, passed, latency_ms, latencies, cost_usd, costs, asked, version)
  select r.agent_id, r.task_id, r.is_private, 0, 0, 0, 0, 0, 0, 0, 0, count(*), k.suite_version
  from runs r join tasks k on k.id = r.task_id and k.suite_version = r.suite_version
  where run_asked(r) = 1 group by r.agent_id, r.task_id, r.is_private, k.suite_version
on conflict (agent_id, task_id, is_private) do update set asked = excluded.asked, version = excluded.version;
