DROP INDEX "webhook_events_created_idx";--> statement-breakpoint
CREATE INDEX "allowances_period_idx" ON "allowances" USING btree ("kind","period");--> statement-breakpoint
CREATE INDEX "removed_webhooks_removed_idx" ON "removed_webhooks" USING btree ("removed_at");