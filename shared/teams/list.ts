import { sql } from "drizzle-orm";
import { team_members, teams } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { teamJson, type TeamRow } from "./view.ts";

/** A page of the workspaces that the account is a member of, newest first. */
export async function listTeams(
  ctx: Context,
  userId: string,
  { page, page_size: size }: { page: number; page_size: number },
): Promise<{ items: TeamRow[]; total: number }> {
  const result = await readJson<{ items: TeamRow[]; total: number }>(
    ctx,
    sql`with hits as (
      select t.*, m.role from ${teams} t join ${team_members} m on m.team_id = t.id where m.user_id = ${userId}::uuid
    ), paged as (select * from hits t order by t.created_at desc, t.id desc limit ${size} offset ${(page - 1) * size})
    select jsonb_build_object('total', (select count(*) from hits), 'items', coalesce((
      select jsonb_agg(${teamJson(ctx, sql`t.role`)} order by t.created_at desc, t.id desc) from paged t), '[]')) as result`,
  );
  return result ?? { items: [], total: 0 };
}
