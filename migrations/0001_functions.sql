-- Refuses a second request with the same Idempotency-Key: at once while the first still runs, and after it ended.
create function idempotency_claim(p_caller text, p_key text) returns void language plpgsql as $$
begin
  if not pg_try_advisory_xact_lock(hashtextextended(p_caller || chr(10) || p_key, 0)) then
    raise exception 'idempotency key is in use' using errcode = 'ID001';
  end if;
  delete from idempotency_keys where caller = p_caller and key = p_key and expires_at <= now();
  if exists (select from idempotency_keys where caller = p_caller and key = p_key) then
    raise exception 'idempotency key was used' using errcode = 'ID002';
  end if;
end
$$;
--> statement-breakpoint
-- The board's index needs the agent's state beside its scores.
create function board_follow_agent() returns trigger language plpgsql as $$
begin
  update board_entries
     set listed = new.is_public and new.is_active, verified = new.verified_state <> 'unverified'
   where agent_id = new.id;
  return null;
end
$$;
--> statement-breakpoint
create trigger board_follow_agent after update of is_public, is_active, verified_state on agents
  for each row when (
    old.is_public is distinct from new.is_public
    or old.is_active is distinct from new.is_active
    or old.verified_state is distinct from new.verified_state
  ) execute function board_follow_agent();
--> statement-breakpoint
-- Board totals follow every change of the entries, so that a page needs no count.
create function board_count() returns trigger language plpgsql as $$
declare
  d_listed integer := 0;
  d_verified integer := 0;
begin
  if tg_op <> 'INSERT' then
    d_listed := d_listed - old.listed::integer;
    d_verified := d_verified - (old.listed and old.verified)::integer;
  end if;
  if tg_op <> 'DELETE' then
    d_listed := d_listed + new.listed::integer;
    d_verified := d_verified + (new.listed and new.verified)::integer;
  end if;
  if d_listed <> 0 or d_verified <> 0 then
    insert into board_totals as t (domain, period, listed, verified)
    values (coalesce(new.domain, old.domain), coalesce(new.period, old.period), d_listed, d_verified)
    on conflict (domain, period) do update
      set listed = t.listed + excluded.listed, verified = t.verified + excluded.verified;
  end if;
  return null;
end
$$;
--> statement-breakpoint
create trigger board_count after insert or delete or update of listed, verified on board_entries
  for each row execute function board_count();
