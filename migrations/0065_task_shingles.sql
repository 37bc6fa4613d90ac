-- Each different run of five words of a text, case, form and punctuation aside; a shorter text is one run. None for a text
-- without words. What is stored is made of it: a change of it needs the column made anew.
create function shingles(p_text text) returns setof text language sql immutable strict parallel safe as $$
  select distinct run from (
    select place, count(*) over () as words,
      string_agg(word, ' ') over (order by place rows between current row and 4 following) as run
    from regexp_split_to_table(lower(normalize(p_text, nfkc) collate "pg_c_utf8"), '[^[:alnum:]]+')
      with ordinality as w(word, place)
    where word <> ''
  ) runs where place <= greatest(words - 4, 1)
$$;--> statement-breakpoint
create function shingle_hash(p_shingle text) returns integer language sql immutable strict parallel safe as $$
  select ('x' || left(md5(p_shingle), 8))::bit(32)::integer
$$;--> statement-breakpoint
create function shingle_hashes(p_text text) returns integer[] language sql immutable strict parallel safe as $$
  select array(select public.shingle_hash(s) from public.shingles(p_text) s)
$$;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "shingles" integer[] GENERATED ALWAYS AS (case when is_active and not is_secret then shingle_hashes(prompt) end) STORED;--> statement-breakpoint
CREATE INDEX "tasks_shingles_idx" ON "tasks" USING gin ("shingles") WITH (fastupdate=false) WHERE "tasks"."shingles" is not null;
