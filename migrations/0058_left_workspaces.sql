DROP INDEX "runs_user_idx";--> statement-breakpoint
CREATE INDEX "runs_user_idx" ON "runs" USING btree ("user_id","id" DESC NULLS FIRST,"team_id");