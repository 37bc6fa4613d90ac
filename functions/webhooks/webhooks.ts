import * as z from "zod";
import { cursorQuery, sliced, sliceOf } from "../../shared/http/cursor.ts";
import { longPageOf, paged, pageOf, pageQuery } from "../../shared/http/paging.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { DeliveryKey, listDeliveries, sliceDeliveries } from "../../shared/webhooks/deliveries.ts";
import { listWebhooks } from "../../shared/webhooks/list.ts";
import { readWebhook } from "../../shared/webhooks/read.ts";
import { DeliveryRead, WebhookRead } from "../../shared/webhooks/shown.ts";

const tag = "Webhooks";
const params = z.object({ id: z.uuid() });

export const webhooks = [
  route({
    id: "listWebhooks",
    method: "get",
    path: "/api/v1/webhooks",
    tag,
    summary: "Webhooks of the account and its workspaces",
    description: "Newest first.",
    auth: "scoped",
    subject: "webhooks",
    query: pageQuery,
    returns: { 200: pageOf(WebhookRead, "WebhookPage") },
    async handler({ ctx, principal, query }) {
      return ok(paged(await listWebhooks(ctx, principal, query), query));
    },
  }),
  route({
    id: "readWebhook",
    method: "get",
    path: "/api/v1/webhooks/{id}",
    tag,
    summary: "One webhook",
    description: "Every member of its workspace may read it; editors and above may change it.",
    auth: "scoped",
    subject: "webhooks",
    params,
    returns: { 200: WebhookRead },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { id } }) {
      return ok(await readWebhook(ctx, principal, id));
    },
  }),
  route({
    id: "listWebhookDeliveries",
    method: "get",
    path: "/api/v1/webhooks/{id}/deliveries",
    tag,
    summary: "Every attempt of the last 30 days",
    description: "Newest first.",
    auth: "scoped",
    subject: "webhooks",
    params,
    query: pageQuery.extend({ status: DeliveryRead.shape.status.optional(), cursor: cursorQuery }),
    returns: { 200: z.union([longPageOf(DeliveryRead, "DeliveryPage"), sliceOf(DeliveryRead, "DeliverySlice")]) },
    problems: ["not_found", "conflicting_parameters", "invalid_cursor"],
    async handler({ ctx, principal, params: { id }, query }) {
      const { cursor, status, page_size: size } = query;
      if (cursor !== undefined) {
        const asked = { ...query, principal, list: "deliveries", filter: { id, status }, cursor, key: DeliveryKey };
        return ok(await sliced(ctx, asked, (after) => sliceDeliveries(ctx, principal, id, { status, after, size })));
      }
      return ok(paged(await listDeliveries(ctx, principal, id, query), query));
    },
  }),
];
