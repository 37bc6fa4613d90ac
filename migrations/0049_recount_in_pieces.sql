CREATE TABLE "board_counts" (
	"domain" text NOT NULL,
	"period" text NOT NULL,
	"grain" smallint NOT NULL,
	"place" smallint NOT NULL,
	"scores" integer NOT NULL,
	"lows" integer NOT NULL,
	"highs" integer NOT NULL,
	"verified_lows" integer NOT NULL,
	"verified_highs" integer NOT NULL,
	CONSTRAINT "board_counts_domain_period_grain_place_pk" PRIMARY KEY("domain","period","grain","place")
);
--> statement-breakpoint
CREATE TABLE "board_recounts" (
	"id" smallint PRIMARY KEY DEFAULT 1 NOT NULL,
	"counted_to" uuid NOT NULL,
	CONSTRAINT "board_recounts_single" CHECK ("board_recounts"."id" = 1)
);
--> statement-breakpoint
ALTER TABLE "board_moves" ADD COLUMN "agent_id" uuid;--> statement-breakpoint
-- As before, and says whose entry it is.
create or replace function board_move() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' and old.tier = 0 and old.listed then
    insert into board_moves (agent_id, domain, period, score, low, high, listed, verified) values (old.agent_id, old.domain,
      old.period, old.composite_score * 100, old.score_low * 100, old.score_high * 100, -1, -old.verified::integer);
  end if;
  if tg_op <> 'DELETE' and new.tier = 0 and new.listed then
    insert into board_moves (agent_id, domain, period, score, low, high, listed, verified) values (new.agent_id, new.domain,
      new.period, new.composite_score * 100, new.score_low * 100, new.score_high * 100, 1, new.verified::integer);
  end if;
  return null;
end
$$;
