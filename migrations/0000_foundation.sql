CREATE TABLE "agents" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"user_id" uuid NOT NULL,
	"team_id" uuid,
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"connection_mode" text NOT NULL,
	"endpoint" text,
	"agent_protocol" text DEFAULT 'native' NOT NULL,
	"provider_url" text,
	"manifest_url" text,
	"customer_llm_provider" text,
	"daemon_last_seen_at" timestamp(3) with time zone,
	"declared_configuration" jsonb,
	"variant_of" uuid,
	"is_public" boolean DEFAULT true NOT NULL,
	"allow_trial" boolean DEFAULT false NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"verified_state" text DEFAULT 'unverified' NOT NULL,
	"registry_status" text DEFAULT 'unregistered' NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "suites" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"slug" text NOT NULL,
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"is_secret" boolean DEFAULT false NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "suites_slug_key" UNIQUE("slug")
);
--> statement-breakpoint
CREATE TABLE "tasks" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"slug" text,
	"suite_id" uuid,
	"suite_version" integer DEFAULT 1 NOT NULL,
	"position" integer DEFAULT 0 NOT NULL,
	"title" text NOT NULL,
	"domain" text NOT NULL,
	"prompt" text NOT NULL,
	"input" jsonb,
	"output_format" text NOT NULL,
	"output_schema" jsonb,
	"tools" jsonb,
	"grader" jsonb NOT NULL,
	"expected_output" jsonb,
	"pass_threshold" double precision DEFAULT 1 NOT NULL,
	"time_limit_ms" integer DEFAULT 60000 NOT NULL,
	"reference_cost_usd" double precision NOT NULL,
	"reference_latency_ms" integer NOT NULL,
	"expected_tool_calls" integer,
	"is_active" boolean DEFAULT true NOT NULL,
	"is_secret" boolean DEFAULT false NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"retired_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "allowances" (
	"kind" text NOT NULL,
	"owner" text NOT NULL,
	"period" text NOT NULL,
	"used" integer NOT NULL,
	CONSTRAINT "allowances_kind_owner_period_pk" PRIMARY KEY("kind","owner","period")
);
--> statement-breakpoint
CREATE TABLE "analytics_events" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"user_id" uuid,
	"properties" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"occurred_at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"user_id" uuid NOT NULL,
	"name" text NOT NULL,
	"prefix" text NOT NULL,
	"key_hash" text NOT NULL,
	"scope" text NOT NULL,
	"rate_limit_per_minute" integer DEFAULT 60 NOT NULL,
	"quota_per_day" integer DEFAULT 10000 NOT NULL,
	"last_used_at" timestamp(3) with time zone,
	"expires_at" timestamp(3) with time zone,
	"revoked_at" timestamp(3) with time zone,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "email_tokens" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"purpose" text NOT NULL,
	"email" text NOT NULL,
	"expires_at" timestamp(3) with time zone NOT NULL,
	"used_at" timestamp(3) with time zone,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "identities" (
	"provider" text NOT NULL,
	"provider_user_id" text NOT NULL,
	"user_id" uuid NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "identities_provider_provider_user_id_pk" PRIMARY KEY("provider","provider_user_id")
);
--> statement-breakpoint
CREATE TABLE "refresh_tokens" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"session_id" uuid NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"replaced_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"user_id" uuid NOT NULL,
	"user_agent" text,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp(3) with time zone NOT NULL,
	"revoked_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "team_members" (
	"team_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"role" text NOT NULL,
	"joined_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "team_members_team_id_user_id_pk" PRIMARY KEY("team_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "teams" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"name" text NOT NULL,
	"owner_id" uuid NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"email" text NOT NULL,
	"username" text,
	"password_hash" text,
	"email_verified" boolean DEFAULT false NOT NULL,
	"plan" text DEFAULT 'free' NOT NULL,
	"charges_enabled" boolean DEFAULT false NOT NULL,
	"payouts_enabled" boolean DEFAULT false NOT NULL,
	"deletion_scheduled_for" timestamp(3) with time zone,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"caller" text NOT NULL,
	"key" text NOT NULL,
	"fingerprint" text NOT NULL,
	"result" jsonb NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_caller_key_pk" PRIMARY KEY("caller","key")
);
--> statement-breakpoint
CREATE TABLE "outbox" (
	"consumer" text NOT NULL,
	"id" uuid NOT NULL,
	"generation" integer DEFAULT 0 NOT NULL,
	"body" jsonb NOT NULL,
	"flow_key" text,
	"not_before" timestamp(3) with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp(3) with time zone DEFAULT now() + interval '60 seconds' NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "outbox_consumer_id_pk" PRIMARY KEY("consumer","id")
);
--> statement-breakpoint
CREATE TABLE "board_entries" (
	"agent_id" uuid NOT NULL,
	"domain" text NOT NULL,
	"period" text NOT NULL,
	"tier" smallint NOT NULL,
	"composite_score" numeric(5, 2) NOT NULL,
	"score_variance" double precision NOT NULL,
	"success_rate" double precision NOT NULL,
	"reliability" double precision NOT NULL,
	"cost_efficiency" double precision NOT NULL,
	"correctness" double precision NOT NULL,
	"latency" double precision,
	"cost" double precision,
	"tool_efficiency" double precision,
	"robustness" double precision NOT NULL,
	"runs" integer NOT NULL,
	"tasks" integer NOT NULL,
	"last_run_at" timestamp(3) with time zone NOT NULL,
	"listed" boolean NOT NULL,
	"verified" boolean NOT NULL,
	CONSTRAINT "board_entries_agent_id_domain_period_pk" PRIMARY KEY("agent_id","domain","period")
);
--> statement-breakpoint
CREATE TABLE "board_totals" (
	"domain" text NOT NULL,
	"period" text NOT NULL,
	"listed" bigint NOT NULL,
	"verified" bigint NOT NULL,
	CONSTRAINT "board_totals_domain_period_pk" PRIMARY KEY("domain","period")
);
--> statement-breakpoint
CREATE TABLE "task_scores" (
	"agent_id" uuid NOT NULL,
	"task_id" uuid NOT NULL,
	"period" text NOT NULL,
	"simulated" boolean NOT NULL,
	"n" integer NOT NULL,
	"c" integer NOT NULL,
	"success" double precision NOT NULL,
	"reliability" double precision NOT NULL,
	"cost_efficiency" double precision NOT NULL,
	"correctness" double precision NOT NULL,
	"latency" double precision,
	"cost" double precision,
	"tool_efficiency" double precision,
	"robustness" double precision NOT NULL,
	"last_run_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "task_scores_agent_id_period_task_id_simulated_pk" PRIMARY KEY("agent_id","period","task_id","simulated")
);
--> statement-breakpoint
CREATE TABLE "run_evidence" (
	"run_id" uuid PRIMARY KEY NOT NULL,
	"jws" text NOT NULL,
	"kid" text NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "run_exchanges" (
	"run_id" uuid PRIMARY KEY NOT NULL,
	"request" "bytea" NOT NULL,
	"request_salt" "bytea" NOT NULL,
	"response" "bytea",
	"response_salt" "bytea",
	"answer" text
);
--> statement-breakpoint
CREATE TABLE "run_phases" (
	"run_id" uuid NOT NULL,
	"sequence" integer NOT NULL,
	"phase" text NOT NULL,
	"outcome" text NOT NULL,
	"occurred_at" timestamp(3) with time zone NOT NULL,
	"duration_ms" integer,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	CONSTRAINT "run_phases_run_id_sequence_pk" PRIMARY KEY("run_id","sequence")
);
--> statement-breakpoint
CREATE TABLE "runs" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"agent_id" uuid NOT NULL,
	"task_id" uuid NOT NULL,
	"status" text DEFAULT 'queued' NOT NULL,
	"trigger" text NOT NULL,
	"simulated" boolean DEFAULT false NOT NULL,
	"is_private" boolean DEFAULT false NOT NULL,
	"screening_session_id" uuid,
	"position" integer,
	"repeat_index" integer,
	"repeat_total" integer,
	"user_id" uuid,
	"scope" text NOT NULL,
	"team_id" uuid,
	"paid_kind" text,
	"paid_owner" text,
	"paid_period" text,
	"suite_id" uuid,
	"suite_version" integer,
	"attempt" integer DEFAULT 0 NOT NULL,
	"lease_token" uuid,
	"lease_expires_at" timestamp(3) with time zone,
	"callback_hash" text,
	"deadline_at" timestamp(3) with time zone,
	"awaiting_callback" boolean DEFAULT false NOT NULL,
	"answered_at" timestamp(3) with time zone,
	"passed" boolean,
	"correctness" double precision,
	"explanation" text,
	"latency_ms" integer,
	"axes" jsonb,
	"tool_calls_made" integer,
	"failure_code" text,
	"failure_detail" text,
	"evidence_cost_usd" numeric(18, 6),
	"evidence_cost_source" text DEFAULT 'unavailable' NOT NULL,
	"evidence_cost_partial" boolean DEFAULT false NOT NULL,
	"evidence_priced_call_count" integer DEFAULT 0 NOT NULL,
	"evidence_unpriced_call_count" integer DEFAULT 0 NOT NULL,
	"evidence_total_call_count" integer DEFAULT 0 NOT NULL,
	"total_cost_usd" numeric(18, 6),
	"serving_model" text,
	"input_tokens" bigint,
	"output_tokens" bigint,
	"architecture_version" integer,
	"evidence_signed" boolean DEFAULT false NOT NULL,
	"counted" boolean DEFAULT false NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp(3) with time zone,
	"finalized_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "screening_sessions" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"agent_id" uuid NOT NULL,
	"user_id" uuid,
	"team_id" uuid,
	"suite_id" uuid,
	"trigger" text NOT NULL,
	"task_plan" jsonb NOT NULL,
	"repeats" integer NOT NULL,
	"is_private" boolean DEFAULT false NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_variant_of_agents_id_fk" FOREIGN KEY ("variant_of") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_suite_id_suites_id_fk" FOREIGN KEY ("suite_id") REFERENCES "public"."suites"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "analytics_events" ADD CONSTRAINT "analytics_events_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "email_tokens" ADD CONSTRAINT "email_tokens_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identities" ADD CONSTRAINT "identities_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refresh_tokens" ADD CONSTRAINT "refresh_tokens_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "team_members" ADD CONSTRAINT "team_members_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "team_members" ADD CONSTRAINT "team_members_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "teams" ADD CONSTRAINT "teams_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "board_entries" ADD CONSTRAINT "board_entries_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "task_scores" ADD CONSTRAINT "task_scores_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "task_scores" ADD CONSTRAINT "task_scores_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_evidence" ADD CONSTRAINT "run_evidence_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_exchanges" ADD CONSTRAINT "run_exchanges_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_phases" ADD CONSTRAINT "run_phases_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_screening_session_id_screening_sessions_id_fk" FOREIGN KEY ("screening_session_id") REFERENCES "public"."screening_sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "screening_sessions" ADD CONSTRAINT "screening_sessions_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "screening_sessions" ADD CONSTRAINT "screening_sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "screening_sessions" ADD CONSTRAINT "screening_sessions_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "screening_sessions" ADD CONSTRAINT "screening_sessions_suite_id_suites_id_fk" FOREIGN KEY ("suite_id") REFERENCES "public"."suites"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "agents_name_key" ON "agents" USING btree (coalesce("team_id", "user_id"),lower("name")) WHERE "agents"."is_active";--> statement-breakpoint
CREATE INDEX "agents_user_idx" ON "agents" USING btree ("user_id","created_at" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "agents_team_idx" ON "agents" USING btree ("team_id") WHERE "agents"."team_id" is not null;--> statement-breakpoint
CREATE INDEX "agents_public_idx" ON "agents" USING btree ("created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE "agents"."is_public" and "agents"."is_active";--> statement-breakpoint
CREATE INDEX "agents_variant_idx" ON "agents" USING btree ("variant_of") WHERE "agents"."variant_of" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "tasks_slug_key" ON "tasks" USING btree ("slug") WHERE "tasks"."is_active";--> statement-breakpoint
CREATE INDEX "tasks_suite_idx" ON "tasks" USING btree ("suite_id","position");--> statement-breakpoint
CREATE INDEX "tasks_active_idx" ON "tasks" USING btree ("domain","created_at") WHERE "tasks"."is_active";--> statement-breakpoint
CREATE INDEX "analytics_events_name_idx" ON "analytics_events" USING btree ("name","occurred_at");--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys" USING btree ("key_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_name_key" ON "api_keys" USING btree ("user_id",lower("name")) WHERE "api_keys"."revoked_at" is null;--> statement-breakpoint
CREATE INDEX "email_tokens_user_idx" ON "email_tokens" USING btree ("user_id","purpose");--> statement-breakpoint
CREATE INDEX "identities_user_idx" ON "identities" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "refresh_tokens_session_idx" ON "refresh_tokens" USING btree ("session_id");--> statement-breakpoint
CREATE INDEX "sessions_user_idx" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_revoked_idx" ON "sessions" USING btree ("revoked_at") WHERE "sessions"."revoked_at" is not null;--> statement-breakpoint
CREATE INDEX "team_members_user_idx" ON "team_members" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "users_email_key" ON "users" USING btree ("email");--> statement-breakpoint
CREATE INDEX "users_deletion_idx" ON "users" USING btree ("deletion_scheduled_for") WHERE "users"."deletion_scheduled_for" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "users_username_key" ON "users" USING btree (lower("username"));--> statement-breakpoint
CREATE INDEX "idempotency_expiry_idx" ON "idempotency_keys" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "outbox_due_idx" ON "outbox" USING btree ("due_at");--> statement-breakpoint
CREATE INDEX "board_order_idx" ON "board_entries" USING btree ("domain","period","tier","composite_score" DESC NULLS FIRST,"runs" DESC NULLS FIRST,"agent_id") WHERE "board_entries"."listed";--> statement-breakpoint
CREATE INDEX "board_verified_idx" ON "board_entries" USING btree ("domain","period","tier","composite_score" DESC NULLS FIRST,"runs" DESC NULLS FIRST,"agent_id") WHERE "board_entries"."listed" and "board_entries"."verified";--> statement-breakpoint
CREATE INDEX "runs_agent_idx" ON "runs" USING btree ("agent_id","id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "runs_user_idx" ON "runs" USING btree ("user_id","id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "runs_session_idx" ON "runs" USING btree ("screening_session_id","position","repeat_index");--> statement-breakpoint
CREATE INDEX "runs_public_idx" ON "runs" USING btree ("id" DESC NULLS FIRST) WHERE not "runs"."is_private";--> statement-breakpoint
CREATE INDEX "runs_cell_idx" ON "runs" USING btree ("agent_id","task_id","finalized_at" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE "runs"."status" in ('completed', 'failed') and not "runs"."is_private" and "runs"."trigger" <> 'trial';--> statement-breakpoint
CREATE INDEX "runs_open_idx" ON "runs" USING btree ("lease_expires_at") WHERE "runs"."status" in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "screening_sessions_agent_idx" ON "screening_sessions" USING btree ("agent_id","created_at" DESC NULLS FIRST);