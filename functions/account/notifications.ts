import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { NotificationsRead, NotificationsUpdate } from "../../shared/identity/notifications/schemas.ts";
import { readNotifications, updateNotifications } from "../../shared/identity/notifications/switches.ts";

const tag = "Accounts";
const path = "/api/v1/users/me/notifications";

export const notifications = [
  route({
    id: "readNotifications",
    method: "get",
    path,
    tag,
    summary: "Which mails the account gets",
    description: "A switch for each kind of notification. All are on until they are switched off.",
    auth: "session",
    returns: { 200: NotificationsRead },
    async handler({ ctx, principal }) {
      return ok(await readNotifications(ctx, principal.userId));
    },
  }),
  route({
    id: "updateNotifications",
    method: "patch",
    path,
    tag,
    summary: "Switch notifications on or off",
    description:
      "Changes the switches that are given. Those that protect the account (`sign_in`, `password`, `email_change`, " +
      "`deletion`) stay on: false is 422 with the code `always_on` at the field. With `invitation` off, invitations to workspaces " +
      "are made, and do not reach the account.",
    auth: "session",
    body: NotificationsUpdate,
    returns: { 200: NotificationsRead },
    async handler({ ctx, principal, body }) {
      return ok(await updateNotifications(ctx, principal.userId, body));
    },
  }),
];
