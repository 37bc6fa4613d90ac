ALTER TABLE "agents" ADD COLUMN "publish_answers" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "publishes_answer" boolean DEFAULT false NOT NULL;