CREATE TABLE "service_secrets" (
	"name" text PRIMARY KEY NOT NULL,
	"sealed" text NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "runs_trial_address_idx" ON "runs" USING btree ("paid_period") WHERE "runs"."paid_kind" = 'trial_address' and "runs"."paid_owner" is not null;