DROP INDEX "runs_cell_idx";--> statement-breakpoint
DROP INDEX "runs_canary_idx";--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "agent_protocol" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "connection_mode" text;--> statement-breakpoint
CREATE INDEX "runs_cell_idx" ON "runs" USING btree ("agent_id","task_id","simulated","suite_version","id" DESC NULLS FIRST) WHERE "runs"."status" in ('completed', 'failed') and not "runs"."is_private" and "runs"."trigger" <> 'trial'
          and ("runs"."counted" or "runs"."simulated") and "runs"."failure_code" is distinct from 'service_error';--> statement-breakpoint
CREATE INDEX "runs_canary_idx" ON "runs" USING btree ("agent_id","id" DESC NULLS FIRST) WHERE "runs"."canary";