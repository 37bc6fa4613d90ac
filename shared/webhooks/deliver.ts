import type { Context } from "../platform/context.ts";
import { attemptAll } from "./attempt-all.ts";
import { claimOne } from "./claim.ts";

/** Makes one pending attempt, whenever it is due, as `deliverDue` makes those of a subscription. */
export async function deliver(ctx: Context, deliveryId: string): Promise<void> {
  await attemptAll(ctx, await claimOne(ctx, deliveryId));
}
