-- Whether a final run counts as asked of its agent in earnest. A canary was asked, too; one that failed by our fault was not.
-- Nor was a cancelled one, but where others overtook it that were asked for later: it has a suite version then, which no
-- cancelled run had until now, so that nothing is to be counted anew.
create or replace function run_asked(r runs) returns integer language sql immutable parallel safe as $$
  select (r.status in ('completed', 'failed', 'cancelled') and not r.simulated and r.trigger <> 'trial'
    and r.failure_code is distinct from 'service_error' and r.suite_version is not null)::integer
$$;
