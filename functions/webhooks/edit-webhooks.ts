import * as z from "zod";
import { accepted, created, noContent, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { createWebhook } from "../../shared/webhooks/create.ts";
import { pingWebhook } from "../../shared/webhooks/ping.ts";
import { redeliver } from "../../shared/webhooks/redeliver.ts";
import { removeWebhook } from "../../shared/webhooks/remove.ts";
import { assertWebhookRight } from "../../shared/webhooks/right.ts";
import { rotateSecret } from "../../shared/webhooks/rotate-secret.ts";
import { WebhookCreate, WebhookSecretRotate, WebhookUpdate } from "../../shared/webhooks/schemas.ts";
import { DeliveryRead, WebhookRead, WebhookSecretRead } from "../../shared/webhooks/shown.ts";
import { updateWebhook } from "../../shared/webhooks/update.ts";

const tag = "Webhooks";
const params = z.object({ id: z.uuid() });

export const editWebhooks = [
  route({
    id: "createWebhook",
    method: "post",
    path: "/api/v1/webhooks",
    tag,
    summary: "Subscribe a URL to events",
    description:
      "Each event is POSTed as `{id, type, created_at, data}`, at most 64 KiB, with `X-Service-Event`, " +
      "`X-Service-Delivery` and `X-Service-Timestamp`. With a secret it is signed: `X-Service-Signature-V2` is `v2=` " +
      "and the lower-case hex HMAC-SHA256 of timestamp, dot, delivery id, dot and the raw body; " +
      "`X-Service-Signature` is `sha256=` and that of the body alone, kept for a while only. Any 2xx within 15 " +
      "seconds is success; redirects are not followed. Events come at least once and in any order. After a failure " +
      "the next attempts follow in 5 s, 1 min, 5 min, 30 min, 2 h, 6 h, 12 h and 24 h. An answer of 410, or 3 days " +
      "without one success over at least 20 attempts, turns the webhook off, and its owner is mailed. With " +
      "`agent_id` it belongs to the agent's owner or workspace, and receives nothing more once the agent changes " +
      "hands. Webhooks that are turned off count against the plan's limit too.",
    auth: "scoped",
    subject: "webhooks",
    body: WebhookCreate,
    returns: { 201: WebhookRead },
    located: true,
    problems: ["endpoint_not_allowed", "quota_exceeded", "forbidden", "not_found"],
    idempotent: true,
    async handler({ ctx, principal, body }) {
      const webhook = await createWebhook(ctx, principal, body);
      return created(webhook, `/api/v1/webhooks/${webhook.id}`);
    },
  }),
  route({
    id: "updateWebhook",
    method: "patch",
    path: "/api/v1/webhooks/{id}",
    tag,
    summary: "Change a webhook",
    description:
      "Changes the fields that are given, from the next attempt on, also for attempts that are already waiting. " +
      "Attempts that fall due while it is off are not made, and events of that time are neither sent nor kept for it. The agent " +
      "can't be changed: make another webhook for another agent.",
    auth: "scoped",
    subject: "webhooks",
    params,
    body: WebhookUpdate,
    right: ({ ctx, principal, params: { id } }) => assertWebhookRight(ctx, principal, id),
    returns: { 200: WebhookRead },
    problems: ["not_found", "forbidden", "endpoint_not_allowed"],
    async handler({ ctx, principal, params: { id }, body }) {
      return ok(await updateWebhook(ctx, principal, id, body));
    },
  }),
  route({
    id: "deleteWebhook",
    method: "delete",
    path: "/api/v1/webhooks/{id}",
    tag,
    summary: "Delete a webhook and its log",
    auth: "scoped",
    subject: "webhooks",
    params,
    right: ({ ctx, principal, params: { id } }) => assertWebhookRight(ctx, principal, id),
    returns: { 204: null },
    problems: ["not_found", "forbidden"],
    async handler({ ctx, principal, params: { id } }) {
      await removeWebhook(ctx, principal, id);
      return noContent();
    },
  }),
  route({
    id: "testWebhook",
    method: "post",
    path: "/api/v1/webhooks/{id}/test",
    tag,
    summary: "Send an event `ping` now",
    description:
      "Answers with the outcome, after waiting for the receiver for at most 15 seconds. It is sent whatever types " +
      "are subscribed to, with data `{webhook_id}`; it is sent only once, is kept in the log, and its failure does " +
      "not count toward turning the webhook off. A webhook that is off is 409.",
    auth: "scoped",
    subject: "webhooks",
    params,
    right: ({ ctx, principal, params: { id } }) => assertWebhookRight(ctx, principal, id),
    returns: { 200: DeliveryRead },
    problems: ["not_found", "forbidden", "webhook_inactive"],
    async handler({ ctx, principal, params: { id } }) {
      return ok(await pingWebhook(ctx, principal, id));
    },
  }),
  route({
    id: "rotateWebhookSecret",
    method: "post",
    path: "/api/v1/webhooks/{id}/rotate-secret",
    tag,
    summary: "Replace the signing secret",
    description:
      "Takes the secret that is given, or makes one that starts with `whsec_` and shows it in this answer alone, with null " +
      "in a replay: who lost the answer asks once more under another `Idempotency-Key`, or gives a secret, which no " +
      "answer can lose. Every attempt from now on is signed with it, also those that are already waiting.",
    auth: "scoped",
    subject: "webhooks",
    params,
    body: WebhookSecretRotate,
    right: ({ ctx, principal, params: { id } }) => assertWebhookRight(ctx, principal, id),
    returns: { 200: WebhookSecretRead },
    problems: ["not_found", "forbidden"],
    idempotent: true,
    async handler({ ctx, principal, params: { id }, body }) {
      return ok(await rotateSecret(ctx, principal, id, body));
    },
  }),
  route({
    id: "redeliverWebhook",
    method: "post",
    path: "/api/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver",
    tag,
    summary: "Deliver an event once more",
    description:
      "Makes one more attempt now, with the same event id and a delivery id of its own, whatever the outcome of " +
      "earlier ones; if the event waits for its next attempt, that attempt is made now. The log shows the outcome. A " +
      "webhook that is off is 409.",
    auth: "scoped",
    subject: "webhooks",
    params: params.extend({ delivery_id: z.uuid() }),
    right: ({ ctx, principal, params: { id } }) => assertWebhookRight(ctx, principal, id),
    returns: { 202: DeliveryRead },
    problems: ["not_found", "forbidden", "webhook_inactive"],
    idempotent: true,
    async handler({ ctx, principal, params: { id, delivery_id } }) {
      return accepted(await redeliver(ctx, principal, id, delivery_id));
    },
  }),
];
