import { sql } from "drizzle-orm";
import type * as z from "zod";
import { pageJson, shortParts } from "../db/listing.ts";
import { pageResult, readPage } from "../db/page-result.ts";
import { team_members, teams } from "../db/schema/index.ts";
import { type UserPrincipal, workspaceOf } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { TeamRead } from "./shown.ts";
import { KEY_ROLE } from "./rights.ts";
import { teamJson } from "./view.ts";

const TeamList = pageResult(TeamRead);

/** A page of the workspaces that the caller is a member of, or the key of, newest first. */
export async function listTeams(
  ctx: Context,
  principal: UserPrincipal,
  paging: { page: number; page_size: number },
): Promise<z.output<typeof TeamList>> {
  const order = sql`t.created_at desc, t.id desc`;
  const hits = sql`select t.*, m.role from ${teams} t join ${team_members} m on m.team_id = t.id
    where m.user_id = ${principal.userId}::uuid
    union all select t.*, ${KEY_ROLE} from ${teams} t where t.id = ${workspaceOf(principal)}::uuid`;
  const items = sql`(select json_agg(${teamJson(ctx, sql`t.role`)} order by ${order}) from paged t)`;
  const result = await readPage(
    ctx,
    TeamList,
    paging,
    (stretch) => sql`with ${shortParts(hits, "t", order, stretch)} select ${pageJson(items)} as result`,
  );
  return result ?? { items: [], total: 0 };
}
