-- As before, and one transaction at a time: an entry's row decides which total is changed next, and a transaction may have
-- several statements that change some, so that two of them would wait for each other in a circle. Nearly all change those of
-- the board of everything, and so waited for one another at these rows before.
create or replace function board_count() returns trigger language plpgsql as $$
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
    perform pg_advisory_xact_lock(hashtextextended('board totals', 0));
    insert into board_totals as t (domain, period, listed, verified)
    values (coalesce(new.domain, old.domain), coalesce(new.period, old.period), d_listed, d_verified)
    on conflict (domain, period) do update
      set listed = t.listed + excluded.listed, verified = t.verified + excluded.verified;
  end if;
  return null;
end
$$;
