/** The statement behind `GET /auth/me`. */
export const ACCOUNT = `select jsonb_build_object('id', u.id, 'email', u.email, 'plan', u.plan,
    'arena_run_count', (select coalesce(sum(used), 0) from allowances where kind = 'user' and owner = u.id::text),
    'monthly_run_count', coalesce((select used from allowances where kind = 'user' and owner = u.id::text
      and period = to_char(now(), 'YYYY-MM')), 0),
    'agent_count', (select count(*) from agents a where a.user_id = u.id and a.is_active),
    'team_count', (select count(*) from team_members m where m.user_id = u.id)) as result
  from users u where u.id = $1`;

/** A bare reservation: as many rows as a batch makes, without any rule, and the runs as JSON. */
export const RESERVATION = `with s as (
    insert into screening_sessions (agent_id, trigger, task_plan, repeats)
    select $1, 'manual', (select jsonb_agg(jsonb_build_object('task_id', id, 'suite_version', suite_version))
      from tasks where id = any($2::uuid[])), $3 returning id
  ), r as (
    insert into runs (agent_id, task_id, trigger, screening_session_id, position, repeat_index, repeat_total, scope)
    select $1, t.id, 'manual', s.id, t.ordinality, n, $3, 'personal'
    from s, unnest($2::uuid[]) with ordinality as t(id, ordinality), generate_series(1, $3::integer) n returning *
  ), o as (
    insert into outbox (consumer, id, body, flow_key)
    select 'dispatch', id, jsonb_build_object('run_id', id), agent_id::text from r
  ) select jsonb_agg(to_jsonb(r)) as result from r`;
