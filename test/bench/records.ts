/** What lies beside the agents and runs of a world: records of runs, and what accounts and workspaces have. */
import { randomUUID } from "node:crypto";
import { inBulk } from "../stack/bulk.ts";
import { type Sql, vacuum, type Viewers } from "./world.ts";

/** Who reads: the owner of much, anybody, or an operator. */
export type Who = "owner" | "anybody" | "admin";

/** A list or read: a GET, or a POST where it has a body; `before` is SQL that is carried out once before it is measured. */
export interface GrowingRead {
  by: Who;
  path: string;
  body?: object;
  before?: string;
}

/** What single reads are about. */
const ID = {
  rival: randomUUID(),
  run: randomUUID(),
  session: randomUUID(),
  earlier: randomUUID(),
  key: randomUUID(),
  scorecard: randomUUID(),
  purchase: randomUUID(),
  listing: randomUUID(),
};

/** A day whose board was published. */
const DAY = "2026-11-01";

const RECORDS = [
  "run_phases",
  "run_exchanges",
  "run_evidence",
  "spans",
  "task_scores",
  "board_scores",
  "certifications",
  "purchases",
  "revenue",
  "teams",
  "team_members",
  "team_invitations",
  "api_keys",
  "sessions",
  "scorecards",
  "task_submissions",
  "run_days",
];

/**
 * Fills what lies beside a world of `size` runs and agents: a tenth as many rows of each record of a run, all of the owner's
 * agent, and of what other accounts and workspaces have, and a page or two of the owner's. The catalogue and the epochs are
 * the same at all sizes. A tenth is enough for a scan to show, and takes a tenth of the time.
 */
export async function fillRecords(sql: Sql, { owner, agent, team, other }: Viewers, size: number): Promise<void> {
  const some = Math.ceil(size / 10);
  const agents = `(select * from agents order by id limit ${some}) union
    select * from agents where id in ('${agent}', '${ID.rival}')`;
  const key = "name, prefix, key_hash, scope";
  const weights = "correctness, latency, cost, tool_efficiency, robustness";
  await sql(
    inBulk(
      RECORDS,
      `truncate task_submissions, board_days, board_pages, board_scores, certifications, purchases, revenue;
    delete from sessions where user_agent = 'Growth';
    insert into agents (id, user_id, name, connection_mode, verified_state)
      values ('${ID.rival}', '${other}', 'Rival', 'mock', 'verified');
    insert into screening_sessions (id, agent_id, user_id, trigger, task_plan, repeats, finished_at)
      select id, '${agent}', '${owner}', 'manual', '[]', 2, now()
      from unnest('{${ID.earlier},${ID.session}}'::uuid[]) with ordinality s(id, n) order by n;
    insert into runs (id, agent_id, task_id, user_id, status, trigger, scope, passed, latency_ms, correctness,
        evidence_signed, counted, suite_version, started_at, finalized_at, suite_id, domain, screening_session_id, position,
        repeat_index, repeat_total)
      select case when s.n = 1 and t.n = 1 and r = 1 then '${ID.run}'::uuid else uuidv7() end, '${agent}', t.id, '${owner}',
        'completed', 'manual', 'personal', true, 900, 1, true, true, 1, now(), now(), t.suite_id, t.domain, s.id, t.n, r, 2
      from unnest('{${ID.session},${ID.earlier}}'::uuid[]) with ordinality s(id, n), generate_series(1, 2) r,
        (select *, row_number() over (order by id) as n from tasks where not is_secret order by id limit 10) t;
    create temporary table recorded on commit drop as
      select id, agent_id from runs where agent_id = '${agent}' and screening_session_id is not null
      union all (select id, agent_id from runs where agent_id = '${agent}' and screening_session_id is null limit ${some});
    insert into run_phases (run_id, sequence, phase, outcome, occurred_at)
      select id, 1, 'scored', 'succeeded', now() from recorded;
    insert into run_exchanges (run_id, request, request_salt, response, response_salt, answer)
      select id, '{}', 'salt', '{"output":"42"}', 'salt', '{"output":"42"}' from recorded;
    insert into run_evidence (run_id, jws, kid)
      select id, 'e30.e30.' || id, 'https://growth.example/#key' from recorded;
    insert into spans (run_id, span_id, agent_id, kind, name, started_at, duration_ms)
      select id, '0123456789abcdef', agent_id, 'model', 'chat', now(), 1 from recorded;
    insert into task_scores (agent_id, task_id, period, simulated, n, c, success, reliability, cost_efficiency, correctness,
        robustness, last_run_at)
      select a.id, t.id, 'all', false, 1, 1, 1, 0.5, 0.5, 1, 0.5, now()
      from (${agents}) a join lateral (select id from tasks where not is_secret order by id
        limit case when a.id in ('${agent}', '${ID.rival}') then 40 else 1 end) t on true;
    insert into certifications (agent_id, user_id, status, price_usd, eu_waiver_at, score, issued_at, expires_at, jws, kid)
      select id, user_id, 'certified', 100, now(), 90, now(), now() + interval '1 year', 'e30.e30.e30', 'key'
      from agents where verified_state = 'certified' or id = '${agent}';
    insert into board_days (day, closed_at, sha256, published_at)
      select '${DAY}'::date + n, now(), repeat('0', 64), now() from generate_series(0, 19) n;
    insert into board_pages (day, page, entries, body) values ('${DAY}', 0, 1, '{}');
    insert into board_scores (agent_id, day, tier, composite_score, score_low, score_high, runs, tasks, is_ranked, rank)
      select a.id, '${DAY}'::date + n, 0, 50, 40, 60, 40, 40, true, 1
      from (${agents}) a, generate_series(0, case when a.id = '${agent}' then 19 else 0 end) n;
    insert into purchases (id, listing_id, agent_id, seller_id, buyer_id, agent_name, status, price_usd, fee_usd)
      select case when n = 1 then '${ID.purchase}'::uuid else uuidv7() end, uuidv7(), '${ID.rival}', '${other}',
        case when n <= 40 then '${owner}' else '${other}' end::uuid, 'Rival', 'COMPLETED', 10, 1
      from generate_series(1, ${some + 40}) n;
    insert into listings (id, agent_id, seller_id, title, price_usd)
      values ('${ID.listing}', '${ID.rival}', '${other}', 'Rival', 10);
    with p as (insert into purchases (listing_id, agent_id, seller_id, buyer_id, agent_name, status, price_usd, fee_usd)
      select '${ID.listing}', '${ID.rival}', case when n <= 40 then '${owner}' else '${other}' end::uuid, '${other}', 'Rival',
        'COMPLETED', 10, 1 from generate_series(1, ${some + 40}) n returning id, seller_id)
    insert into revenue (purchase_id, seller_id, gross_usd, fee_usd, net_usd) select id, seller_id, 10, 1, 9 from p;
    with t as (insert into teams (name, owner_id)
      select 'Team ' || n, case when n <= 20 then '${owner}' else '${other}' end::uuid
      from generate_series(1, ${some + 20}) n returning id, owner_id)
    insert into team_members (team_id, user_id, role) select id, owner_id, 'owner' from t;
    insert into team_members (team_id, user_id, role) values ('${team}', '${other}', 'viewer');
    insert into team_invitations (team_id, email, role, token_hash, expires_at)
      select t.id, t.id || '@growth.example', 'viewer', t.id::text, now() + interval '1 day' from teams t
      union all select '${team}', n || '@growth.example', 'viewer', n::text, now() + interval '1 day' from generate_series(1, 20) n;
    insert into api_keys (id, user_id, ${key}) select case when n = 1 then '${ID.key}'::uuid else uuidv7() end,
        case when n <= 20 then '${owner}' else '${other}' end::uuid, 'Key ' || n, 'sk_', 'growth ' || n, 'read'
      from generate_series(1, ${some + 20}) n;
    insert into api_keys (team_id, ${key})
      select '${team}', 'Key ' || n, 'sk_', 'growth of a team ' || n, 'read' from generate_series(1, 20) n;
    insert into sessions (user_id, user_agent, expires_at)
      select case when n <= 20 then '${owner}' else '${other}' end::uuid, 'Growth', now() + interval '30 days'
      from generate_series(1, ${some + 20}) n;
    insert into scorecards (id, user_id, name, ${weights})
      select case when n = 1 then '${ID.scorecard}'::uuid else uuidv7() end,
        case when n <= 20 then '${owner}' else '${other}' end::uuid, 'Scorecard ' || n, 0.2, 0.2, 0.2, 0.2, 0.2
      from generate_series(1, ${some + 20}) n;
    insert into task_submissions (submitter_id, status, task)
      select case when n <= 40 then '${owner}' else '${other}' end::uuid,
        case when n % 10 = 0 then 'pending' else 'rejected' end, t.task
      from generate_series(1, ${some + 40}) n, (select jsonb_build_object('title', title, 'domain', domain, 'prompt', prompt,
        'input', input, 'output_format', output_format, 'output_schema', output_schema, 'tools', tools,
        'expected_tool_calls', expected_tool_calls, 'time_limit_ms', time_limit_ms, 'pass_threshold', pass_threshold,
        'grader', grader, 'expected_output', expected_output) as task from tasks where not is_secret order by id limit 1) t;
    insert into run_days (agent_id, day, user_id, runs, passed, cost_usd, costs, last_run_at)
      select a.id, current_date - n, a.user_id, 1, 1, 0.001, 1, now()
      from (${agents}) a, generate_series(1, case when a.user_id = '${owner}' then 90 else 1 end) n where a.team_id is null`,
    ),
  );
  await vacuum(sql);
}

/** SQL: what a busy minute moves on the board of everything, which stands beside its spread until the next one. */
const MOVED = `insert into board_moves (domain, period, score, low, high, listed, verified)
  select 'all', 'all', 5000, 4000, 6000, d, d from generate_series(1, 500), (values (1), (-1)) x(d)`;

/** SQL: takes what `MOVED` did back. */
export const CALM = "delete from board_moves where (score, low, high) = (5000, 4000, 6000)";

const QUERY = "{ agents(page: 1, pageSize: 20) { items { id name } } }";

/** The lists and reads of what is filled beside a world, by name. */
export function recordReads({ agent, team, webhook }: Viewers, { task, suite }: { task: string; suite: string }) {
  const read =
    (by: Who) =>
    (path: string, more: Pick<GrowingRead, "body" | "before"> = {}): GrowingRead => ({
      by,
      path: `/api/v1/${path}`,
      ...more,
    });
  const [owner, anybody, admin] = [read("owner"), read("anybody"), read("admin")];
  return {
    "own agents by name": owner("agents?sort=name"),
    "public agents by name": anybody("agents?sort=name"),
    "own runs, by cursor": owner("runs?mine=true&cursor="),
    "public runs, by cursor": anybody("runs?cursor="),
    "deliveries of a subscription, by cursor": owner(`webhooks/${webhook}/deliveries?cursor=`),
    "a subscription": owner(`webhooks/${webhook}`),
    "a run": owner(`runs/${ID.run}`),
    "a run, by anybody": anybody(`runs/${ID.run}`),
    "the facts of a run": owner(`runs/${ID.run}/phases`),
    "the output of a run": owner(`runs/${ID.run}/output`),
    "the spans of a run": owner(`runs/${ID.run}/spans`),
    "the evidence of a run": anybody(`runs/${ID.run}/evidence`),
    "how many runs of an agent tell enough": owner(`runs/preflight?width=0.1&agent_id=${agent}`),
    "a session": owner(`screening-sessions/${ID.session}`),
    "a session against another": owner(`screening-sessions/${ID.session}/compare?with=${ID.earlier}`),
    "an agent's days": anybody(`agents/${agent}/history`),
    "an agent's readiness": owner(`agents/${agent}/readiness`),
    "an agent's credential": anybody(`agents/${agent}/credential`),
    "an agent's badge": anybody(`agents/${agent}/badge.svg`),
    "two agents compared": anybody(`agents/compare?a=${agent}&b=${ID.rival}`),
    "the rank of an agent after a busy minute": anybody(`agents/${ID.rival}`, { before: MOVED }),
    "the board after a busy minute": owner("leaderboard", { before: MOVED }),
    "the board of a day": anybody(`leaderboard/history/${DAY}`),
    "the field of a suite": anybody(`suites/${suite}/field`),
    suites: anybody("suites"),
    "a suite": anybody(`suites/${suite}`),
    tasks: anybody("tasks"),
    "a task": anybody(`tasks/${task}`),
    "proposed tasks, for operators": admin("task-submissions?status=pending"),
    "own proposed tasks": owner("task-submissions/mine"),
    "what a certification needs": owner(`certify/eligibility?agent_id=${agent}`),
    "an agent's certification": owner(`certify/status?agent_id=${agent}`),
    "the list of revoked credentials": anybody("credentials/status/0"),
    purchases: owner("marketplace/purchases"),
    "a purchase": owner(`marketplace/purchases/${ID.purchase}`),
    "a listing": anybody(`marketplace/listings/${ID.listing}`),
    "own sales": owner("marketplace/sales"),
    "a workspace": owner(`teams/${team}`),
    "members of a workspace": owner(`teams/${team}/members`),
    "invitations of a workspace": owner(`teams/${team}/invitations`),
    "keys of a workspace": owner(`teams/${team}/api-keys`),
    "own keys": owner("api-keys"),
    "a key": owner(`api-keys/${ID.key}`),
    "own sessions": owner("auth/sessions"),
    "a scorecard": owner(`scorecards/${ID.scorecard}`),
    "the board by a scorecard": owner(`scorecards/${ID.scorecard}/board`),
    epochs: anybody("epochs"),
    "agents by GraphQL": { by: "anybody", path: "/graphql", body: { query: QUERY } },
    "the page of the board": { by: "anybody", path: "/" },
    "the page of an agent": { by: "anybody", path: `/agents/${agent}` },
  } satisfies Record<string, GrowingRead>;
}
