-- Searches by name.
create extension if not exists pg_trgm;--> statement-breakpoint
CREATE INDEX "agents_trigram_idx" ON "agents" USING gin (lower("name") gin_trgm_ops) WITH (fastupdate=false);--> statement-breakpoint
CREATE INDEX "agents_prefix_idx" ON "agents" USING btree (lower("name") collate "C");--> statement-breakpoint
CREATE INDEX "board_unverified_idx" ON "board_entries" USING btree ("domain","period","composite_score") WHERE "board_entries"."listed" and not "board_entries"."verified" and "board_entries"."tier" = 0;--> statement-breakpoint
CREATE INDEX "listings_trigram_idx" ON "listings" USING gin (lower("title") gin_trgm_ops) WITH (fastupdate=false) WHERE "listings"."is_active";--> statement-breakpoint
CREATE INDEX "listings_prefix_idx" ON "listings" USING btree (lower("title") collate "C") WHERE "listings"."is_active";