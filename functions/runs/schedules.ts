import * as z from "zod";
import { paged, pageOf, pageQuery } from "../../shared/http/paging.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { listSchedules } from "../../shared/schedules/list.ts";
import { readSchedule } from "../../shared/schedules/read.ts";
import { ScheduleRead } from "../../shared/schedules/shown.ts";

const tag = "Schedules";
const params = z.object({ id: z.uuid() });

export const schedules = [
  route({
    id: "listSchedules",
    method: "get",
    path: "/api/v1/screening-schedules",
    tag,
    summary: "Schedules of the caller's agents and workspaces",
    description: "Newest first.",
    auth: "scoped",
    subject: "schedules",
    query: pageQuery,
    returns: { 200: pageOf(ScheduleRead, "SchedulePage") },
    async handler({ ctx, principal, query }) {
      return ok(paged(await listSchedules(ctx, principal, query), query));
    },
  }),
  route({
    id: "readSchedule",
    method: "get",
    path: "/api/v1/screening-schedules/{id}",
    tag,
    summary: "One schedule",
    description: "Every member of the agent's workspace may read it; runners and above may change it.",
    auth: "scoped",
    subject: "schedules",
    params,
    returns: { 200: ScheduleRead },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { id } }) {
      return ok(await readSchedule(ctx, principal, id));
    },
  }),
];
