import { cancelPlan } from "../../shared/billing/cancel.ts";
import { checkout } from "../../shared/billing/checkout.ts";
import { isDevMode } from "../../shared/billing/mode.ts";
import { pendingPayment } from "../../shared/billing/pending-payment.ts";
import { openPortal } from "../../shared/billing/portal.ts";
import {
  BillingStatusResponse,
  CheckoutOutcome,
  CheckoutRequest,
  DevUpgradeResponse,
  PendingPaymentResponse,
  PortalOutcome,
} from "../../shared/billing/schemas.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";

const tag = "Billing";

export const billing = [
  route({
    id: "readBillingStatus",
    method: "get",
    path: "/api/v1/billing/status",
    tag,
    summary: "Whether billing is enabled",
    description:
      "While it is disabled, nothing can be bought or cancelled; this endpoint, the portal, pending payments and the " +
      "waitlists keep working.",
    auth: "open",
    returns: { 200: BillingStatusResponse },
    handler({ ctx: { env } }) {
      const payment_configured = env.STRIPE_SECRET_KEY !== undefined;
      return ok({ billing_enabled: env.FLAGS.has("billing"), payment_configured, dev_mode: isDevMode(env) });
    },
  }),
  route({
    id: "checkOutPlan",
    method: "post",
    path: "/api/v1/billing/checkout",
    tag,
    summary: "Buy a plan, or change the one that is paid for",
    description:
      "`checkout`: a hosted page to pay at; the plan follows the payment, by the provider's signed event. Only one " +
      "page is open at a time: the same offer returns it again, another offer replaces it; beside a subscription whose " +
      "first payment is under way none is opened (409 `payment_in_progress`). `plan_change`: a subscription that is active or " +
      "in trial gets the price at once, settled by an invoice over the difference; while that is unpaid the old plan stays " +
      "and `effective_at` is null (see `pending-payment`). A cancellation that was scheduled is taken back first, even where " +
      "the payment then fails or is outstanding. A subscription that already has the price keeps it without an invoice, and " +
      "a change of it that waits for its payment is given up. One whose renewal is not paid gets no other price (409 " +
      "`payment_in_progress`): pay it, or cancel the plan and buy another. For the price that it has `effective_at` is null, " +
      "too, once the last attempt has failed: there is no plan until it is paid. `dev_upgrade`: in dev mode " +
      "the account is Pro at once, whichever tier is asked for; a Team or Enterprise account keeps its plan. If " +
      "different offers are requested at the same time, all but one get 409 `payment_in_progress`.",
    auth: "session",
    body: CheckoutRequest,
    returns: { 200: CheckoutOutcome },
    problems: ["billing_disabled", "payment_not_configured", "payment_in_progress", "payment_failed"],
    idempotent: true,
    async handler({ ctx, principal, body }) {
      return ok(await checkout(ctx, principal.userId, body));
    },
  }),
  route({
    id: "openBillingPortal",
    method: "post",
    path: "/api/v1/billing/portal",
    tag,
    summary: "Get a link into the payment provider's portal",
    description:
      "For cards, invoices and the subscription itself; each link is new and works for a short time. It works while " +
      "billing is disabled too. In dev mode there is no portal: `dev_upgrade` gives the current plan, and nothing " +
      "changes.",
    auth: "session",
    returns: { 200: PortalOutcome },
    problems: ["payment_not_configured", "payment_in_progress"],
    async handler({ ctx, principal }) {
      return ok(await openPortal(ctx, principal.userId));
    },
  }),
  route({
    id: "cancelPlan",
    method: "post",
    path: "/api/v1/billing/cancel",
    tag,
    summary: "Cancel the paid plan",
    description:
      "Every subscription of the account ends at the provider at once, without a refund for the rest of its period. " +
      "`plan` is what the account will have: it changes when the provider's event comes, which takes seconds. In dev " +
      "mode it changes at once. 409 `no_subscription` if nothing is paid for: a free account, or a plan that was " +
      "granted (the team override, an enterprise contract).",
    auth: "session",
    returns: { 200: DevUpgradeResponse },
    problems: ["billing_disabled", "payment_not_configured", "no_subscription", "payment_in_progress"],
    async handler({ ctx, principal }) {
      return ok(await cancelPlan(ctx, principal.userId));
    },
  }),
  route({
    id: "readPendingPayment",
    method: "get",
    path: "/api/v1/billing/pending-payment",
    tag,
    summary: "Whether a payment of the subscription is outstanding",
    description:
      "Read at the provider each time; nothing changes. `url` is given only where subscription and invoice are the caller's " +
      "own customer's; it is null while a bank carries the payment out (`processing`), and where an invoice can't be paid any " +
      "more, since a renewal before it was given up: cancel the plan then, and buy it anew. Also while billing is disabled; in " +
      "dev mode nothing is ever outstanding.",
    auth: "session",
    returns: { 200: PendingPaymentResponse },
    problems: ["payment_not_configured"],
    async handler({ ctx, principal }) {
      return ok(await pendingPayment(ctx, principal.userId));
    },
  }),
];
