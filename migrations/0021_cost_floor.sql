ALTER TABLE "board_entries" ADD COLUMN "cost_floor_applied" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "task_scores" ADD COLUMN "cost_floor_applied" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "evidence_cost_floor_applied" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "agents_public_variant_idx" ON "agents" USING btree ("variant_of") WHERE "agents"."variant_of" is not null and "agents"."is_public";