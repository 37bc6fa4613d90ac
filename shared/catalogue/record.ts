import { sql } from "drizzle-orm";
import * as z from "zod";
import { read, write } from "../db/change.ts";
import { suite_records, suites, tasks } from "../db/schema/index.ts";
import { canonicalBytes } from "../platform/canonical.ts";
import type { Context } from "../platform/context.ts";
import { sha256 } from "../platform/crypto.ts";
import { logEntry, logged } from "../transparency/logged.ts";
import { taskJson } from "./reads.ts";
import { TaskRead } from "./shown.ts";

/** How many suites one call records; the others are found again a minute later. */
const SUITES = 10;

const Changed = z.array(
  z.object({ suite_id: z.uuid(), suite_version: z.int(), fingerprint: z.string(), tasks: z.array(TaskRead) }),
);

/**
 * Says in the log what each suite consists of that has changed since the log last said so: SHA-256 over the public form of
 * its active tasks, in the order of their ids. One statement where none has, two else; done twice or by two at once, it
 * says the same once.
 */
export async function recordSuites(ctx: Context): Promise<void> {
  const changed = await read(
    ctx,
    Changed,
    sql`select jsonb_agg(to_jsonb(x)) as result from (
      select k.id as suite_id, k.version as suite_version, f.fingerprint, f.tasks from ${suites} k
        cross join lateral (
          select coalesce(jsonb_agg(x.task order by x.id), '[]') as tasks,
            md5(k.version || coalesce(string_agg(x.task::text, ',' order by x.id), '')) as fingerprint
          from (select t.id, ${taskJson} as task from ${tasks} t where t.suite_id = k.id and t.is_active) x) f
        left join ${suite_records} r on r.suite_id = k.id
      where r.fingerprint is distinct from f.fingerprint order by k.id limit ${SUITES}) x`,
  );
  if (changed === null) return;
  const records = changed.map(({ tasks: own, ...suite }) => ({ ...suite, sha256: sha256(canonicalBytes(own)) }));
  await write(ctx, {
    parts: sql`with recorded as (
      insert into ${suite_records} (suite_id, suite_version, fingerprint, sha256, recorded_at)
      select suite_id, suite_version, fingerprint, sha256, ${ctx.now().toISOString()}::timestamptz
      from jsonb_to_recordset(${JSON.stringify(records)}::jsonb)
        as x(suite_id uuid, suite_version integer, fingerprint text, sha256 text) order by suite_id
      on conflict (suite_id) do update set suite_version = excluded.suite_version, fingerprint = excluded.fingerprint,
        sha256 = excluded.sha256, recorded_at = excluded.recorded_at
      returning suite_id, suite_version, sha256
    ), said as (${logged(
      sql`select ${logEntry("suite", {
        sha256: sql`sha256`,
        suite_id: sql`suite_id`,
        suite_version: sql`suite_version`,
      })} from recorded`,
    )})`,
    select: sql`select to_jsonb(count(*)) from recorded`,
    result: z.int(),
  });
}
