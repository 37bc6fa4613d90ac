import { expect, vi } from "vitest";
import type { TestService } from "../../stack/service.ts";

/** SQL: whether a statement of this database waits for another one's lock. */
export const SOMEBODY_WAITS =
  "exists (select from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database())";

/**
 * Holds up each row of what is done `on` a table, as `insert on users`, until the SQL `until` holds; of rows for which `when`
 * holds, where it is told. Gives what ends that.
 */
export async function holdUp(
  service: TestService,
  { on, when = "true", until }: { on: string; when?: string; until: string },
): Promise<() => Promise<unknown>> {
  await service.sql(`create function dawdle() returns trigger language plpgsql as $$ begin
    while not (${until}) loop perform pg_sleep(0.02); end loop; return new; end $$`);
  await service.sql(`create trigger dawdle before ${on} for each row when (${when}) execute function dawdle()`);
  return () => service.sql("drop function dawdle cascade");
}

/** Waits until a statement is held up. */
export async function heldUp(service: TestService): Promise<void> {
  const dawdling = "select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'";
  await vi.waitFor(async () => expect(await service.sql(dawdling)).toHaveLength(1), 10_000);
}
