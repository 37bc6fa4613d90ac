import type * as z from "zod";
import type { Context } from "../platform/context.ts";
import { attemptAll } from "./attempt-all.ts";
import { claimDue } from "./claim.ts";
import type { DueMessage } from "./messages.ts";

/**
 * Makes the attempts of a subscription that are due: two statements for 50 that succeed, one more for each failure. A
 * second call does nothing; if we fail halfway it throws, and what was not recorded is made again under the same ids.
 */
export async function deliverDue(ctx: Context, message: z.output<typeof DueMessage>): Promise<void> {
  await attemptAll(ctx, await claimDue(ctx, message));
}
