CREATE TABLE "log_checkpoints" (
	"size" bigint PRIMARY KEY NOT NULL,
	"previous_size" bigint,
	"root" "bytea" NOT NULL,
	"edge" "bytea" NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "log_checkpoints_previous_key" UNIQUE NULLS NOT DISTINCT("previous_size"),
	CONSTRAINT "log_checkpoints_growth" CHECK ("log_checkpoints"."size" > coalesce("log_checkpoints"."previous_size", 0)),
	CONSTRAINT "log_checkpoints_root" CHECK (octet_length("log_checkpoints"."root") = 32)
);
--> statement-breakpoint
CREATE TABLE "log_entries" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "log_entries_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"position" bigint,
	"entry" "bytea" NOT NULL,
	"leaf_hash" "bytea" GENERATED ALWAYS AS (sha256('\x00'::bytea || entry)) STORED NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "log_entries_length" CHECK (octet_length("log_entries"."entry") between 1 and 65535)
);
--> statement-breakpoint
CREATE TABLE "log_tiles" (
	"level" integer NOT NULL,
	"position" bigint NOT NULL,
	"hashes" "bytea" NOT NULL,
	CONSTRAINT "log_tiles_level_position_pk" PRIMARY KEY("level","position"),
	CONSTRAINT "log_tiles_length" CHECK (octet_length("log_tiles"."hashes") between 32 and 8192 and octet_length("log_tiles"."hashes") % 32 = 0)
);
--> statement-breakpoint
ALTER TABLE "log_checkpoints" ADD CONSTRAINT "log_checkpoints_previous_size_log_checkpoints_size_fk" FOREIGN KEY ("previous_size") REFERENCES "public"."log_checkpoints"("size") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "log_entries_leaf_key" ON "log_entries" USING btree ("leaf_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "log_entries_position_key" ON "log_entries" USING btree ("position");--> statement-breakpoint
CREATE INDEX "log_entries_waiting_idx" ON "log_entries" USING btree ("id") WHERE "log_entries"."position" is null;--> statement-breakpoint
-- What the log has said stays: an entry gets its place once, and nothing else of it ever changes.
create function log_entries_stay() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.position is null and new.position is not null
    and new.id = old.id and new.entry = old.entry and new.created_at = old.created_at then
    return new;
  end if;
  raise exception 'an entry of the log can be neither changed nor deleted' using errcode = 'LG001';
end
$$;
--> statement-breakpoint
create trigger log_entries_stay before update or delete on log_entries
  for each row execute function log_entries_stay();
--> statement-breakpoint
-- A tile only grows at its end. Its length is bounded, so that a full one can't change any more.
create function log_tiles_grow() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.level = old.level and new.position = old.position
    and octet_length(new.hashes) > octet_length(old.hashes)
    and substring(new.hashes for octet_length(old.hashes)) = old.hashes then
    return new;
  end if;
  raise exception 'a tile of the log can only grow' using errcode = 'LG001';
end
$$;
--> statement-breakpoint
create trigger log_tiles_grow before update or delete on log_tiles
  for each row execute function log_tiles_grow();
--> statement-breakpoint
create function log_stays() returns trigger language plpgsql as $$
begin
  raise exception 'the log can be neither changed nor deleted' using errcode = 'LG001';
end
$$;
--> statement-breakpoint
create trigger log_checkpoints_stay before update or delete on log_checkpoints
  for each row execute function log_stays();
--> statement-breakpoint
create trigger log_entries_not_emptied before truncate on log_entries
  for each statement execute function log_stays();
--> statement-breakpoint
create trigger log_tiles_not_emptied before truncate on log_tiles
  for each statement execute function log_stays();
--> statement-breakpoint
create trigger log_checkpoints_not_emptied before truncate on log_checkpoints
  for each statement execute function log_stays();
--> statement-breakpoint
-- Certifications end in many ways; whichever it was, the log says so. Text of JSON by hand: keys in order, no space.
create function certifications_logged() returns trigger language plpgsql as $$
begin
  if old.jws is null and new.jws is not null then
    insert into log_entries (entry) values (convert_to(
      '{"kind":"credential","sha256":"' || encode(sha256(convert_to(new.jws, 'UTF8')), 'hex') || '"}', 'UTF8'
    )) on conflict (leaf_hash) do nothing;
  end if;
  if old.revoked_at is null and new.revoked_at is not null then
    insert into log_entries (entry) values (convert_to(
      '{"credential":"' || new.id || '","kind":"revoked"}', 'UTF8'
    )) on conflict (leaf_hash) do nothing;
  end if;
  return null;
end
$$;
--> statement-breakpoint
create trigger certifications_logged after update of jws, revoked_at on certifications
  for each row execute function certifications_logged();
