import * as z from "zod";
import { created, noContent, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { createSchedule } from "../../shared/schedules/create.ts";
import { removeSchedule } from "../../shared/schedules/remove.ts";
import { assertScheduleRight } from "../../shared/schedules/right.ts";
import { ScheduleCreate, ScheduleUpdate } from "../../shared/schedules/schemas.ts";
import { ScheduleRead } from "../../shared/schedules/shown.ts";
import { updateSchedule } from "../../shared/schedules/update.ts";

const tag = "Schedules";
const params = z.object({ id: z.uuid() });

const REFUSALS = [
  "not_found",
  "forbidden",
  "agent_inactive",
  "provider_custody_retired",
  "suite_unavailable",
  "task_unavailable",
  "conflicting_parameters",
  "quota_exceeded",
] as const;

export const editSchedules = [
  route({
    id: "createSchedule",
    method: "post",
    path: "/api/v1/screening-schedules",
    tag,
    summary: "Screen an agent again and again",
    description:
      "At every time that `cron` describes, on the clocks of `timezone`, a screening of the suite or of the tasks is " +
      "started in the caller's name, with the trigger `scheduled`, and taken from the usual allowance. It may not be " +
      "due more often than hourly, even when the clocks change. An expression with one minute and one hour (`30 2 * " +
      "* *`) fires once a day whatever the clocks do: a time that they skip fires at the first moment after the gap, " +
      "one that occurs twice fires the first time. Any other (`30 * * * *`, `30 2,14 * * *`) follows the clocks: " +
      "skipped times are left out, those that occur twice fire twice. One screening makes up for all times that the " +
      "service missed. If the allowance does not suffice, the plan has no room for the schedule or does not include the " +
      "workspace, or tasks no longer exist, `last_error` says so, a mail does once a month, and the schedule continues. " +
      "It is turned off, and says why, if the agent or the account is gone or the " +
      "account may no longer screen the agent. Active schedules of active agents count against the plan of who pays for the agent: an " +
      "account, or each workspace, by its owner's plan. Tasks × repeats of more than 1,000 runs are refused (422 " +
      "`suite_unavailable`), as they are of a batch.",
    auth: "scoped",
    subject: "schedules",
    body: ScheduleCreate,
    returns: { 201: ScheduleRead },
    located: true,
    problems: REFUSALS,
    idempotent: true,
    async handler({ ctx, principal, body }) {
      const schedule = await createSchedule(ctx, principal, body);
      return created(schedule, `/api/v1/screening-schedules/${schedule.id}`);
    },
  }),
  route({
    id: "updateSchedule",
    method: "patch",
    path: "/api/v1/screening-schedules/{id}",
    tag,
    summary: "Change a schedule",
    description:
      "Changes the fields that are given; a new time applies from now on, and a suite replaces tasks or the other " +
      "way round. Whoever turns it on again becomes the account in whose name it screens.",
    auth: "scoped",
    subject: "schedules",
    params,
    body: ScheduleUpdate,
    right: ({ ctx, principal, params: { id } }) => assertScheduleRight(ctx, principal, id),
    returns: { 200: ScheduleRead },
    problems: REFUSALS,
    async handler({ ctx, principal, params: { id }, body }) {
      return ok(await updateSchedule(ctx, principal, id, body));
    },
  }),
  route({
    id: "deleteSchedule",
    method: "delete",
    path: "/api/v1/screening-schedules/{id}",
    tag,
    summary: "Delete a schedule",
    description: "The screenings that it started stay.",
    auth: "scoped",
    subject: "schedules",
    params,
    right: ({ ctx, principal, params: { id } }) => assertScheduleRight(ctx, principal, id),
    returns: { 204: null },
    problems: ["not_found", "forbidden"],
    async handler({ ctx, principal, params: { id } }) {
      await removeSchedule(ctx, principal, id);
      return noContent();
    },
  }),
];
