import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { assertRight } from "../teams/right.ts";
import { visibleWebhook } from "./view.ts";

/** Throws 404 for a subscription that is not visible, `forbidden` where the caller may not change it. */
export async function assertWebhookRight(ctx: Context, { userId }: UserPrincipal, webhookId: string): Promise<void> {
  await assertRight(ctx, "webhook", visibleWebhook(userId, webhookId));
}
