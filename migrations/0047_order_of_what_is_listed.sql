ALTER TABLE "task_submissions" ALTER COLUMN "id" SET DEFAULT uuidv7_at(now()::timestamptz(3), 1);--> statement-breakpoint
ALTER TABLE "listings" ALTER COLUMN "id" SET DEFAULT uuidv7_at(now()::timestamptz(3), 1);--> statement-breakpoint
ALTER TABLE "purchases" ALTER COLUMN "id" SET DEFAULT uuidv7_at(now()::timestamptz(3), 1);--> statement-breakpoint
ALTER TABLE "screening_schedules" ALTER COLUMN "id" SET DEFAULT uuidv7_at(now()::timestamptz(3), 1);--> statement-breakpoint
ALTER TABLE "webhooks" ALTER COLUMN "id" SET DEFAULT uuidv7_at(now()::timestamptz(3), 1);--> statement-breakpoint
-- Rows of before are listed by their ids; their times come in the same order now.
update task_submissions set created_at = date_trunc('milliseconds', uuid_extract_timestamp(id))
where uuid_extract_version(id) = 7 and created_at <> date_trunc('milliseconds', uuid_extract_timestamp(id));--> statement-breakpoint
update listings set created_at = date_trunc('milliseconds', uuid_extract_timestamp(id))
where uuid_extract_version(id) = 7 and created_at <> date_trunc('milliseconds', uuid_extract_timestamp(id));--> statement-breakpoint
update purchases set created_at = date_trunc('milliseconds', uuid_extract_timestamp(id))
where uuid_extract_version(id) = 7 and created_at <> date_trunc('milliseconds', uuid_extract_timestamp(id));--> statement-breakpoint
update screening_schedules set created_at = date_trunc('milliseconds', uuid_extract_timestamp(id))
where uuid_extract_version(id) = 7 and created_at <> date_trunc('milliseconds', uuid_extract_timestamp(id));--> statement-breakpoint
update webhooks set created_at = date_trunc('milliseconds', uuid_extract_timestamp(id))
where uuid_extract_version(id) = 7 and created_at <> date_trunc('milliseconds', uuid_extract_timestamp(id));