CREATE TABLE "held_results" (
	"run_id" uuid PRIMARY KEY NOT NULL,
	"is_canary" boolean NOT NULL,
	"jws" text,
	"kid" text
);
--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "canary" boolean DEFAULT false;--> statement-breakpoint
ALTER TABLE "screening_sessions" ADD COLUMN "epoch" text;--> statement-breakpoint
ALTER TABLE "held_results" ADD CONSTRAINT "held_results_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "runs_held_idx" ON "runs" USING btree ("screening_session_id") WHERE "runs"."canary" is null;--> statement-breakpoint
CREATE INDEX "runs_canary_idx" ON "runs" USING btree ("agent_id","finalized_at" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE "runs"."canary";--> statement-breakpoint
-- What a final run adds to its tally; nothing where it failed by our fault, or where it is known to be a canary.
create or replace function run_tally(r runs) returns table (
  runs bigint, ended bigint, judged bigint, passed bigint, latency_ms bigint, latencies bigint, cost_usd numeric, costs bigint
) language sql immutable parallel safe as $$
  select 1, (r.status <> 'cancelled')::integer, (r.status <> 'cancelled' and r.passed is not null)::integer,
    (r.status <> 'cancelled' and coalesce(r.passed, false))::integer,
    case when r.status = 'completed' then coalesce(r.latency_ms, 0) else 0 end,
    (r.status = 'completed' and r.latency_ms is not null)::integer,
    case when r.evidence_cost_partial then 0 else coalesce(r.evidence_cost_usd, 0) end,
    (not r.evidence_cost_partial and r.evidence_cost_usd is not null)::integer
  where r.status not in ('queued', 'running') and r.failure_code is distinct from 'service_error' and r.canary is not true
$$;
--> statement-breakpoint
-- A run that turns out to be a canary is taken out of its tally.
create trigger tally_canary after update of canary on runs
  for each row when (new.canary and old.canary is not true) execute function tally_runs();
