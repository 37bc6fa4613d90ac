ALTER TABLE "run_evidence" ALTER COLUMN "created_at" SET DEFAULT clock_timestamp();--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "last_public_at" timestamp(3) with time zone;--> statement-breakpoint
-- Whoever hides an agent waits for its row before this runs: what was signed under the row's lock came before.
create function agent_hidden() returns trigger language plpgsql as $$
begin
  new.last_public_at := clock_timestamp();
  return new;
end
$$;
--> statement-breakpoint
create trigger agent_hidden before update of is_public on agents
  for each row when (old.is_public and not new.is_public) execute function agent_hidden();
