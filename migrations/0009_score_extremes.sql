ALTER TABLE "board_entries" ADD COLUMN "score_lowest" double precision DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "board_entries" ADD COLUMN "score_highest" double precision DEFAULT 1 NOT NULL;--> statement-breakpoint
-- A UUIDv7 (RFC 9562) of a time that the caller gives: ids of rows that come to be by the Worker's clock have the order of
-- their times. Up to 24 bits of `ordinal` order those of one statement (section 6.2, method 1); 48 bits are random.
create function uuidv7_at(at timestamptz, ordinal bigint) returns uuid language sql volatile parallel safe as $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0')
    || '7' || lpad(to_hex((ordinal >> 12) & 4095), 3, '0') || '8' || lpad(to_hex(ordinal & 4095), 3, '0')
    || right(gen_random_uuid()::text, 12))::uuid
$$;
--> statement-breakpoint
-- Runs of before took their ids from the database's clock; listed by those, their times come in the same order now.
update runs set created_at = date_trunc('milliseconds', uuid_extract_timestamp(id))
where uuid_extract_version(id) = 7 and created_at <> date_trunc('milliseconds', uuid_extract_timestamp(id));
