import type * as z from "zod";
import { isDevMode, requireBilling } from "../billing/mode.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { grant } from "./grant.ts";
import { requireOffer } from "./offer.ts";
import type { CertifyCheckoutOutcome, CertifyCheckoutRequest } from "./schemas.ts";
import { sell } from "./sell.ts";

/**
 * Begins the certification of an agent: with a checkout at the payment provider or, in dev mode, with its screening. An
 * agent has one checkout at a time: as long as it can be paid, its address is given again, and its allowance raised to the
 * runs that are needed by then. One of somebody who may buy for the agent no more is closed, and gives way to a new one. Throws, in this order, `certify_disabled`, `billing_disabled`, 404 without the right to
 * buy for the agent, `eu_waiver_required`, `agent_not_live`, `already_certified`, `certification_in_progress`,
 * `suite_unavailable`, `payment_not_configured`.
 */
export async function checkout(
  ctx: Context,
  principal: SessionPrincipal,
  request: z.output<typeof CertifyCheckoutRequest>,
): Promise<z.output<typeof CertifyCheckoutOutcome>> {
  requireOffer(ctx.env);
  requireBilling(ctx.env);
  return isDevMode(ctx.env) ? grant(ctx, principal, request) : sell(ctx, principal, request);
}
