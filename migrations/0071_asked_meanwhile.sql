-- A run that ended while 0069 was under way waited for the tallies in the function of before, which counts nothing as asked.
-- What is missing is added, so that runs that end meanwhile, which this does not see and does not wait for, stay counted.
insert into run_tallies as t (agent_id, task_id, is_private, runs, ended, judged, passed, latency_ms, latencies, cost_usd, costs, asked, version)
  select w.agent_id, w.task_id, w.is_private, 0, 0, 0, 0, 0, 0, 0, 0,
    w.asked - case when y.version = w.version then y.asked else 0 end, w.version
  from (
    select r.agent_id, r.task_id, r.is_private, k.suite_version as version, count(*) as asked
    from runs r join tasks k on k.id = r.task_id and k.suite_version = r.suite_version
    where run_asked(r) = 1 group by r.agent_id, r.task_id, r.is_private, k.suite_version
  ) w left join run_tallies y on y.agent_id = w.agent_id and y.task_id = w.task_id and y.is_private = w.is_private
  where (y.version, y.asked) is distinct from (w.version, w.asked)
on conflict (agent_id, task_id, is_private) do update set version = greatest(t.version, excluded.version),
  asked = case when excluded.version < t.version then t.asked when excluded.version = t.version then t.asked + excluded.asked else excluded.asked end;
