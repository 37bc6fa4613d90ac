DROP INDEX "analytics_events_user_idx";--> statement-breakpoint
DROP INDEX "purchases_seller_idx";--> statement-breakpoint
DROP INDEX "revenue_seller_idx";--> statement-breakpoint
CREATE INDEX "agents_owner_id_idx" ON "agents" USING btree (coalesce("team_id", "user_id"),"id");--> statement-breakpoint
CREATE INDEX "analytics_events_user_idx" ON "analytics_events" USING btree ("user_id","id") WHERE "analytics_events"."user_id" is not null;--> statement-breakpoint
CREATE INDEX "purchases_seller_idx" ON "purchases" USING btree ("seller_id","id");--> statement-breakpoint
CREATE INDEX "revenue_seller_idx" ON "revenue" USING btree ("seller_id","purchase_id");