import { sql } from "drizzle-orm";
import type * as z from "zod";
import { pageJson, shortParts } from "../../db/listing.ts";
import { pageResult, readPage } from "../../db/page-result.ts";
import { team_members, users } from "../../db/schema/index.ts";
import type { UserPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { TeamMemberRead } from "../shown.ts";
import { memberJson, noTeam, teamFor } from "../view.ts";

const MemberList = pageResult(TeamMemberRead);

/** A page of a workspace's members, in the order in which they joined; throws 404. */
export async function listMembers(
  ctx: Context,
  { userId }: UserPrincipal,
  teamId: string,
  paging: { page: number; page_size: number },
): Promise<z.output<typeof MemberList>> {
  const order = sql`m.joined_at, m.user_id`;
  const hits = sql`select m.* from ${team_members} m join target on target.id = m.team_id`;
  const items = sql`(select json_agg(${memberJson} order by ${order}) from paged m join ${users} u on u.id = m.user_id)`;
  const result = await readPage(
    ctx,
    MemberList,
    paging,
    (stretch) => sql`with target as (${teamFor("see", userId, teamId)}), ${shortParts(hits, "m", order, stretch)}
    select ${pageJson(items)} as result from target`,
  );
  if (result === null) throw noTeam();
  return result;
}
