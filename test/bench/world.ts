import { inBulk } from "../stack/bulk.ts";

/** Runs SQL on the database beside the service; several statements in one text share a transaction. */
export type Sql = (text: string) => Promise<unknown>;

/** Whose lists are looked at. */
export interface Viewers {
  /** Has ten agents, the last three in a workspace, and half of all runs, sessions and deliveries; all of them of `agent`. */
  owner: string;
  agent: string;
  team: string;
  webhook: string;
  /** Has all other agents and runs, and subscriptions and schedules that rest. */
  other: string;
}

/** What the board's triggers and the minute's work make of the entries: the spread in its three grains, and no moves. */
const SPREAD = `truncate board_spread, board_moves;
    insert into board_spread select domain, period, grain, at / grain, sum(s), sum(l), sum(h), sum(l), sum(h)
      from board_entries e cross join (values (1), (20), (400)) g (grain) cross join lateral (values
        ((composite_score * 100)::integer, 1, 0, 0), ((score_low * 100)::integer, 0, 1, 0),
        ((score_high * 100)::integer, 0, 0, 1)) x (at, s, l, h) group by domain, period, grain, at / grain`;

const FILLED = [
  "agents",
  "runs",
  "board_entries",
  "task_scores",
  "screening_sessions",
  "screening_schedules",
  "webhooks",
  "webhook_deliveries",
  "listings",
];

/**
 * A name that a page of agents have, spread over the list, however many there are: so the answers of both sizes are alike.
 * What grows is how many others share its letters.
 */
export const RARE_NAME = "4242-";
const RARE = 20;

/** How many sessions of an agent everybody may see, before all that are private. */
const OPEN_SESSIONS = 50;

/**
 * Fills what lists show: `size` agents of `other`, each on the board, and `size` runs, half of them at the owner's agent
 * and half spread over others. Much of it is one account's, as planners like it least. What was there is gone. Ids that tell
 * the time of creation are not left to the tables: they have 48 random bits for what one transaction makes, and among a
 * million rows two are alike once in some hundred times.
 */
export async function fillWorld(
  sql: Sql,
  { owner, agent, team, webhook, other }: Viewers,
  size: number,
): Promise<void> {
  await sql(
    inBulk(
      FILLED,
      `truncate agents, teams, webhooks, webhook_events, board_totals, seller_accounts cascade;
    insert into teams (id, name, owner_id) values ('${team}', 'Growth', '${owner}');
    insert into team_members (team_id, user_id, role) values ('${team}', '${owner}', 'owner');
    insert into agents (id, user_id, team_id, name, connection_mode, verified_state)
      select case when n = 1 then '${agent}'::uuid else uuidv7() end, '${owner}', case when n > 7 then '${team}'::uuid end,
        'Own ' || n, 'mock', 'verified' from generate_series(1, 10) n;
    insert into agents (user_id, name, connection_mode, verified_state)
      select '${other}', 'Agent ' || case when n % ${Math.ceil(size / RARE)} = 0 then '${RARE_NAME}' else '' end || n, 'mock',
        case when n % 50 = 0 then 'certified' else 'verified' end
      from generate_series(1, ${size}) n;
    insert into board_entries (agent_id, domain, period, tier, composite_score, score_variance, success_rate, reliability,
        cost_efficiency, correctness, latency, cost, tool_efficiency, robustness, runs, tasks, last_run_at, listed, verified,
        certified, score_low, score_high)
      select id, 'all', 'all', 0, score, 0.1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, (random() * 400)::integer, 40, now(), true,
        true, is_certified, greatest(score - random() * 12, 0), least(score + random() * 12, 100)
      from (select id, verified_state = 'certified' as is_certified, round((random() * 100)::numeric, 2) as score
        from agents where user_id = '${other}') a;
    ${SPREAD};
    insert into board_totals values ('all', 'all', ${size}, ${size})
      on conflict (domain, period) do update set listed = excluded.listed, verified = excluded.verified;
    insert into listings (id, agent_id, seller_id, title, price_usd)
      select uuidv7(), id, user_id, name, 10 from agents where user_id = '${other}';
    insert into seller_accounts (user_id, account_id) values ('${other}', 'acct_growth');
    update users set charges_enabled = true where id = '${other}';
    insert into runs (agent_id, task_id, user_id, status, trigger, scope, team_id, is_private, passed, latency_ms, correctness,
        evidence_cost_usd, serving_model, evidence_signed, counted, suite_version, started_at, finalized_at, suite_id, domain)
      select case when n % 2 = 0 then '${agent}' when n % 11 = 0 then s.ids[1 + n % 3]
          else a.ids[1 + n % array_length(a.ids, 1)] end,
        t.ids[1 + n / 2 % array_length(t.ids, 1)], case when n % 2 = 0 or n % 11 = 0 then '${owner}' else '${other}' end::uuid,
        case when n % 50 < 2 then 'failed' else 'completed' end, 'manual', case when n % 22 = 11 then 'team' else 'personal' end,
        case when n % 22 = 11 then '${team}'::uuid end, n % 20 = 0, n % 3 = 0, n % 9000, 1, 0.001234, 'vendor/model-' || n % 9,
        true, true, 1, now(), now(), t.suites[1 + n / 2 % array_length(t.ids, 1)], t.domains[1 + n / 2 % array_length(t.ids, 1)]
      from generate_series(1, ${size}) n,
        (select array_agg(id) as ids from (select id from agents where user_id = '${other}' order by id limit 1000) x) a,
        (select array_agg(id) as ids from agents where team_id = '${team}') s,
        (select array_agg(id order by id) as ids, array_agg(suite_id order by id) as suites,
          array_agg(domain order by id) as domains from tasks where not is_secret) t;
    insert into run_tallies select r.agent_id, r.task_id, r.is_private, sum(x.runs), sum(x.ended), sum(x.judged),
        sum(x.passed), sum(x.latency_ms), sum(x.latencies), sum(x.cost_usd), sum(x.costs)
      from runs r cross join lateral run_tally(r) x group by r.agent_id, r.task_id, r.is_private;
    insert into run_days (agent_id, day, team_id, user_id, api_key_id, runs, passed, cost_usd, costs, last_run_at)
      select agent_id, (created_at at time zone 'UTC')::date, team_id, user_id, api_key_id, count(*),
        count(*) filter (where passed), sum(evidence_cost_usd), count(evidence_cost_usd), max(created_at)
      from runs group by 1, 2, 3, 4, 5;
    insert into screening_sessions (agent_id, user_id, trigger, task_plan, repeats, team_id, is_private, suite_id)
      select x.agent, '${owner}', 'manual', '[]', 1, x.team, n > ${OPEN_SESSIONS},
        (select suite_id from tasks where not is_secret order by id limit 1)
      from generate_series(1, ${Math.ceil(size / 4)}) n,
        (values ('${agent}'::uuid, null::uuid), ((select min(id::text)::uuid from agents where team_id = '${team}'), '${team}'::uuid))
          x(agent, team);
    insert into screening_schedules (id, user_id, agent_id, repeats, cron, timezone, is_active)
      select uuidv7(), user_id, id, 1, '0 0 1 1 *', 'UTC', false from agents where user_id = '${other}';
    insert into webhooks (id, user_id, url, event_types, is_active)
      select uuidv7(), '${other}', 'https://growth.example/' || n, '{run.completed}', false from generate_series(1, ${size}) n;
    insert into webhooks (id, user_id, url, event_types) values ('${webhook}', '${owner}', 'https://growth.example/', '{run.completed}');
    with e as (insert into webhook_events (type, body) values ('run.completed', '{}') returning id)
    insert into webhook_deliveries (webhook_id, event_id, attempt, status)
      select '${webhook}', e.id, n, 'succeeded' from e, generate_series(1, ${size}) n`,
    ),
  );
  await vacuum(sql);
}

/**
 * Vacuums and analyses the database once nothing in it sees it as it was before. For an older snapshot, such as that of an
 * analysis that the server has begun by itself, pages would not be marked as visible to all, and the planner would take
 * other ways than with them.
 */
export async function vacuum(sql: Sql): Promise<void> {
  await sql(`do $$ begin
    while exists (select from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_xmin is not null)
    loop
      perform pg_sleep(0.01);
      perform pg_stat_clear_snapshot();
    end loop;
  end $$`);
  await sql("vacuum analyze");
}

/** Stands for a task that is yet to be looked up. */
export const NO_TASK = { id: "", suite_id: "" };

/** The lists and reads that are filled, by name: who asks, and for what. */
export function growingReads(
  { agent, team, webhook }: Viewers,
  { id: task, suite_id: suite }: { id: string; suite_id: string },
  size: number,
): Record<string, { by: "owner" | "anybody"; path: string }> {
  const byOwner = (path: string) => ({ by: "owner", path: `/api/v1/${path}` }) as const;
  const byAnybody = (path: string) => ({ by: "anybody", path: `/api/v1/${path}` }) as const;
  return {
    "own agents": byOwner("agents"),
    "own agents, ended ones too": byOwner("agents?active_only=false"),
    "agents of a workspace": byOwner(`agents?team_id=${team}`),
    "public agents": byAnybody("agents"),
    "public agents, page 50": byAnybody("agents?page=50"),
    "public agents of a rare name": byAnybody(`agents?q=t%20${RARE_NAME}`),
    "public agents of a common name": byAnybody("agents?q=AGENT"),
    "public agents of a name's beginning": byAnybody("agents?q=a"),
    "own agents of a name": byOwner("agents?q=own"),
    "visible runs": byOwner("runs"),
    "public runs": byAnybody("runs"),
    "public runs, page 50": byAnybody("runs?page=50"),
    "public runs of a task": byAnybody(`runs?task_id=${task}`),
    "public runs that failed": byAnybody("runs?status=failed"),
    "own runs": byOwner("runs?mine=true"),
    "own runs, page 1000": byOwner("runs?mine=true&page=1000"),
    "own runs that failed": byOwner("runs?mine=true&status=failed"),
    "own queued runs": byOwner("runs?mine=true&status=queued"),
    "own runs that timed out": byOwner("runs?mine=true&failure_code=agent_timeout"),
    "own passed runs of a domain": byOwner("runs?mine=true&passed=true&domain=coding"),
    "own runs of a suite that never began by schedule": byOwner(`runs?mine=true&trigger=scheduled&suite_id=${suite}`),
    "public runs of a suite": byAnybody(`runs?suite_id=${suite}`),
    "public failed runs of a domain": byAnybody("runs?status=failed&domain=math"),
    "public runs by schedule": byAnybody("runs?trigger=scheduled"),
    "visible runs of a domain that did not pass": byOwner("runs?passed=false&domain=safety"),
    "visible runs by schedule": byOwner("runs?trigger=scheduled"),
    "failed runs of a workspace": byOwner(`runs?team_id=${team}&status=failed&trigger=api`),
    "an agent's runs of a domain that passed": byOwner(`runs?agent_id=${agent}&passed=true&domain=coding`),
    "an agent's runs by schedule, by anybody": byAnybody(`runs?agent_id=${agent}&trigger=scheduled`),
    "runs of an hour": byAnybody("runs?created_after=2020-01-01T00:00:00Z&created_before=2020-01-01T01:00:00Z"),
    "own runs since an hour that is to come": byOwner("runs?mine=true&created_after=2100-01-01T00:00:00Z"),
    "own personal runs": byOwner("runs?scope=personal"),
    "the use of an account by day": byOwner("usage"),
    "the use of a workspace by agent": byOwner(`usage?team_id=${team}&by=agent`),
    "runs of a workspace": byOwner(`runs?team_id=${team}`),
    "runs of an agent": byOwner(`runs?agent_id=${agent}`),
    "runs of an agent, page 1000": byOwner(`runs?agent_id=${agent}&page=1000`),
    "runs of an agent, by anybody": byAnybody(`runs?agent_id=${agent}`),
    "sessions of an agent": byOwner(`agents/${agent}/screening-sessions`),
    "sessions of an agent and a suite": byOwner(`agents/${agent}/screening-sessions?suite_id=${suite}`),
    "sessions of an agent, by anybody": byAnybody(`agents/${agent}/screening-sessions`),
    "sessions of an agent and a suite, by anybody": byAnybody(`agents/${agent}/screening-sessions?suite_id=${suite}`),
    "an agent": byOwner(`agents/${agent}`),
    "an agent's record": byOwner(`agents/${agent}/stats`),
    "an agent's record, by anybody": byAnybody(`agents/${agent}/stats`),
    "an agent's blueprint": byOwner(`agents/${agent}/blueprint`),
    "an agent's versions": byOwner(`agents/${agent}/blueprint/versions`),
    "an agent's variants": byOwner(`agents/${agent}/frontier`),
    "the account": byOwner("auth/me"),
    "what a deletion would remove": byOwner("users/me/deletion"),
    workspaces: byOwner("teams"),
    schedules: byOwner("screening-schedules"),
    scorecards: byOwner("scorecards"),
    subscriptions: byOwner("webhooks"),
    "activity of a workspace": byOwner(`teams/${team}/activity`),
    "deliveries of a subscription": byOwner(`webhooks/${webhook}/deliveries`),
    "failed deliveries of a subscription": byOwner(`webhooks/${webhook}/deliveries?status=exhausted`),
    listings: byOwner("marketplace/listings"),
    "listings of a rare name": byAnybody(`marketplace/listings?q=t%20${RARE_NAME}`),
    "listings of a common name": byAnybody("marketplace/listings?q=agent"),
    "the board": byOwner("leaderboard"),
    "the board by a rare name": byOwner(`leaderboard?q=t%20${RARE_NAME}`),
    "the board of the certified": byOwner("leaderboard?certified_only=true"),
    "the board of the certified, by name": byOwner("leaderboard?certified_only=true&q=agent"),
    "the board by a common name": byOwner("leaderboard?q=agent&verified_only=true"),
    "the board, last page": byOwner(`leaderboard?page=${Math.ceil(size / 20)}`),
  };
}
