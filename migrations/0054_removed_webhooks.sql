CREATE TABLE "removed_webhooks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"removed_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "webhook_deliveries" DROP CONSTRAINT "webhook_deliveries_webhook_id_webhooks_id_fk";--> statement-breakpoint
create function note_removed_webhooks() returns trigger language plpgsql as $$
begin
  insert into removed_webhooks (id) select id from deleted on conflict do nothing;
  return null;
end
$$;
--> statement-breakpoint
create trigger webhooks_removed after delete on webhooks referencing old table as deleted
  for each statement execute function note_removed_webhooks();
