DROP INDEX "webhooks_user_idx";--> statement-breakpoint
CREATE INDEX "webhooks_owner_idx" ON "webhooks" USING btree (coalesce("team_id", "user_id"),"created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "webhooks_user_idx" ON "webhooks" USING btree ("user_id");
--> statement-breakpoint
drop trigger days_ended on runs;
--> statement-breakpoint
-- Runs wait for this until all that is below is done, so that each is counted once.
create trigger days_ended after update of passed, evidence_cost_usd on runs
  for each row when ((old.agent_id, old.team_id, old.user_id, old.api_key_id, old.created_at)
      is not distinct from (new.agent_id, new.team_id, new.user_id, new.api_key_id, new.created_at)
    and (old.passed, old.evidence_cost_usd) is distinct from (new.passed, new.evidence_cost_usd))
  execute function end_run_day();
--> statement-breakpoint
create or replace function count_run_days() returns trigger language plpgsql as $$
begin
  insert into run_days as d (agent_id, day, team_id, user_id, api_key_id, runs, passed, cost_usd, costs, last_run_at)
    select agent_id, (created_at at time zone 'UTC')::date, team_id, user_id, api_key_id, count(*),
      count(*) filter (where passed), coalesce(sum(evidence_cost_usd), 0), count(evidence_cost_usd), max(created_at)
    from inserted group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
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
      count(*) filter (where passed) as passed, coalesce(sum(evidence_cost_usd), 0) as cost_usd,
      count(evidence_cost_usd) as costs
    from deleted group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
  ) x on d.agent_id = x.agent_id and d.day = x.day and d.team_id is not distinct from x.team_id
    and d.user_id is not distinct from x.user_id and d.api_key_id is not distinct from x.api_key_id
  when matched and d.runs <= x.runs then delete
  when matched then update set runs = d.runs - x.runs, passed = d.passed - x.passed, cost_usd = d.cost_usd - x.cost_usd,
    costs = d.costs - x.costs;
  return null;
end
$$;
--> statement-breakpoint
-- The agent may go along with the account, and this come after it.
create or replace function move_run_day() returns trigger language plpgsql as $$
begin
  merge into run_days d using (select (old.created_at at time zone 'UTC')::date as day) x
  on d.agent_id = old.agent_id and d.day = x.day and d.team_id is not distinct from old.team_id
    and d.user_id is not distinct from old.user_id and d.api_key_id is not distinct from old.api_key_id
  when matched and d.runs <= 1 then delete
  when matched then update set runs = d.runs - 1, passed = d.passed - coalesce(old.passed, false)::integer,
    cost_usd = d.cost_usd - coalesce(old.evidence_cost_usd, 0), costs = d.costs - num_nonnulls(old.evidence_cost_usd);
  insert into run_days as d (agent_id, day, team_id, user_id, api_key_id, runs, passed, cost_usd, costs, last_run_at)
    select new.agent_id, (new.created_at at time zone 'UTC')::date, new.team_id, new.user_id, new.api_key_id, 1,
      coalesce(new.passed, false)::integer, coalesce(new.evidence_cost_usd, 0), num_nonnulls(new.evidence_cost_usd),
      new.created_at
    from agents a where a.id = new.agent_id
  on conflict (agent_id, day, team_id, user_id, api_key_id) do update
    set runs = d.runs + 1, passed = d.passed + excluded.passed, cost_usd = d.cost_usd + excluded.cost_usd,
      costs = d.costs + excluded.costs, last_run_at = greatest(d.last_run_at, excluded.last_run_at);
  return null;
end
$$;
--> statement-breakpoint
insert into run_days (agent_id, day, team_id, user_id, api_key_id, runs, passed, cost_usd, costs, last_run_at)
  select agent_id, (created_at at time zone 'UTC')::date, team_id, user_id, api_key_id, count(*),
    count(*) filter (where passed), coalesce(sum(evidence_cost_usd), 0), count(evidence_cost_usd), max(created_at)
  from runs where num_nonnulls(team_id, user_id) = 0 group by 1, 2, 3, 4, 5;
