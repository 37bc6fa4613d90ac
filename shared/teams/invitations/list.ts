import { sql } from "drizzle-orm";
import * as z from "zod";
import { pageJson, shortParts } from "../../db/listing.ts";
import { pageResult, readPage } from "../../db/page-result.ts";
import { team_invitations } from "../../db/schema/index.ts";
import type { UserPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { TeamInvitationRead } from "../shown.ts";
import { invitationJson, noTeam, notAllowed, teamFor } from "../view.ts";

const InvitationList = pageResult(TeamInvitationRead);

/** A page of a workspace's invitations, newest first, for those who manage its members; throws 404 and `forbidden`. */
export async function listInvitations(
  ctx: Context,
  { userId }: UserPrincipal,
  teamId: string,
  paging: { page: number; page_size: number },
): Promise<z.output<typeof InvitationList>> {
  const order = sql`i.created_at desc, i.id desc`;
  const hits = sql`select i.* from ${team_invitations} i join target t on t.id = i.team_id and t.allowed`;
  const items = sql`(select json_agg(${invitationJson(ctx)} order by ${order}) from paged i)`;
  const result = await readPage(
    ctx,
    InvitationList.extend({ allowed: z.boolean() }),
    paging,
    (
      stretch,
    ) => sql`with target as (${teamFor("manage_members", userId, teamId)}), ${shortParts(hits, "i", order, stretch)}
    select ${pageJson(items, { allowed: sql`t.allowed` })} as result from target t`,
  );
  if (result === null) throw noTeam();
  if (!result.allowed) throw notAllowed("seeing its invitations");
  return result;
}
