CREATE TABLE "device_authorizations" (
	"device_hash" text PRIMARY KEY NOT NULL,
	"user_code_hash" text NOT NULL,
	"client_name" text NOT NULL,
	"user_agent" text,
	"network" text NOT NULL,
	"interval_seconds" integer NOT NULL,
	"polled_at" timestamp(3) with time zone,
	"user_id" uuid,
	"session_id" uuid,
	"allowed" boolean,
	"redeemed_at" timestamp(3) with time zone,
	"expires_at" timestamp(3) with time zone NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "device_authorizations" ADD CONSTRAINT "device_authorizations_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "device_authorizations" ADD CONSTRAINT "device_authorizations_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "device_authorizations_code_key" ON "device_authorizations" USING btree ("user_code_hash");--> statement-breakpoint
CREATE INDEX "device_authorizations_user_idx" ON "device_authorizations" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "device_authorizations_session_idx" ON "device_authorizations" USING btree ("session_id");--> statement-breakpoint
CREATE INDEX "device_authorizations_expiry_idx" ON "device_authorizations" USING btree ("expires_at");