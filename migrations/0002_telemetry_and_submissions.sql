CREATE TABLE "readiness_checks" (
	"agent_id" uuid PRIMARY KEY NOT NULL,
	"checked_at" timestamp(3) with time zone NOT NULL,
	"ok" boolean NOT NULL,
	"latency_ms" integer,
	"failure_code" text
);
--> statement-breakpoint
CREATE TABLE "task_submissions" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"submitter_id" uuid NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"task" jsonb NOT NULL,
	"rationale" text,
	"flags" text[] DEFAULT '{}' NOT NULL,
	"rejection_reason" text,
	"task_id" uuid,
	"reviewer_id" uuid,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"reviewed_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "architecture_versions" (
	"agent_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"public_version" integer,
	"architecture_hash" text NOT NULL,
	"models" jsonb NOT NULL,
	"tools" jsonb NOT NULL,
	"edges" jsonb NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "architecture_versions_agent_id_version_pk" PRIMARY KEY("agent_id","version"),
	CONSTRAINT "architecture_versions_hash_key" UNIQUE("agent_id","architecture_hash"),
	CONSTRAINT "architecture_versions_public_key" UNIQUE("agent_id","public_version")
);
--> statement-breakpoint
CREATE TABLE "otlp_tokens" (
	"agent_id" uuid PRIMARY KEY NOT NULL,
	"token_hash" text NOT NULL,
	"prefix" text NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"last_received_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "spans" (
	"run_id" uuid NOT NULL,
	"span_id" text NOT NULL,
	"parent_span_id" text,
	"agent_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"operation" text,
	"name" text NOT NULL,
	"provider" text,
	"model" text,
	"input_tokens" integer,
	"output_tokens" integer,
	"cost_usd" double precision,
	"failed" boolean DEFAULT false NOT NULL,
	"started_at" timestamp(3) with time zone NOT NULL,
	"duration_ms" double precision NOT NULL,
	"received_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "spans_run_id_span_id_pk" PRIMARY KEY("run_id","span_id")
);
--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "manifest_checked_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "architecture_public_version" integer;--> statement-breakpoint
ALTER TABLE "readiness_checks" ADD CONSTRAINT "readiness_checks_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "task_submissions" ADD CONSTRAINT "task_submissions_submitter_id_users_id_fk" FOREIGN KEY ("submitter_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "task_submissions" ADD CONSTRAINT "task_submissions_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "task_submissions" ADD CONSTRAINT "task_submissions_reviewer_id_users_id_fk" FOREIGN KEY ("reviewer_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "architecture_versions" ADD CONSTRAINT "architecture_versions_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "otlp_tokens" ADD CONSTRAINT "otlp_tokens_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "spans" ADD CONSTRAINT "spans_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "task_submissions_queue_idx" ON "task_submissions" USING btree ("status",(cardinality("flags") > 0) desc,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "task_submissions_mine_idx" ON "task_submissions" USING btree ("submitter_id","id" DESC NULLS FIRST);--> statement-breakpoint
CREATE UNIQUE INDEX "otlp_tokens_hash_key" ON "otlp_tokens" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "spans_agent_idx" ON "spans" USING btree ("agent_id","run_id");--> statement-breakpoint
CREATE INDEX "spans_received_idx" ON "spans" USING btree ("received_at");--> statement-breakpoint
CREATE INDEX "agents_manifest_idx" ON "agents" USING btree ("manifest_checked_at" NULLS FIRST) WHERE "agents"."is_active" and "agents"."registry_status" <> 'unregistered';--> statement-breakpoint
CREATE INDEX "runs_architecture_idx" ON "runs" USING btree ("agent_id","architecture_version") WHERE "runs"."architecture_version" is not null;