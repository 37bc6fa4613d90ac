ALTER TABLE "revenue" ADD COLUMN "refunded_usd" numeric(12, 2) DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "revenue" ADD COLUMN "read_at" timestamp with time zone;