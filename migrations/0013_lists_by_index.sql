DROP INDEX "runs_public_idx";--> statement-breakpoint
CREATE INDEX "agents_owner_idx" ON "agents" USING btree (coalesce("team_id", "user_id"),"is_active","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "agents_listed_idx" ON "agents" USING btree ("id") WHERE "agents"."is_public" and "agents"."is_active";--> statement-breakpoint
CREATE INDEX "runs_agent_public_idx" ON "runs" USING btree ("agent_id","id" DESC NULLS FIRST) WHERE not "runs"."is_private";--> statement-breakpoint
CREATE INDEX "runs_agent_private_idx" ON "runs" USING btree ("agent_id","user_id","id" DESC NULLS FIRST) WHERE "runs"."is_private";--> statement-breakpoint
CREATE INDEX "runs_team_idx" ON "runs" USING btree ("team_id","id" DESC NULLS FIRST) WHERE "runs"."team_id" is not null;--> statement-breakpoint
CREATE INDEX "runs_task_idx" ON "runs" USING btree ("task_id","id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "runs_status_idx" ON "runs" USING btree ("status","id" DESC NULLS FIRST) WHERE "runs"."status" <> 'completed';--> statement-breakpoint
CREATE INDEX "runs_public_idx" ON "runs" USING btree ("id" DESC NULLS FIRST,"agent_id") WHERE not "runs"."is_private";