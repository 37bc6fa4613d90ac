-- A count by place, in hundredths of a point: `beyond[n]` is the count of all from `places[n]` on; places ascend.
create type board_steps as (places integer[], beyond bigint[]);
--> statement-breakpoint
create type board_shift as (scores board_steps, lows board_steps, highs board_steps);
--> statement-breakpoint
-- What moved on a board since it was folded, of verified agents alone where `p_verified`. A statement asks for it once, for all
-- its rows: tens of thousands of moves may stand there. Most take back what an earlier one did, and so fall out at once.
create function board_shift(p_domain text, p_period text, p_verified boolean) returns board_shift
language plpgsql stable strict parallel safe as $$
begin
  return (with moved as materialized (
    select m.score, m.low, m.high, sum(case when p_verified then m.verified else m.listed end) as n
    from board_moves m where m.domain = p_domain and m.period = p_period group by m.score, m.low, m.high
    having sum(case when p_verified then m.verified else m.listed end) <> 0
  ), steps as (
    select x.kind, row(array_agg(x.place order by x.place), array_agg(x.beyond order by x.place))::board_steps as counts
    from (
      select k.kind, k.place, sum(sum(m.n)) over (partition by k.kind order by k.place desc)::bigint as beyond
      from moved m cross join lateral (values ('score', m.score::integer), ('low', m.low), ('high', m.high)) k (kind, place)
      group by k.kind, k.place
    ) x group by x.kind
  )
  select row(
    (select s.counts from steps s where s.kind = 'score'),
    (select s.counts from steps s where s.kind = 'low'),
    (select s.counts from steps s where s.kind = 'high')
  )::board_shift);
end
$$;
--> statement-breakpoint
-- The count of all from the place `p_least` on.
create function steps_from(p_steps board_steps, p_least integer) returns bigint language sql immutable parallel safe
return coalesce((p_steps).beyond[width_bucket(p_least - 1, (p_steps).places) + 1], 0);
--> statement-breakpoint
-- The first and the last place on a board that an interval does not rule out: behind the ranked agents whose interval lies
-- wholly above, and before those whose interval lies wholly below. Of verified agents alone where `p_verified`, as the shift.
create function board_range(p_domain text, p_period text, p_verified boolean, p_low numeric, p_high numeric,
  p_shift board_shift, out rank_low bigint, out rank_high bigint) language plpgsql stable strict parallel safe as $$
declare
  v_low integer := p_low * 100;
  v_high integer := p_high * 100;
begin
  select 1 + steps_from(p_shift.lows, v_high + 1) + coalesce(sum(case when p_verified then s.verified_lows else s.lows end), 0)
  into rank_low
  from board_above(v_high + 1) g join board_spread s on s.domain = p_domain and s.period = p_period
    and s.grain = g.grain and s.place between g.first and g.last;
  select steps_from(p_shift.highs, v_low) + coalesce(sum(case when p_verified then s.verified_highs else s.highs end), 0)
  into rank_high
  from board_above(v_low) g join board_spread s on s.domain = p_domain and s.period = p_period
    and s.grain = g.grain and s.place between g.first and g.last;
end
$$;
--> statement-breakpoint
-- The place of a ranked entry: behind those of a higher score, and of those of the same behind more runs and smaller ids.
create function board_rank(p_domain text, p_period text, p_score numeric, p_runs integer, p_agent uuid, p_shift board_shift)
returns bigint language plpgsql stable strict parallel safe as $$
declare
  v_score integer := p_score * 100;
begin
  return 1 + steps_from(p_shift.scores, v_score + 1)
    + (select coalesce(sum(s.scores), 0) from board_above(v_score + 1) g join board_spread s on s.domain = p_domain
      and s.period = p_period and s.grain = g.grain and s.place between g.first and g.last)
    + (select count(*) from board_entries b
      where b.domain = p_domain and b.period = p_period and b.listed and b.tier = 0 and b.composite_score = p_score
        and (b.runs > p_runs or (b.runs = p_runs and b.agent_id < p_agent)));
end
$$;
--> statement-breakpoint
-- As above, for a Worker of before, which asks anew for each row.
create or replace function board_range(p_domain text, p_period text, p_verified boolean, p_low numeric, p_high numeric,
  out rank_low bigint, out rank_high bigint) language sql stable strict parallel safe as $$
  select * from board_range(p_domain, p_period, p_verified, p_low, p_high, board_shift(p_domain, p_period, p_verified))
$$;
--> statement-breakpoint
create or replace function board_rank(p_domain text, p_period text, p_score numeric, p_runs integer, p_agent uuid)
returns bigint language sql stable strict parallel safe as $$
  select board_rank(p_domain, p_period, p_score, p_runs, p_agent, board_shift(p_domain, p_period, false))
$$;
