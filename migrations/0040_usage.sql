ALTER TABLE "run_days" DROP CONSTRAINT "run_days_key";--> statement-breakpoint
ALTER TABLE "run_days" ALTER COLUMN "team_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "run_days" ADD COLUMN "api_key_id" uuid;--> statement-breakpoint
ALTER TABLE "run_days" ADD COLUMN "passed" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "run_days" ADD COLUMN "cost_usd" numeric(24, 6) DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "run_days" ADD COLUMN "costs" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "api_key_id" uuid;--> statement-breakpoint
CREATE INDEX "run_days_team_idx" ON "run_days" USING btree ("team_id","day") WHERE "run_days"."team_id" is not null;--> statement-breakpoint
CREATE INDEX "run_days_user_idx" ON "run_days" USING btree ("user_id","day") WHERE "run_days"."team_id" is null;--> statement-breakpoint
ALTER TABLE "run_days" ADD CONSTRAINT "run_days_key" UNIQUE NULLS NOT DISTINCT("agent_id","day","team_id","user_id","api_key_id");--> statement-breakpoint
truncate run_days;
--> statement-breakpoint
insert into run_days (agent_id, day, team_id, user_id, api_key_id, runs, passed, cost_usd, costs, last_run_at)
  select agent_id, (created_at at time zone 'UTC')::date, team_id, user_id, api_key_id, count(*),
    count(*) filter (where passed), coalesce(sum(evidence_cost_usd), 0), count(evidence_cost_usd), max(created_at)
  from runs where num_nonnulls(team_id, user_id) > 0 group by 1, 2, 3, 4, 5;
--> statement-breakpoint
create or replace function count_run_days() returns trigger language plpgsql as $$
begin
  insert into run_days as d (agent_id, day, team_id, user_id, api_key_id, runs, passed, cost_usd, costs, last_run_at)
    select agent_id, (created_at at time zone 'UTC')::date, team_id, user_id, api_key_id, count(*),
      count(*) filter (where passed), coalesce(sum(evidence_cost_usd), 0), count(evidence_cost_usd), max(created_at)
    from inserted where num_nonnulls(team_id, user_id) > 0 group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
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
    from deleted where num_nonnulls(team_id, user_id) > 0 group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
  ) x on d.agent_id = x.agent_id and d.day = x.day and d.team_id is not distinct from x.team_id
    and d.user_id is not distinct from x.user_id and d.api_key_id is not distinct from x.api_key_id
  when matched and d.runs <= x.runs then delete
  when matched then update set runs = d.runs - x.runs, passed = d.passed - x.passed, cost_usd = d.cost_usd - x.cost_usd,
    costs = d.costs - x.costs;
  return null;
end
$$;
--> statement-breakpoint
drop trigger days_moved on runs;
--> statement-breakpoint
drop function move_run_day();
--> statement-breakpoint
-- A run ends where it began, and adds what came of it.
create function end_run_day() returns trigger language plpgsql as $$
begin
  insert into run_days as d (agent_id, day, team_id, user_id, api_key_id, runs, passed, cost_usd, costs, last_run_at)
    values (new.agent_id, (new.created_at at time zone 'UTC')::date, new.team_id, new.user_id, new.api_key_id, 0,
      coalesce(new.passed, false)::integer - coalesce(old.passed, false)::integer,
      coalesce(new.evidence_cost_usd, 0) - coalesce(old.evidence_cost_usd, 0),
      num_nonnulls(new.evidence_cost_usd) - num_nonnulls(old.evidence_cost_usd), new.created_at)
  on conflict (agent_id, day, team_id, user_id, api_key_id) do update
    set passed = d.passed + excluded.passed, cost_usd = d.cost_usd + excluded.cost_usd, costs = d.costs + excluded.costs;
  return null;
end
$$;
--> statement-breakpoint
-- Runs change hands one by one, and seldom: when the account that asked for them is deleted.
create function move_run_day() returns trigger language plpgsql as $$
begin
  merge into run_days d using (select (old.created_at at time zone 'UTC')::date as day) x
  on d.agent_id = old.agent_id and d.day = x.day and d.team_id is not distinct from old.team_id
    and d.user_id is not distinct from old.user_id and d.api_key_id is not distinct from old.api_key_id
  when matched and d.runs <= 1 then delete
  when matched then update set runs = d.runs - 1, passed = d.passed - coalesce(old.passed, false)::integer,
    cost_usd = d.cost_usd - coalesce(old.evidence_cost_usd, 0), costs = d.costs - num_nonnulls(old.evidence_cost_usd);
  if num_nonnulls(new.team_id, new.user_id) > 0 then
    insert into run_days as d (agent_id, day, team_id, user_id, api_key_id, runs, passed, cost_usd, costs, last_run_at)
      values (new.agent_id, (new.created_at at time zone 'UTC')::date, new.team_id, new.user_id, new.api_key_id, 1,
        coalesce(new.passed, false)::integer, coalesce(new.evidence_cost_usd, 0), num_nonnulls(new.evidence_cost_usd),
        new.created_at)
    on conflict (agent_id, day, team_id, user_id, api_key_id) do update
      set runs = d.runs + 1, passed = d.passed + excluded.passed, cost_usd = d.cost_usd + excluded.cost_usd,
        costs = d.costs + excluded.costs, last_run_at = greatest(d.last_run_at, excluded.last_run_at);
  end if;
  return null;
end
$$;
--> statement-breakpoint
create trigger days_ended after update of passed, evidence_cost_usd on runs
  for each row when ((old.agent_id, old.team_id, old.user_id, old.api_key_id, old.created_at)
      is not distinct from (new.agent_id, new.team_id, new.user_id, new.api_key_id, new.created_at)
    and (old.passed, old.evidence_cost_usd) is distinct from (new.passed, new.evidence_cost_usd)
    and num_nonnulls(new.team_id, new.user_id) > 0) execute function end_run_day();
--> statement-breakpoint
create trigger days_moved after update of agent_id, team_id, user_id, api_key_id, created_at on runs
  for each row when ((old.agent_id, old.team_id, old.user_id, old.api_key_id, old.created_at)
    is distinct from (new.agent_id, new.team_id, new.user_id, new.api_key_id, new.created_at)) execute function move_run_day();
