import { sql } from "drizzle-orm";
import type Stripe from "stripe";
import * as z from "zod";
import { closePage } from "../billing/close-page.ts";
import { oweUnkeptEnd } from "../billing/closing.ts";
import { ifKnown, underKey, withAddress, withProvider } from "../billing/stripe.ts";
import { change, writeInTurn } from "../db/change.ts";
import { certifications, users } from "../db/schema/index.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { frontendPage } from "../platform/frontend.ts";
import type { Problem } from "../platform/problem.ts";
import { admissionOf, inProgress } from "./admission.ts";
import { KIND } from "./events.ts";
import { lockCertification } from "./lock.ts";
import { runsNeeded } from "./rules.ts";
import { PRICE_USD } from "./terms.ts";
import type { CertifyCheckoutRequest, CertifyCheckoutResponse } from "./schemas.ts";
import { settleUnpaid } from "./settle.ts";

/** A certification that waits for its payment. */
const Unpaid = z.object({
  certification_id: z.uuid(),
  /** The buyer's address, the same however often the checkout is asked for. */
  email: z.string(),
  checkout_session_id: z.string().nullable(),
  /** Whether its buyer has lost the right to buy for the agent: then nobody is to pay it. */
  is_left: z.boolean(),
});
type Unpaid = z.output<typeof Unpaid>;

/**
 * Sells a certification. The row comes before its checkout and is the key of it: whatever is lost in between, the next
 * call finds the row and gets the checkout.
 */
export async function sell(
  ctx: Context,
  principal: SessionPrincipal,
  request: z.output<typeof CertifyCheckoutRequest>,
): Promise<z.output<typeof CertifyCheckoutResponse>> {
  const { STRIPE_SECRET_KEY: key, STRIPE_PRICE_CERTIFICATION: price } = ctx.env;
  const isPayable = key !== undefined && price !== undefined;
  const unpaid = await begin(ctx, principal.userId, request, isPayable);
  const { checkout_session_id: page } = unpaid;
  const url = await (unpaid.is_left
    ? removeLeft(ctx, unpaid)
    : page === null
      ? openCheckout(ctx, unpaid, request.agent_id, price ?? "")
      : reopenCheckout(ctx, unpaid, page));
  if (url !== null) return { kind: "checkout", url, certification_id: unpaid.certification_id };
  // The checkout that is kept under the request's key can no longer be paid: this request starts over without the key.
  ctx.idempotency = null;
  return sell(ctx, principal, request);
}

/** Inserts the certification, or finds the one that waits for its payment already. */
function begin(
  ctx: Context,
  viewer: string,
  request: z.output<typeof CertifyCheckoutRequest>,
  isPayable: boolean,
): Promise<Unpaid> {
  const { admitted, ...admission } = admissionOf(ctx, viewer, request, isPayable);
  return change(ctx, {
    ...admission,
    parts: sql`with ${admitted}, inserted as (
      insert into ${certifications} (id, agent_id, user_id, status, price_usd, runs_included, eu_waiver_at)
      select certification_id, agent_id, buyer_id, 'awaiting_payment', ${PRICE_USD}, ${runsNeeded},
        ${ctx.now().toISOString()}::timestamptz
      from admitted where outcome = 'done' and open_id is null
    ), updated as (
      update ${certifications} c set runs_included = greatest(c.runs_included, ${runsNeeded})
      from admitted a where c.id = a.open_id and not a.is_left and a.outcome = 'done'
    )`,
    result: sql`select jsonb_build_object('outcome', a.outcome, 'certification_id', a.certification_id,
      'checkout_session_id', a.checkout_session_id, 'is_left', a.is_left,
      'email', (select u.email from ${users} u where u.id = a.buyer_id)) as result from admitted a`,
    done: Unpaid,
  });
}

/**
 * The address of the checkout of a certification that has none yet; asked for again, it is the same. Null where nobody may pay
 * there any more.
 */
async function openCheckout(ctx: Context, unpaid: Unpaid, agentId: string, price: string): Promise<string | null> {
  const { certification_id: id, email } = unpaid;
  const page = frontendPage(ctx.env, "/agents/{id}/certify", agentId);
  const wanted: Stripe.Checkout.SessionCreateParams = {
    mode: "payment",
    line_items: [{ price, quantity: 1 }],
    metadata: { kind: KIND, certification_id: id },
    success_url: `${page}?certification=paid`,
    cancel_url: `${page}?certification=cancelled`,
  };
  // Under the key of a price which the provider refused it would take no other for a day.
  const key = `certification-${id}-${price}`;
  const session = await withProvider(ctx, (stripe) =>
    withAddress((isRefused) =>
      underKey(
        isRefused ? `${key}-without-address` : key,
        (options) =>
          stripe.checkout.sessions.create(isRefused ? wanted : { ...wanted, customer_email: email }, options),
        ctx.redis,
      ),
    ),
  );
  return (await keepPage(ctx, id, session.id)) === null ? null : session.url;
}

/**
 * Keeps a page with its certification. Where that waits for no payment any more, as when the account was deleted meanwhile,
 * nobody may pay there: the queue closes the page, and the result is null.
 */
function keepPage(ctx: Context, id: string, sessionId: string): Promise<number | null> {
  const step = {
    lock: lockCertification(id),
    parts: sql`with kept as (
      update ${certifications} c set checkout_session_id = ${sessionId}, updated_at = ${ctx.now().toISOString()}::timestamptz
      where c.id = ${id}::uuid and c.status = 'awaiting_payment' and coalesce(c.checkout_session_id, ${sessionId}) = ${sessionId}
      returning 1
    ), pages as (
      ${oweUnkeptEnd(sessionId)}
    )`,
    owes: ["pages"] as const,
    select: sql`select to_jsonb(1) from kept`,
    result: z.number(),
  };
  // No step of the request's Idempotency-Key: that one is for the certification that was begun.
  return writeInTurn(ctx, step, []);
}

/** The address of an open checkout; null if it has expired or is unknown, which also removes its certification. */
async function reopenCheckout(
  ctx: Context,
  { certification_id: id }: Unpaid,
  sessionId: string,
): Promise<string | null> {
  const session = await withProvider(ctx, (stripe) => ifKnown(stripe.checkout.sessions.retrieve(sessionId)));
  if (session?.status === "complete") throw beingConfirmed();
  if (session?.status === "open") return session.url;
  await settleUnpaid(ctx, id, sessionId);
  return null;
}

/**
 * Closes the checkout of somebody who may buy for the agent no more, and removes its certification: a page names whoever
 * opened it, and so the receipt would. Throws `certification_in_progress` where it was paid before.
 */
async function removeLeft(ctx: Context, { certification_id: id, checkout_session_id: page }: Unpaid): Promise<null> {
  if (page !== null) {
    const { isPaid } = await withProvider(ctx, (stripe) => closePage(stripe, page));
    if (isPaid) throw beingConfirmed();
  }
  // Without a page yet, it goes as long as it has none.
  await settleUnpaid(ctx, id, page ?? "");
  return null;
}

function beingConfirmed(): Problem {
  return inProgress("It was paid, and the payment is being confirmed.");
}
