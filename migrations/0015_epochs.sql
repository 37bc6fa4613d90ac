CREATE TABLE "epochs" (
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"starts_at" timestamp(3) with time zone NOT NULL,
	"ends_at" timestamp(3) with time zone NOT NULL,
	"sealed" text NOT NULL,
	"commitment" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"committed_at" timestamp(3) with time zone,
	"log_index" bigint,
	"is_timely" boolean,
	"secret" text,
	"revealed_at" timestamp(3) with time zone,
	CONSTRAINT "epochs_kind_name_pk" PRIMARY KEY("kind","name"),
	CONSTRAINT "epochs_committed" CHECK (num_nulls("epochs"."committed_at", "epochs"."log_index", "epochs"."is_timely") in (0, 3)),
	CONSTRAINT "epochs_revealed" CHECK (("epochs"."secret" is null) = ("epochs"."revealed_at" is null)),
	CONSTRAINT "epochs_sealed_stay" CHECK ("epochs"."kind" = 'open' or "epochs"."secret" is null),
	CONSTRAINT "epochs_revealed_is_committed" CHECK ("epochs"."secret" is null or "epochs"."log_index" is not null)
);
--> statement-breakpoint
CREATE INDEX "epochs_start_idx" ON "epochs" USING btree ("kind","starts_at" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "epochs_waiting_idx" ON "epochs" USING btree ("starts_at") WHERE "epochs"."log_index" is null;--> statement-breakpoint
CREATE INDEX "epochs_unrevealed_idx" ON "epochs" USING btree ("ends_at") WHERE "epochs"."kind" = 'open' and "epochs"."revealed_at" is null;