CREATE TABLE "memorisation_gaps" (
	"agent_id" uuid PRIMARY KEY NOT NULL,
	"gap" double precision NOT NULL,
	"variance" double precision NOT NULL,
	"lowest" double precision NOT NULL,
	"highest" double precision NOT NULL,
	"tasks" integer NOT NULL,
	"canary_runs" integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE "memorisation_gaps" ADD CONSTRAINT "memorisation_gaps_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;