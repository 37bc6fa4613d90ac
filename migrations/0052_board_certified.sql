ALTER TABLE "board_entries" ADD COLUMN "certified" boolean DEFAULT false NOT NULL;--> statement-breakpoint
update board_entries e set certified = true from agents a where a.id = e.agent_id and a.verified_state = 'certified';
--> statement-breakpoint
DROP INDEX "agents_certified_idx";--> statement-breakpoint
CREATE INDEX "board_certified_idx" ON "board_entries" USING btree ("domain","period","tier","composite_score" DESC NULLS FIRST,"runs" DESC NULLS FIRST,"agent_id") WHERE "board_entries"."listed" and "board_entries"."certified";--> statement-breakpoint
create or replace function board_follow_agent() returns trigger language plpgsql as $$
begin
  update board_entries
     set listed = new.is_public and new.is_active, verified = new.verified_state <> 'unverified',
       certified = new.verified_state = 'certified'
   where agent_id = new.id;
  return null;
end
$$;
