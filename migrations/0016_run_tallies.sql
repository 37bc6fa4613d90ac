CREATE TABLE "run_tallies" (
	"agent_id" uuid NOT NULL,
	"task_id" uuid NOT NULL,
	"is_private" boolean NOT NULL,
	"runs" bigint NOT NULL,
	"ended" bigint NOT NULL,
	"judged" bigint NOT NULL,
	"passed" bigint NOT NULL,
	"latency_ms" bigint NOT NULL,
	"latencies" bigint NOT NULL,
	"cost_usd" numeric(24, 6) NOT NULL,
	"costs" bigint NOT NULL,
	CONSTRAINT "run_tallies_agent_id_task_id_is_private_pk" PRIMARY KEY("agent_id","task_id","is_private")
);
--> statement-breakpoint
DROP INDEX "screening_sessions_agent_idx";--> statement-breakpoint
ALTER TABLE "run_tallies" ADD CONSTRAINT "run_tallies_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_tallies" ADD CONSTRAINT "run_tallies_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "runs_single_idx" ON "runs" USING btree ("team_id","id" DESC NULLS FIRST) WHERE "runs"."team_id" is not null and "runs"."screening_session_id" is null;--> statement-breakpoint
CREATE INDEX "runs_open_agent_idx" ON "runs" USING btree ("agent_id") WHERE "runs"."status" in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "screening_sessions_team_idx" ON "screening_sessions" USING btree ("team_id","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE "screening_sessions"."team_id" is not null;--> statement-breakpoint
CREATE INDEX "screening_sessions_agent_idx" ON "screening_sessions" USING btree ("agent_id","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST);
--> statement-breakpoint
-- What a final run adds to its tally; nothing where it failed by our fault.
create function run_tally(r runs) returns table (
  runs bigint, ended bigint, judged bigint, passed bigint, latency_ms bigint, latencies bigint, cost_usd numeric, costs bigint
) language sql immutable parallel safe as $$
  select 1, (r.status <> 'cancelled')::integer, (r.status <> 'cancelled' and r.passed is not null)::integer,
    (r.status <> 'cancelled' and coalesce(r.passed, false))::integer,
    case when r.status = 'completed' then coalesce(r.latency_ms, 0) else 0 end,
    (r.status = 'completed' and r.latency_ms is not null)::integer,
    case when r.evidence_cost_partial then 0 else coalesce(r.evidence_cost_usd, 0) end,
    (not r.evidence_cost_partial and r.evidence_cost_usd is not null)::integer
  where r.status not in ('queued', 'running') and r.failure_code is distinct from 'service_error'
$$;
--> statement-breakpoint
insert into run_tallies
  select r.agent_id, r.task_id, r.is_private, sum(x.runs), sum(x.ended), sum(x.judged), sum(x.passed), sum(x.latency_ms),
    sum(x.latencies), sum(x.cost_usd), sum(x.costs)
  from runs r cross join lateral run_tally(r) x group by r.agent_id, r.task_id, r.is_private;
--> statement-breakpoint
-- A run that goes along with its agent finds no tally any more, and changes none.
create function tally_runs() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    update run_tallies t set runs = t.runs - x.runs, ended = t.ended - x.ended, judged = t.judged - x.judged,
      passed = t.passed - x.passed, latency_ms = t.latency_ms - x.latency_ms, latencies = t.latencies - x.latencies,
      cost_usd = t.cost_usd - x.cost_usd, costs = t.costs - x.costs
    from run_tally(old) x
    where t.agent_id = old.agent_id and t.task_id = old.task_id and t.is_private = old.is_private;
  end if;
  if tg_op <> 'DELETE' then
    insert into run_tallies as t select new.agent_id, new.task_id, new.is_private, x.* from run_tally(new) x
    on conflict (agent_id, task_id, is_private) do update set runs = t.runs + excluded.runs,
      ended = t.ended + excluded.ended, judged = t.judged + excluded.judged, passed = t.passed + excluded.passed,
      latency_ms = t.latency_ms + excluded.latency_ms, latencies = t.latencies + excluded.latencies,
      cost_usd = t.cost_usd + excluded.cost_usd, costs = t.costs + excluded.costs;
  end if;
  return null;
end
$$;
--> statement-breakpoint
create trigger tally_inserted after insert on runs
  for each row when (new.status not in ('queued', 'running')) execute function tally_runs();
--> statement-breakpoint
create trigger tally_updated after update of status, failure_code, passed, latency_ms, evidence_cost_usd,
    evidence_cost_partial, is_private, agent_id, task_id on runs
  for each row when (new.status not in ('queued', 'running') or old.status not in ('queued', 'running'))
  execute function tally_runs();
--> statement-breakpoint
create trigger tally_deleted after delete on runs
  for each row when (old.status not in ('queued', 'running')) execute function tally_runs();
