CREATE TABLE "run_days" (
	"agent_id" uuid NOT NULL,
	"team_id" uuid NOT NULL,
	"day" date NOT NULL,
	"user_id" uuid,
	"runs" bigint NOT NULL,
	"last_run_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "run_days_key" UNIQUE NULLS NOT DISTINCT("agent_id","team_id","day","user_id")
);
--> statement-breakpoint
ALTER TABLE "run_days" ADD CONSTRAINT "run_days_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "runs_agent_personal_idx" ON "runs" USING btree ("agent_id","id" DESC NULLS FIRST) WHERE "runs"."scope" = 'personal';--> statement-breakpoint
CREATE INDEX "runs_user_personal_idx" ON "runs" USING btree ("user_id","id" DESC NULLS FIRST) WHERE "runs"."scope" = 'personal';
--> statement-breakpoint
insert into run_days
  select agent_id, team_id, (created_at at time zone 'UTC')::date, user_id, count(*), max(created_at)
  from runs where team_id is not null group by 1, 2, 3, 4;
--> statement-breakpoint
-- Those of one statement are counted together, in one order, so that no two statements wait for each other.
create function count_run_days() returns trigger language plpgsql as $$
begin
  insert into run_days as d
    select agent_id, team_id, (created_at at time zone 'UTC')::date, user_id, count(*), max(created_at)
    from inserted where team_id is not null group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (agent_id, team_id, day, user_id) do update
    set runs = d.runs + excluded.runs, last_run_at = greatest(d.last_run_at, excluded.last_run_at);
  return null;
end
$$;
--> statement-breakpoint
-- A run that goes along with its agent finds no day any more, and changes none.
create function discount_run_days() returns trigger language plpgsql as $$
begin
  merge into run_days d using (
    select agent_id, team_id, (created_at at time zone 'UTC')::date as day, user_id, count(*) as runs
    from deleted where team_id is not null group by 1, 2, 3, 4 order by 1, 2, 3, 4
  ) x on d.agent_id = x.agent_id and d.team_id = x.team_id and d.day = x.day and d.user_id is not distinct from x.user_id
  when matched and d.runs <= x.runs then delete
  when matched then update set runs = d.runs - x.runs;
  return null;
end
$$;
--> statement-breakpoint
-- Runs change hands one by one, and seldom: when the account that asked for them is deleted.
create function move_run_day() returns trigger language plpgsql as $$
begin
  merge into run_days d using (select (old.created_at at time zone 'UTC')::date as day) x
  on d.agent_id = old.agent_id and d.team_id = old.team_id and d.day = x.day and d.user_id is not distinct from old.user_id
  when matched and d.runs <= 1 then delete
  when matched then update set runs = d.runs - 1;
  if new.team_id is not null then
    insert into run_days as d
      values (new.agent_id, new.team_id, (new.created_at at time zone 'UTC')::date, new.user_id, 1, new.created_at)
    on conflict (agent_id, team_id, day, user_id) do update
      set runs = d.runs + 1, last_run_at = greatest(d.last_run_at, excluded.last_run_at);
  end if;
  return null;
end
$$;
--> statement-breakpoint
create trigger days_inserted after insert on runs
  referencing new table as inserted for each statement execute function count_run_days();
--> statement-breakpoint
create trigger days_deleted after delete on runs
  referencing old table as deleted for each statement execute function discount_run_days();
--> statement-breakpoint
create trigger days_moved after update of agent_id, team_id, user_id, created_at on runs
  for each row when ((old.agent_id, old.team_id, old.user_id, old.created_at)
    is distinct from (new.agent_id, new.team_id, new.user_id, new.created_at)) execute function move_run_day();
