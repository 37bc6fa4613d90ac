-- Whoever counts a run holds this first: so none is counted by the functions of before once the sums below are taken.
lock table runs in share row exclusive mode;
--> statement-breakpoint
-- What is known of the cost of a run; nothing is of a simulated one, whose usage is made up.
create function run_cost(r runs) returns numeric language sql immutable parallel safe as $$
  select case when not r.simulated then r.evidence_cost_usd end
$$;
--> statement-breakpoint
create or replace function count_run_days() returns trigger language plpgsql as $$
begin
  insert into run_days as d (agent_id, day, team_id, user_id, api_key_id, runs, passed, cost_usd, costs, last_run_at)
    select agent_id, (created_at at time zone 'UTC')::date, team_id, user_id, api_key_id, count(*),
      count(*) filter (where passed), coalesce(sum(run_cost(r)), 0), count(run_cost(r)), max(created_at)
    from inserted r group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
  on conflict (agent_id, day, team_id, user_id, api_key_id) do update
    set runs = d.runs + excluded.runs, passed = d.passed + excluded.passed, cost_usd = d.cost_usd + excluded.cost_usd,
      costs = d.costs + excluded.costs, last_run_at = greatest(d.last_run_at, excluded.last_run_at);
  return null;
end
$$;
--> statement-breakpoint
create or replace function discount_run_days() returns trigger language plpgsql as $$
begin
  merge into run_days d using (
    select agent_id, (created_at at time zone 'UTC')::date as day, team_id, user_id, api_key_id, count(*) as runs,
      count(*) filter (where passed) as passed, coalesce(sum(run_cost(r)), 0) as cost_usd, count(run_cost(r)) as costs
    from deleted r group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
  ) x on d.agent_id = x.agent_id and d.day = x.day and d.team_id is not distinct from x.team_id
    and d.user_id is not distinct from x.user_id and d.api_key_id is not distinct from x.api_key_id
  when matched and d.runs <= x.runs then delete
  when matched then update set runs = d.runs - x.runs, passed = d.passed - x.passed, cost_usd = d.cost_usd - x.cost_usd,
    costs = d.costs - x.costs;
  return null;
end
$$;
--> statement-breakpoint
create or replace function end_run_day() returns trigger language plpgsql as $$
begin
  insert into run_days as d (agent_id, day, team_id, user_id, api_key_id, runs, passed, cost_usd, costs, last_run_at)
    values (new.agent_id, (new.created_at at time zone 'UTC')::date, new.team_id, new.user_id, new.api_key_id, 0,
      coalesce(new.passed, false)::integer - coalesce(old.passed, false)::integer,
      coalesce(run_cost(new), 0) - coalesce(run_cost(old), 0),
      num_nonnulls(run_cost(new)) - num_nonnulls(run_cost(old)), new.created_at)
  on conflict (agent_id, day, team_id, user_id, api_key_id) do update
    set passed = d.passed + excluded.passed, cost_usd = d.cost_usd + excluded.cost_usd, costs = d.costs + excluded.costs;
  return null;
end
$$;
--> statement-breakpoint
create or replace function move_run_day() returns trigger language plpgsql as $$
begin
  merge into run_days d using (select (old.created_at at time zone 'UTC')::date as day) x
  on d.agent_id = old.agent_id and d.day = x.day and d.team_id is not distinct from old.team_id
    and d.user_id is not distinct from old.user_id and d.api_key_id is not distinct from old.api_key_id
  when matched and d.runs <= 1 then delete
  when matched then update set runs = d.runs - 1, passed = d.passed - coalesce(old.passed, false)::integer,
    cost_usd = d.cost_usd - coalesce(run_cost(old), 0), costs = d.costs - num_nonnulls(run_cost(old));
  insert into run_days as d (agent_id, day, team_id, user_id, api_key_id, runs, passed, cost_usd, costs, last_run_at)
    select new.agent_id, (new.created_at at time zone 'UTC')::date, new.team_id, new.user_id, new.api_key_id, 1,
      coalesce(new.passed, false)::integer, coalesce(run_cost(new), 0), num_nonnulls(run_cost(new)), new.created_at
    from agents a where a.id = new.agent_id
  on conflict (agent_id, day, team_id, user_id, api_key_id) do update
    set runs = d.runs + 1, passed = d.passed + excluded.passed, cost_usd = d.cost_usd + excluded.cost_usd,
      costs = d.costs + excluded.costs, last_run_at = greatest(d.last_run_at, excluded.last_run_at);
  return null;
end
$$;
--> statement-breakpoint
with made_up as (
  select agent_id, (created_at at time zone 'UTC')::date as day, team_id, user_id, api_key_id,
    sum(evidence_cost_usd) as cost_usd, count(*) as costs
  from runs where simulated and evidence_cost_usd is not null group by 1, 2, 3, 4, 5
)
update run_days d set cost_usd = d.cost_usd - m.cost_usd, costs = d.costs - m.costs from made_up m
  where d.agent_id = m.agent_id and d.day = m.day and d.team_id is not distinct from m.team_id
    and d.user_id is not distinct from m.user_id and d.api_key_id is not distinct from m.api_key_id;
