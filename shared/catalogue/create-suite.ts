import { sql } from "drizzle-orm";
import type * as z from "zod";
import { write } from "../db/change.ts";
import { suites } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { bodyProblem } from "../platform/problem.ts";
import type { SuiteCreate } from "./create-task-schemas.ts";
import { suiteJson } from "./reads.ts";
import { SuiteRead } from "./shown.ts";

/** Makes an empty suite, in version 1. Throws `duplicate_name` for a slug that is taken. */
export async function createSuite(
  ctx: Context,
  { slug, name, description, is_secret }: z.output<typeof SuiteCreate>,
): Promise<z.output<typeof SuiteRead>> {
  const suite = await write(ctx, {
    parts: sql`with s as (
      insert into ${suites} (slug, name, description, is_secret) values (${slug}, ${name}, ${description}, ${is_secret})
      on conflict (slug) do nothing returning *
    )`,
    select: sql`select ${suiteJson} as result from s`,
    result: SuiteRead,
  });
  if (suite === null) throw bodyProblem("duplicate_name", "/slug", "Another suite has this slug; choose another.");
  ctx.cache.invalidate("catalogue");
  return suite;
}
