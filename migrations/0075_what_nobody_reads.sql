DROP INDEX "analytics_events_name_idx";
--> statement-breakpoint
-- What sellers had declared goes with their accounts now: here is what stayed of those that were deleted before.
update purchases set declared_configuration = null
  where seller_id is null and declared_configuration is not null and status <> 'AWAITING_PAYMENT';
