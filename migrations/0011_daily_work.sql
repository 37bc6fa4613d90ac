CREATE TABLE "daily_work" (
	"name" text PRIMARY KEY NOT NULL,
	"turn" uuid NOT NULL,
	"cursor" text,
	"is_faulty" boolean DEFAULT false NOT NULL,
	"last_success_at" timestamp(3) with time zone,
	"last_error" text
);
--> statement-breakpoint
CREATE INDEX "email_tokens_expiry_idx" ON "email_tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sessions_over_idx" ON "sessions" USING btree (least("revoked_at", "expires_at"));