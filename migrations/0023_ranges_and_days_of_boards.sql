CREATE TABLE "board_days" (
	"day" date PRIMARY KEY NOT NULL,
	"closed_at" timestamp(3) with time zone,
	"sha256" text,
	"published_at" timestamp(3) with time zone,
	CONSTRAINT "board_days_published" CHECK (num_nulls("board_days"."sha256", "board_days"."published_at") in (0, 2) and ("board_days"."sha256" is null or "board_days"."closed_at" is not null))
);
--> statement-breakpoint
CREATE TABLE "board_moves" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "board_moves_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"domain" text NOT NULL,
	"period" text NOT NULL,
	"score" smallint NOT NULL,
	"low" smallint NOT NULL,
	"high" smallint NOT NULL,
	"listed" smallint NOT NULL,
	"verified" smallint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "board_pages" (
	"day" date NOT NULL,
	"page" integer NOT NULL,
	"entries" integer NOT NULL,
	"body" text NOT NULL,
	CONSTRAINT "board_pages_day_page_pk" PRIMARY KEY("day","page")
);
--> statement-breakpoint
CREATE TABLE "board_scores" (
	"agent_id" uuid NOT NULL,
	"day" date NOT NULL,
	"tier" smallint NOT NULL,
	"composite_score" numeric(5, 2) NOT NULL,
	"score_low" numeric(5, 2) NOT NULL,
	"score_high" numeric(5, 2) NOT NULL,
	"runs" integer NOT NULL,
	"tasks" integer NOT NULL,
	"is_ranked" boolean NOT NULL,
	"rank" integer,
	CONSTRAINT "board_scores_agent_id_day_pk" PRIMARY KEY("agent_id","day")
);
--> statement-breakpoint
CREATE TABLE "board_spread" (
	"domain" text NOT NULL,
	"period" text NOT NULL,
	"grain" smallint NOT NULL,
	"place" smallint NOT NULL,
	"scores" integer NOT NULL,
	"lows" integer NOT NULL,
	"highs" integer NOT NULL,
	"verified_lows" integer NOT NULL,
	"verified_highs" integer NOT NULL,
	CONSTRAINT "board_spread_domain_period_grain_place_pk" PRIMARY KEY("domain","period","grain","place")
);
--> statement-breakpoint
CREATE TABLE "suite_records" (
	"suite_id" uuid PRIMARY KEY NOT NULL,
	"suite_version" integer NOT NULL,
	"fingerprint" text NOT NULL,
	"sha256" text NOT NULL,
	"recorded_at" timestamp(3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "board_entries" ADD COLUMN "score_low" numeric(5, 2) DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "board_entries" ADD COLUMN "score_high" numeric(5, 2) DEFAULT 100 NOT NULL;--> statement-breakpoint
ALTER TABLE "board_pages" ADD CONSTRAINT "board_pages_day_board_days_day_fk" FOREIGN KEY ("day") REFERENCES "public"."board_days"("day") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "board_scores" ADD CONSTRAINT "board_scores_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "board_scores" ADD CONSTRAINT "board_scores_day_board_days_day_fk" FOREIGN KEY ("day") REFERENCES "public"."board_days"("day") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "suite_records" ADD CONSTRAINT "suite_records_suite_id_suites_id_fk" FOREIGN KEY ("suite_id") REFERENCES "public"."suites"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "board_moves_board_idx" ON "board_moves" USING btree ("domain","period");--> statement-breakpoint
CREATE INDEX "board_scores_unranked_idx" ON "board_scores" USING btree ("day","composite_score" DESC NULLS FIRST,"runs" DESC NULLS FIRST,"agent_id") WHERE "board_scores"."is_ranked" and "board_scores"."rank" is null;
--> statement-breakpoint
-- The regularised incomplete beta function, as `betaMass` of shared/scoring/beta.ts has it.
create function beta_mass(x double precision, a double precision, b double precision) returns double precision
language plpgsql immutable strict parallel safe as $$
declare
  front double precision;
  c double precision := 1;
  d double precision;
  fraction double precision;
  even double precision;
  odd double precision;
begin
  if x <= 0 then return 0; end if;
  if x >= 1 then return 1; end if;
  if x > (a + 1) / (a + b + 2) then return 1 - beta_mass(1 - x, b, a); end if;
  front := a * ln(x) + b * ln(1 - x) + lgamma(a + b) - lgamma(a) - lgamma(b);
  -- Smaller powers are refused as an underflow.
  if front < -700 then return 0; end if;
  d := 1 / (1 - (a + b) * x / (a + 1));
  fraction := d;
  for m in 1..9999 loop
    even := m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d := 1 / (1 + even * d);
    c := 1 + even / c;
    fraction := fraction * c * d;
    odd := -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d := 1 / (1 + odd * d);
    c := 1 + odd / c;
    fraction := fraction * c * d;
    exit when abs(c * d - 1) < 1e-12;
  end loop;
  return exp(front) * fraction / a;
end
$$;
--> statement-breakpoint
-- The lower end of the 95% interval of a mean, 0 to 1, as `lowerEnd` of shared/scoring/interval.ts has it.
create function lower_end(mean double precision, variance double precision, tasks integer, highest double precision)
returns double precision language plpgsql immutable strict parallel safe as $$
declare
  alike boolean := variance < 1e-12;
  center double precision;
  total double precision;
  expected double precision;
  beyond double precision;
  size double precision;
  a double precision;
  b double precision;
  x double precision;
  low double precision := 0;
  high double precision := 1;
  excess double precision;
  slope double precision;
  next double precision;
begin
  if highest <= 0 or mean <= 0 then return 0; end if;
  center := mean / highest;
  total := tasks + case when alike then 0.25 when mean >= 1 then 0.3
    else 0.1 + 0.2 * least(1, variance / (mean * (1 - mean))) end;
  expected := tasks * center / total;
  beyond := (tasks * center * center + case when alike then 0 else (tasks - 1) * (variance / (highest * highest)) end)
    / total - expected * expected;
  if beyond <= 0 then return 0; end if;
  size := expected * (1 - expected) * (total + 1) / beyond - 1;
  if size <= 0 then return 0; end if;
  a := expected * size;
  b := (1 - expected) * size;
  x := expected;
  for step in 1..200 loop
    exit when high - low <= 1e-12;
    excess := beta_mass(x, a, b) - 0.025;
    if excess > 0 then high := x; else low := x; end if;
    slope := (a - 1) * ln(x) + (b - 1) * ln(1 - x) - lgamma(a) - lgamma(b) + lgamma(a + b);
    next := case when slope between -600 and 600 then x - excess / exp(slope) end;
    if next is null or next <= low or next >= high then next := (low + high) / 2; end if;
    if abs(next - x) < 1e-12 then x := next; exit; end if;
    x := next;
  end loop;
  return highest * x;
end
$$;
--> statement-breakpoint
-- The 95% interval of a composite score, 0 to 100, as `scoreInterval` of shared/scoring/interval.ts has it.
create function score_interval(composite_score double precision, score_variance double precision, score_lowest double precision,
  score_highest double precision, tasks integer, out low numeric, out high numeric)
language plpgsql immutable strict parallel safe as $$
declare
  mean double precision := composite_score / 100;
begin
  if tasks < 2 then
    low := 0;
    high := 100;
    return;
  end if;
  low := floor(least(lower_end(mean, score_variance, tasks, greatest(score_highest, mean)), mean) * 10000 + 1e-7 + 0.5) / 100;
  high := floor(greatest(1 - lower_end(1 - mean, score_variance, tasks, 1 - least(score_lowest, mean)), mean) * 10000
    + 1e-7 + 0.5) / 100;
end
$$;
--> statement-breakpoint
update board_entries b set score_low = i.low, score_high = i.high
from board_entries e cross join score_interval(e.composite_score, e.score_variance, e.score_lowest, e.score_highest, e.tasks) i
where (e.agent_id, e.domain, e.period) = (b.agent_id, b.domain, b.period);
--> statement-breakpoint
insert into board_spread
  select e.domain, e.period, g.grain, x.at / g.grain, sum(x.score), sum(x.low), sum(x.high),
    sum(x.low * e.verified::integer), sum(x.high * e.verified::integer)
  from board_entries e cross join (values (1), (20), (400)) g (grain) cross join lateral (values
    ((e.composite_score * 100)::integer, 1, 0, 0), ((e.score_low * 100)::integer, 0, 1, 0),
    ((e.score_high * 100)::integer, 0, 0, 1)) x (at, score, low, high)
  where e.tier = 0 and e.listed group by e.domain, e.period, g.grain, x.at / g.grain;
--> statement-breakpoint
-- What follows an entry's coming, going and moving among the ranked ones. Appended: no writer waits for another.
create function board_move() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' and old.tier = 0 and old.listed then
    insert into board_moves (domain, period, score, low, high, listed, verified) values (old.domain, old.period,
      old.composite_score * 100, old.score_low * 100, old.score_high * 100, -1, -old.verified::integer);
  end if;
  if tg_op <> 'DELETE' and new.tier = 0 and new.listed then
    insert into board_moves (domain, period, score, low, high, listed, verified) values (new.domain, new.period,
      new.composite_score * 100, new.score_low * 100, new.score_high * 100, 1, new.verified::integer);
  end if;
  return null;
end
$$;
--> statement-breakpoint
create trigger board_came after insert on board_entries
  for each row when (new.tier = 0 and new.listed) execute function board_move();
--> statement-breakpoint
create trigger board_went after delete on board_entries
  for each row when (old.tier = 0 and old.listed) execute function board_move();
--> statement-breakpoint
create trigger board_moved after update on board_entries
  for each row when (
    (old.tier, old.composite_score, old.score_low, old.score_high, old.listed, old.verified)
      is distinct from (new.tier, new.composite_score, new.score_low, new.score_high, new.listed, new.verified)
  ) execute function board_move();
--> statement-breakpoint
-- The places, grain by grain, that together are all from `p_least` hundredths of a point on, up to 100 points.
create function board_above(p_least integer) returns table (grain integer, first integer, last integer)
language sql immutable parallel safe as $$
  values (1, p_least, (p_least - 1) / 20 * 20 + 19), (20, (p_least - 1) / 20 + 1, (p_least - 1) / 400 * 20 + 19),
    (400, (p_least - 1) / 400 + 1, 25)
$$;
--> statement-breakpoint
-- The first and the last place on a board that an interval does not rule out: behind the ranked agents whose interval lies
-- wholly above, and before those whose interval lies wholly below. Of verified agents alone where `p_verified`.
create function board_range(p_domain text, p_period text, p_verified boolean, p_low numeric, p_high numeric,
  out rank_low bigint, out rank_high bigint) language plpgsql stable strict parallel safe as $$
declare
  v_low integer := p_low * 100;
  v_high integer := p_high * 100;
begin
  select 1 + coalesce(sum(case when p_verified then s.verified_lows else s.lows end), 0) into rank_low
  from board_above(v_high + 1) g join board_spread s on s.domain = p_domain and s.period = p_period
    and s.grain = g.grain and s.place between g.first and g.last;
  select coalesce(sum(case when p_verified then s.verified_highs else s.highs end), 0) into rank_high
  from board_above(v_low) g join board_spread s on s.domain = p_domain and s.period = p_period
    and s.grain = g.grain and s.place between g.first and g.last;
  select rank_low + coalesce(sum(x.n) filter (where x.low > v_high), 0),
    rank_high + coalesce(sum(x.n) filter (where x.high >= v_low), 0)
  into rank_low, rank_high
  from (select m.low, m.high, case when p_verified then m.verified else m.listed end as n
    from board_moves m where m.domain = p_domain and m.period = p_period) x;
end
$$;
--> statement-breakpoint
-- The place of a ranked entry: behind those of a higher score, and of those of the same behind more runs and smaller ids.
create function board_rank(p_domain text, p_period text, p_score numeric, p_runs integer, p_agent uuid) returns bigint
language plpgsql stable strict parallel safe as $$
declare
  v_score integer := p_score * 100;
begin
  return 1
    + (select coalesce(sum(s.scores), 0) from board_above(v_score + 1) g join board_spread s on s.domain = p_domain
      and s.period = p_period and s.grain = g.grain and s.place between g.first and g.last)
    + (select coalesce(sum(m.listed), 0) from board_moves m
      where m.domain = p_domain and m.period = p_period and m.score > v_score)
    + (select count(*) from board_entries b
      where b.domain = p_domain and b.period = p_period and b.listed and b.tier = 0 and b.composite_score = p_score
        and (b.runs > p_runs or (b.runs = p_runs and b.agent_id < p_agent)));
end
$$;
