import * as z from "zod";
import { cursorQuery, sliced, sliceOf } from "../../shared/http/cursor.ts";
import { longPageOf, paged, pageOf, pageQuery } from "../../shared/http/paging.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { ActivityKey, listActivity, sliceActivity, TeamActivityRead } from "../../shared/results/activity.ts";
import { listTeams } from "../../shared/teams/list.ts";
import { readTeam } from "../../shared/teams/read.ts";
import { TeamRead } from "../../shared/teams/shown.ts";

const tag = "Teams";
const params = z.object({ id: z.uuid() });

export const teams = [
  route({
    id: "listTeams",
    method: "get",
    path: "/api/v1/teams",
    tag,
    summary: "The caller's workspaces, newest first",
    auth: "scoped",
    subject: "teams",
    query: pageQuery,
    returns: { 200: pageOf(TeamRead, "TeamPage") },
    async handler({ ctx, principal, query }) {
      return ok(paged(await listTeams(ctx, principal, query), query));
    },
  }),
  route({
    id: "readTeam",
    method: "get",
    path: "/api/v1/teams/{id}",
    tag,
    summary: "One workspace",
    description: "404 to everybody but its members.",
    auth: "scoped",
    subject: "teams",
    params,
    returns: { 200: TeamRead },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { id } }) {
      return ok(await readTeam(ctx, principal, id));
    },
  }),
  route({
    id: "listTeamActivity",
    method: "get",
    path: "/api/v1/teams/{id}/activity",
    tag,
    summary: "What happened in a workspace, newest first",
    description:
      "Runs and sessions that the workspace paid for, of the agents that it has now; members who joined and are " +
      "still there; its agents, when they were created. The runs of a session are shown with the session.",
    auth: "scoped",
    subject: "teams",
    params,
    query: pageQuery.extend({ cursor: cursorQuery }),
    returns: {
      200: z.union([longPageOf(TeamActivityRead, "TeamActivityPage"), sliceOf(TeamActivityRead, "TeamActivitySlice")]),
    },
    problems: ["not_found", "conflicting_parameters", "invalid_cursor"],
    async handler({ ctx, principal, params: { id }, query }) {
      const { cursor, page_size: size } = query;
      if (cursor !== undefined) {
        const asked = { ...query, principal, list: "activity", filter: { id }, cursor, key: ActivityKey };
        return ok(await sliced(ctx, asked, (after) => sliceActivity(ctx, principal.userId, id, { after, size })));
      }
      return ok(paged(await listActivity(ctx, principal.userId, id, query), query));
    },
  }),
];
