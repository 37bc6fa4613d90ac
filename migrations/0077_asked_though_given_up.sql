-- Whether a final run counts as asked of its agent in earnest. A canary was asked, too; one that was cancelled, or failed by
-- our fault, was not, but where others overtook it that were asked for later: it has a suite version then, which no run that
-- failed by our fault had until now, so that nothing is to be counted anew.
create or replace function run_asked(r runs) returns integer language sql immutable parallel safe as $$
  select (r.status in ('completed', 'failed', 'cancelled') and not r.simulated and r.trigger <> 'trial'
    and r.suite_version is not null)::integer
$$;
