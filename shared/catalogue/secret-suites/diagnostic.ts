import { sql } from "drizzle-orm";
import type * as z from "zod";
import { read } from "../../db/change.ts";
import { suites, tasks } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { SecretSuiteDiagnostic } from "./schemas.ts";

/** Whether secret suites are switched on, and how many tasks each of them has; nothing of what the tasks hold. */
export async function diagnoseSecretSuites(ctx: Context): Promise<z.output<typeof SecretSuiteDiagnostic>> {
  const found = await read(
    ctx,
    SecretSuiteDiagnostic.shape.suites,
    sql`select coalesce(jsonb_agg(jsonb_build_object('suite_id', s.id, 'name', s.name, 'suite_version', s.version,
        'active_tasks', (select count(*) from ${tasks} t where t.suite_id = s.id and t.is_active),
        'retired_tasks', (select count(*) from ${tasks} t where t.suite_id = s.id and not t.is_active)
      ) order by s.created_at, s.id), '[]') as result from ${suites} s where s.is_secret`,
  );
  return { enabled: ctx.env.FLAGS.has("secret_suites"), suites: found ?? [] };
}
