-- Runs a statement that selects one jsonb of at most one row, and keeps its plan in the session: what is sent over HTTP would
-- else be planned each time. The plan is made for no particular parameters, so that the first one is the last. The database
-- makes another when the tables change, or what it knows of them.
create function kept_plan(p_statement text, p_params text[]) returns jsonb language plpgsql
set plan_cache_mode = force_generic_plan as $$
declare
  v_name text := 'kept_' || md5(p_statement);
  v_result jsonb;
begin
  if not exists (select from pg_prepared_statements where name = v_name) then
    execute format('prepare %I as %s', v_name, p_statement);
  end if;
  execute (select format('execute %I', v_name) || coalesce('(' || string_agg(quote_nullable(p.value), ',' order by p.place) || ')', '')
    from unnest(p_params) with ordinality p (value, place)) into v_result;
  return v_result;
end
$$;
