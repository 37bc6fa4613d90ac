/**
 * SQL: one transaction that does `work`, statements that fill these tables. Their indexes are made after the rows, but for
 * those of keys, and triggers and foreign keys rest meanwhile. Where `work` begins by truncating the tables, the rows are
 * not written to the log either.
 */
export function inBulk(tables: readonly string[], work: string): string {
  return `begin;
    set local session_replication_role = replica;
    set local maintenance_work_mem = '256MB';
    create temporary table rebuilt on commit drop as
      select indexname::text as name, indexdef as definition from pg_indexes
      where schemaname = 'public' and tablename in (${tables.map((name) => `'${name}'`).join(", ")})
        and not exists (select from pg_constraint where conindid = format('%I.%I', schemaname, indexname)::regclass);
    do $$ declare i record; begin
      for i in select name from rebuilt loop execute format('drop index %I', i.name); end loop;
    end $$;
    ${work};
    do $$ declare i record; begin
      for i in select definition from rebuilt loop execute i.definition; end loop;
    end $$;
    commit`;
}
