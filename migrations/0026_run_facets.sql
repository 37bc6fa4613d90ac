DROP INDEX "runs_status_idx";--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "domain" text;--> statement-breakpoint
update runs r set domain = t.domain from tasks t where t.id = r.task_id;--> statement-breakpoint
ALTER TABLE "runs" ALTER COLUMN "domain" SET NOT NULL;--> statement-breakpoint
-- The service says the domain of what it inserts; this is for the version of it before, and for whoever inserts by hand.
create function run_domain() returns trigger language plpgsql as $$
begin
  select t.domain into new.domain from tasks t where t.id = new.task_id;
  return new;
end $$;--> statement-breakpoint
create trigger runs_domain before insert on runs for each row when (new.domain is null) execute function run_domain();--> statement-breakpoint
CREATE INDEX "runs_suite_idx" ON "runs" USING btree ("suite_id","id" DESC NULLS FIRST,"agent_id") WHERE not "runs"."is_private" and "runs"."suite_id" is not null;--> statement-breakpoint
CREATE INDEX "runs_user_facets_idx" ON "runs" USING btree ("user_id",(case "status" when 'completed' then case when "passed" then 'passed' else 'not_passed' end
    when 'failed' then coalesce("failure_code", 'failed') else "status" end),"trigger","domain","id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "runs_agent_facets_idx" ON "runs" USING btree ("agent_id",(case "status" when 'completed' then case when "passed" then 'passed' else 'not_passed' end
    when 'failed' then coalesce("failure_code", 'failed') else "status" end),"trigger","domain","id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "runs_team_facets_idx" ON "runs" USING btree ("team_id",(case "status" when 'completed' then case when "passed" then 'passed' else 'not_passed' end
    when 'failed' then coalesce("failure_code", 'failed') else "status" end),"trigger","domain","id" DESC NULLS FIRST) WHERE "runs"."team_id" is not null;--> statement-breakpoint
CREATE INDEX "runs_public_facets_idx" ON "runs" USING btree ((case "status" when 'completed' then case when "passed" then 'passed' else 'not_passed' end
    when 'failed' then coalesce("failure_code", 'failed') else "status" end),"trigger","domain","id" DESC NULLS FIRST) WHERE not "runs"."is_private";--> statement-breakpoint
CREATE INDEX "webhook_deliveries_status_idx" ON "webhook_deliveries" USING btree ("webhook_id","status","id" DESC NULLS FIRST);