import * as z from "zod";
import { created, noContent, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { createTeam } from "../../shared/teams/create.ts";
import { removeTeam } from "../../shared/teams/remove.ts";
import { assertTeamRight } from "../../shared/teams/right.ts";
import { TeamCreate, TeamOwnershipTransfer, TeamUpdate } from "../../shared/teams/schemas.ts";
import { TeamRead } from "../../shared/teams/shown.ts";
import { transferTeam } from "../../shared/teams/transfer.ts";
import { updateTeam } from "../../shared/teams/update.ts";

const tag = "Teams";
const params = z.object({ id: z.uuid() });

/** What is deleted with a workspace, besides its members and invitations: each part comes from the tables' owner. */
async function cleanups() {
  const [
    { removeSchedulesOfTeams },
    { removeScorecardsOfTeams },
    { removeWebhooksOfTeams },
    { endPagesOfTeams, removeUnpaidOfTeams },
    { discardCredentialsOfTeams, endTokensOfTeams },
  ] = await Promise.all([
    import("../../shared/schedules/remove.ts"),
    import("../../shared/scorecards/remove.ts"),
    import("../../shared/webhooks/remove-of-teams.ts"),
    import("../../shared/certification/remove-of-teams.ts"),
    import("../../shared/agents/remove-of-teams.ts"),
  ]);
  return [
    removeSchedulesOfTeams,
    removeScorecardsOfTeams,
    removeWebhooksOfTeams,
    endPagesOfTeams,
    removeUnpaidOfTeams,
    discardCredentialsOfTeams,
    endTokensOfTeams,
  ];
}

export const editTeams = [
  route({
    id: "createTeam",
    method: "post",
    path: "/api/v1/teams",
    tag,
    summary: "Create a workspace",
    description:
      "The caller owns it, and the caller's plan sets its limits and its monthly runs. A plan allows a number of " +
      "workspaces (team 3, enterprise any number); a deleted one that paid for runs counts until the month ends. Where an " +
      "account owns more than its plan allows, as after the end of a larger one, the oldest stay as they are. The others " +
      "keep what they have, and can be read, exported, handed over and deleted; their `monthly_run_limit` is 0, and " +
      "running, adding or activating agents, and adding schedules or webhooks is `quota_exceeded` there.",
    auth: "session",
    body: TeamCreate,
    returns: { 201: TeamRead },
    located: true,
    problems: ["quota_exceeded"],
    idempotent: true,
    async handler({ ctx, principal, body }) {
      const team = await createTeam(ctx, principal, body);
      return created(team, `/api/v1/teams/${team.id}`);
    },
  }),
  route({
    id: "updateTeam",
    method: "patch",
    path: "/api/v1/teams/{id}",
    tag,
    summary: "Rename a workspace",
    description: "For its owner.",
    auth: "scoped",
    subject: "teams",
    params,
    body: TeamUpdate,
    right: ({ ctx, principal, params: { id } }) => assertTeamRight(ctx, "own", principal, id),
    returns: { 200: TeamRead },
    problems: ["not_found", "forbidden"],
    async handler({ ctx, principal, params: { id }, body }) {
      return ok(await updateTeam(ctx, principal, id, body));
    },
  }),
  route({
    id: "deleteTeam",
    method: "delete",
    path: "/api/v1/teams/{id}",
    tag,
    summary: "Delete a workspace",
    description:
      "For its owner, and only without active agents: delete them or move them to another workspace first. Members, " +
      "invitations, scorecards, schedules and webhooks are deleted with it, and nobody can see its runs any more; " +
      "runs that are still open end, and so do pages at which a certification of an agent of it could still be paid.",
    auth: "session",
    params,
    right: ({ ctx, principal, params: { id } }) => assertTeamRight(ctx, "own", principal, id),
    returns: { 204: null },
    problems: ["not_found", "forbidden", "workspace_not_empty"],
    async handler({ ctx, principal, params: { id } }) {
      await removeTeam(ctx, principal, id, await cleanups());
      return noContent();
    },
  }),
  route({
    id: "transferTeamOwnership",
    method: "post",
    path: "/api/v1/teams/{id}/transfer-ownership",
    tag,
    summary: "Hand a workspace over to another member",
    description:
      "For its owner, who becomes an admin. From then on the new owner's plan counts, which has to allow one more " +
      "workspace, and whose account may not await its deletion. What the workspace used of this month's runs stays used.",
    auth: "session",
    params,
    body: TeamOwnershipTransfer,
    right: ({ ctx, principal, params: { id } }) => assertTeamRight(ctx, "own", principal, id),
    returns: { 200: TeamRead },
    problems: ["not_found", "forbidden", "account_leaving", "quota_exceeded"],
    async handler({ ctx, principal, params: { id }, body }) {
      return ok(await transferTeam(ctx, principal, id, body.user_id));
    },
  }),
];
