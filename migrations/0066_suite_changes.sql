CREATE TABLE "suite_changes" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "suite_changes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"suite_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "suite_readings" (
	"suite_id" uuid PRIMARY KEY NOT NULL,
	"reading" uuid DEFAULT uuidv7() NOT NULL,
	"fingerprint" text NOT NULL,
	"after" uuid,
	"hash" text
);
--> statement-breakpoint
ALTER TABLE "suite_changes" ADD CONSTRAINT "suite_changes_suite_id_suites_id_fk" FOREIGN KEY ("suite_id") REFERENCES "public"."suites"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "suite_readings" ADD CONSTRAINT "suite_readings_suite_id_suites_id_fk" FOREIGN KEY ("suite_id") REFERENCES "public"."suites"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- The suites whose tasks a statement added, changed or took away.
create function note_suite_changes() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    insert into suite_changes (suite_id) select suite_id from tasks_before where suite_id is not null
      union select suite_id from tasks_after where suite_id is not null;
  else
    insert into suite_changes (suite_id) select distinct suite_id from tasks_after where suite_id is not null;
  end if;
  return null;
end
$$;--> statement-breakpoint
create trigger suite_changed_by_insert after insert on tasks referencing new table as tasks_after
  for each statement execute function note_suite_changes();--> statement-breakpoint
create trigger suite_changed_by_update after update on tasks
  referencing old table as tasks_before new table as tasks_after
  for each statement execute function note_suite_changes();--> statement-breakpoint
create trigger suite_changed_by_delete after delete on tasks referencing old table as tasks_after
  for each statement execute function note_suite_changes();--> statement-breakpoint
create function note_suite_version() returns trigger language plpgsql as $$
begin
  insert into suite_changes (suite_id) values (new.id);
  return null;
end
$$;--> statement-breakpoint
create trigger suite_version_changed after update of version on suites
  for each row execute function note_suite_version();
