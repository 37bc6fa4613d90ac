import type * as z from "zod";
import type { Context } from "../platform/context.ts";
import { frontendPage } from "../platform/frontend.ts";
import { newId } from "../platform/ids.ts";
import { billingAccount, ensureCustomer } from "./customer.ts";
import { isDevMode } from "./mode.ts";
import type { PortalOutcome } from "./schemas.ts";
import { withProvider } from "./stripe.ts";

/**
 * A fresh link into the provider's portal, where cards, invoices and the subscription are looked after. Dev mode has none
 * and answers the present plan. Throws `payment_not_configured`.
 */
export async function openPortal(ctx: Context, userId: string): Promise<z.output<typeof PortalOutcome>> {
  if (isDevMode(ctx.env)) return { kind: "dev_upgrade", plan: (await billingAccount(ctx, userId)).plan };
  return withProvider(ctx, async (stripe) => {
    const customer = await ensureCustomer(ctx, stripe, await billingAccount(ctx, userId));
    const { url } = await stripe.billingPortal.sessions.create(
      { customer, return_url: frontendPage(ctx.env, "/billing") },
      // Links are short-lived, so each request wants its own; the key keeps the SDK's retry from making two.
      { idempotencyKey: `portal-${newId(ctx.now())}` },
    );
    return { kind: "portal", url };
  });
}
