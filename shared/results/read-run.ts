import { sql } from "drizzle-orm";
import type * as z from "zod";
import { read } from "../db/change.ts";
import { runs } from "../db/schema/index.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { RunRead } from "../runs/shown.ts";
import { mayRun, runJson, runsWithAgents, visibleRun } from "../runs/view.ts";

/** One run as the caller may see it; throws 404. */
export async function readRun(ctx: Context, principal: Principal, runId: string): Promise<z.output<typeof RunRead>> {
  const viewer = viewerId(principal);
  const row = await read(
    ctx,
    RunRead,
    sql`select ${runJson(mayRun("see", viewer))} as result from ${runsWithAgents(sql`${runs}`)}
      where r.id = ${runId}::uuid and ${visibleRun(viewer)}`,
  );
  if (row === null) throw notFound("run");
  return row;
}
