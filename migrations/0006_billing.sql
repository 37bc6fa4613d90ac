CREATE TABLE "billing_customers" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"subscription_id" text,
	"subscription_status" text,
	"read_at" timestamp with time zone,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "provider_events" (
	"id" text PRIMARY KEY NOT NULL,
	"type" text NOT NULL,
	"done_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "certifications" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"agent_id" uuid NOT NULL,
	"user_id" uuid,
	"status" text NOT NULL,
	"checkout_session_id" text,
	"payment_intent_id" text,
	"price_usd" numeric(12, 2) NOT NULL,
	"eu_waiver_at" timestamp(3) with time zone NOT NULL,
	"paid_at" timestamp(3) with time zone,
	"screening_session_id" uuid,
	"paused_reason" text,
	"score" numeric(5, 2),
	"issued_at" timestamp(3) with time zone,
	"expires_at" timestamp(3) with time zone,
	"revoked_at" timestamp(3) with time zone,
	"status_index" integer GENERATED ALWAYS AS IDENTITY (sequence name "certifications_status_index_seq" INCREMENT BY 1 MINVALUE 0 MAXVALUE 2147483647 START WITH 0 CACHE 1),
	"jws" text,
	"kid" text,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "listings" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"agent_id" uuid NOT NULL,
	"seller_id" uuid NOT NULL,
	"title" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"price_usd" numeric(12, 2) NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "purchases" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"listing_id" uuid NOT NULL,
	"agent_id" uuid,
	"seller_id" uuid,
	"buyer_id" uuid,
	"agent_name" text NOT NULL,
	"declared_configuration" jsonb,
	"status" text DEFAULT 'AWAITING_PAYMENT' NOT NULL,
	"price_usd" numeric(12, 2) NOT NULL,
	"fee_usd" numeric(12, 2) NOT NULL,
	"checkout_session_id" text,
	"checkout_url" text,
	"hired_agent_id" uuid,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "revenue" (
	"purchase_id" uuid PRIMARY KEY NOT NULL,
	"seller_id" uuid,
	"gross_usd" numeric(12, 2) NOT NULL,
	"fee_usd" numeric(12, 2) NOT NULL,
	"net_usd" numeric(12, 2) NOT NULL,
	"realised_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "seller_accounts" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"read_at" timestamp with time zone,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "billing_customers" ADD CONSTRAINT "billing_customers_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "certifications" ADD CONSTRAINT "certifications_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "certifications" ADD CONSTRAINT "certifications_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "certifications" ADD CONSTRAINT "certifications_screening_session_id_screening_sessions_id_fk" FOREIGN KEY ("screening_session_id") REFERENCES "public"."screening_sessions"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "listings" ADD CONSTRAINT "listings_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "listings" ADD CONSTRAINT "listings_seller_id_users_id_fk" FOREIGN KEY ("seller_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "purchases" ADD CONSTRAINT "purchases_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "purchases" ADD CONSTRAINT "purchases_seller_id_users_id_fk" FOREIGN KEY ("seller_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "purchases" ADD CONSTRAINT "purchases_buyer_id_users_id_fk" FOREIGN KEY ("buyer_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "purchases" ADD CONSTRAINT "purchases_hired_agent_id_agents_id_fk" FOREIGN KEY ("hired_agent_id") REFERENCES "public"."agents"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "revenue" ADD CONSTRAINT "revenue_purchase_id_purchases_id_fk" FOREIGN KEY ("purchase_id") REFERENCES "public"."purchases"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "revenue" ADD CONSTRAINT "revenue_seller_id_users_id_fk" FOREIGN KEY ("seller_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "seller_accounts" ADD CONSTRAINT "seller_accounts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "billing_customers_customer_key" ON "billing_customers" USING btree ("customer_id");--> statement-breakpoint
CREATE INDEX "provider_events_done_idx" ON "provider_events" USING btree ("done_at");--> statement-breakpoint
CREATE UNIQUE INDEX "certifications_checkout_key" ON "certifications" USING btree ("checkout_session_id");--> statement-breakpoint
CREATE UNIQUE INDEX "certifications_status_index_key" ON "certifications" USING btree ("status_index");--> statement-breakpoint
CREATE INDEX "certifications_payment_idx" ON "certifications" USING btree ("payment_intent_id");--> statement-breakpoint
CREATE INDEX "certifications_session_idx" ON "certifications" USING btree ("screening_session_id");--> statement-breakpoint
CREATE INDEX "certifications_agent_idx" ON "certifications" USING btree ("agent_id","id" DESC NULLS FIRST);--> statement-breakpoint
CREATE UNIQUE INDEX "certifications_open_key" ON "certifications" USING btree ("agent_id") WHERE "certifications"."status" in ('awaiting_payment', 'screening', 'paused_quota');--> statement-breakpoint
CREATE INDEX "certifications_paused_idx" ON "certifications" USING btree ("id") WHERE "certifications"."status" = 'paused_quota';--> statement-breakpoint
CREATE INDEX "certifications_expiry_idx" ON "certifications" USING btree ("expires_at") WHERE "certifications"."status" = 'certified';--> statement-breakpoint
CREATE INDEX "certifications_revoked_idx" ON "certifications" USING btree ("status_index") WHERE "certifications"."revoked_at" is not null;--> statement-breakpoint
CREATE INDEX "listings_active_idx" ON "listings" USING btree ("id" DESC NULLS FIRST) WHERE "listings"."is_active";--> statement-breakpoint
CREATE UNIQUE INDEX "listings_agent_key" ON "listings" USING btree ("agent_id") WHERE "listings"."is_active";--> statement-breakpoint
CREATE INDEX "listings_seller_idx" ON "listings" USING btree ("seller_id");--> statement-breakpoint
CREATE UNIQUE INDEX "purchases_checkout_key" ON "purchases" USING btree ("checkout_session_id");--> statement-breakpoint
CREATE UNIQUE INDEX "purchases_hired_key" ON "purchases" USING btree ("hired_agent_id");--> statement-breakpoint
CREATE UNIQUE INDEX "purchases_open_key" ON "purchases" USING btree ("listing_id","buyer_id") WHERE "purchases"."status" = 'AWAITING_PAYMENT';--> statement-breakpoint
CREATE INDEX "purchases_buyer_idx" ON "purchases" USING btree ("buyer_id","id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "purchases_seller_idx" ON "purchases" USING btree ("seller_id");--> statement-breakpoint
CREATE INDEX "purchases_agent_idx" ON "purchases" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "revenue_seller_idx" ON "revenue" USING btree ("seller_id");--> statement-breakpoint
CREATE UNIQUE INDEX "seller_accounts_account_key" ON "seller_accounts" USING btree ("account_id");