import { sql } from "drizzle-orm";
import type * as z from "zod";
import { suites } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { Problem } from "../platform/problem.ts";
import type { SuiteCreate } from "./create-task-schemas.ts";
import { suiteJson } from "./reads.ts";
import type { SuiteRead } from "./schemas.ts";

/** Makes an empty suite, in version 1. Throws `duplicate_name` for a slug that is taken. */
export async function createSuite(
  ctx: Context,
  { slug, name, description, is_secret }: z.output<typeof SuiteCreate>,
): Promise<z.input<typeof SuiteRead>> {
  const ctes = sql`with s as (
    insert into ${suites} (slug, name, description, is_secret) values (${slug}, ${name}, ${description}, ${is_secret})
    on conflict (slug) do nothing returning *
  )`;
  const result = sql`select (select ${suiteJson} from s) as result`;
  const suite = await writeJson<z.input<typeof SuiteRead> | null>(ctx, ctes, result);
  if (suite === null) throw new Problem("duplicate_name", "Another suite has this slug; choose another.");
  ctx.cache.invalidate("catalogue");
  return suite;
}
