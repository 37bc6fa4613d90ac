import * as z from "zod";
import { pageOf, paged, pageQuery } from "../../shared/http/paging.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { listInvitations } from "../../shared/teams/invitations/list.ts";
import { listMembers } from "../../shared/teams/members/list.ts";
import { TeamInvitationRead, TeamMemberRead } from "../../shared/teams/shown.ts";

const tag = "Teams";
const params = z.object({ id: z.uuid() });

export const teamMembers = [
  route({
    id: "listTeamMembers",
    method: "get",
    path: "/api/v1/teams/{id}/members",
    tag,
    summary: "A workspace's members, in the order in which they joined",
    auth: "scoped",
    subject: "teams",
    params,
    query: pageQuery,
    returns: { 200: pageOf(TeamMemberRead, "TeamMemberPage") },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { id }, query }) {
      return ok(paged(await listMembers(ctx, principal, id, query), query));
    },
  }),
  route({
    id: "listTeamInvitations",
    method: "get",
    path: "/api/v1/teams/{id}/invitations",
    tag,
    summary: "A workspace's invitations, newest first",
    description: "For admins and the owner; accepted, revoked and expired ones too.",
    auth: "scoped",
    subject: "teams",
    params,
    query: pageQuery,
    returns: { 200: pageOf(TeamInvitationRead, "TeamInvitationPage") },
    problems: ["not_found", "forbidden"],
    async handler({ ctx, principal, params: { id }, query }) {
      return ok(paged(await listInvitations(ctx, principal, id, query), query));
    },
  }),
];
