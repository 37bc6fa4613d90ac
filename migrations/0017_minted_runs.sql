ALTER TABLE "runs" ADD COLUMN "epoch" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "template_version" integer;