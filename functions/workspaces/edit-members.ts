import * as z from "zod";
import { created, noContent, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { acceptInvitation } from "../../shared/teams/invitations/accept.ts";
import { createInvitation } from "../../shared/teams/invitations/create.ts";
import { revokeInvitation } from "../../shared/teams/invitations/revoke.ts";
import { removeMember } from "../../shared/teams/members/remove.ts";
import { updateMember } from "../../shared/teams/members/update.ts";
import { assertTeamRight } from "../../shared/teams/right.ts";
import { TeamInvitationAccept, TeamInvitationCreate, TeamMemberUpdate } from "../../shared/teams/schemas.ts";
import { TeamInvitationRead, TeamMemberRead, TeamRead } from "../../shared/teams/shown.ts";

const tag = "Teams";
const params = z.object({ id: z.uuid() });
const memberParams = params.extend({ user_id: z.uuid() });

export const editMembers = [
  route({
    id: "updateTeamMember",
    method: "patch",
    path: "/api/v1/teams/{id}/members/{user_id}",
    tag,
    summary: "Give a member another role",
    description:
      "For admins and the owner; any role but `owner`, which is handed over by transfer-ownership. The owner's role " +
      "stays: 403 for an admin, 409 `workspace_ownership` for the owner. With a role that manages no members, the open " +
      "invitations that the member sent are revoked.",
    auth: "session",
    params: memberParams,
    body: TeamMemberUpdate,
    right: ({ ctx, principal, params: { id } }) => assertTeamRight(ctx, "manage_members", principal, id),
    returns: { 200: TeamMemberRead },
    problems: ["not_found", "forbidden", "workspace_ownership"],
    async handler({ ctx, principal, params: { id, user_id }, body }) {
      return ok(await updateMember(ctx, principal, id, user_id, body));
    },
  }),
  route({
    id: "removeTeamMember",
    method: "delete",
    path: "/api/v1/teams/{id}/members/{user_id}",
    tag,
    summary: "Remove a member, or leave",
    description:
      "Admins and the owner can remove others. Members leave by giving their own id; the owner can't (409 " +
      "`workspace_ownership`). What a member made in the workspace stays there, but for the open invitations that the " +
      "member sent, which are revoked.",
    auth: "session",
    params: memberParams,
    right: ({ ctx, principal, params: { id, user_id } }) =>
      assertTeamRight(ctx, user_id.toLowerCase() === principal.userId ? "see" : "manage_members", principal, id),
    returns: { 204: null },
    problems: ["not_found", "forbidden", "workspace_ownership"],
    async handler({ ctx, principal, params: { id, user_id } }) {
      await removeMember(ctx, principal, id, user_id);
      return noContent();
    },
  }),
  route({
    id: "createTeamInvitation",
    method: "post",
    path: "/api/v1/teams/{id}/invitations",
    tag,
    summary: "Invite somebody by email",
    description:
      "For admins and the owner. The mail carries a link that works for 7 days, for the account with that address. " +
      "An open invitation takes one of the 5 seats; without a free seat the answer is 402. An address with an open " +
      "invitation gets a new link and role in place of the old ones. An address is invited at most 5 times a day (UTC) by " +
      "all workspaces together, whether or not there is an account for it; then the answer is 429.",
    auth: "session",
    params,
    body: TeamInvitationCreate,
    right: ({ ctx, principal, params: { id } }) => assertTeamRight(ctx, "manage_members", principal, id),
    returns: { 201: TeamInvitationRead },
    problems: ["not_found", "forbidden", "already_member", "quota_exceeded"],
    idempotent: true,
    async handler({ ctx, principal, params: { id }, body }) {
      return created(await createInvitation(ctx, principal, id, body));
    },
  }),
  route({
    id: "revokeTeamInvitation",
    method: "delete",
    path: "/api/v1/teams/{id}/invitations/{invitation_id}",
    tag,
    summary: "Revoke an invitation",
    description:
      "For admins and the owner. Its link stops working at once and its seat becomes free. Revoking it again changes " +
      "nothing; an accepted invitation is 409 `already_member`.",
    auth: "session",
    params: params.extend({ invitation_id: z.uuid() }),
    right: ({ ctx, principal, params: { id } }) => assertTeamRight(ctx, "manage_members", principal, id),
    returns: { 204: null },
    problems: ["not_found", "forbidden", "already_member"],
    async handler({ ctx, principal, params: { id, invitation_id } }) {
      await revokeInvitation(ctx, principal, id, invitation_id);
      return noContent();
    },
  }),
  route({
    id: "acceptTeamInvitation",
    method: "post",
    path: "/api/v1/teams/invitations/accept",
    tag,
    summary: "Join a workspace by the token of an invitation",
    description:
      "The account's email must be the invited one; the mailed token proves it even if it was not verified before. A " +
      "token that is unknown, revoked, replaced, expired or meant for another address gets the same 400 in every " +
      "case. When the account that joined sends the token again, it gets the workspace. Nobody joins one whose owner " +
      "awaits the deletion of the account.",
    auth: "session",
    body: TeamInvitationAccept,
    returns: { 200: TeamRead },
    problems: ["invalid_token", "account_leaving"],
    async handler({ ctx, principal, body }) {
      return ok(await acceptInvitation(ctx, principal, body.token));
    },
  }),
];
