import { type SQL, sql } from "drizzle-orm";
import type Stripe from "stripe";
import type * as z from "zod";
import { agentOwner } from "../agents/view.ts";
import { isDevMode, requireBilling } from "../billing/mode.ts";
import { frontendPage } from "../billing/page.ts";
import { ifKnown, underKey, withProvider } from "../billing/stripe.ts";
import { agents, certifications, users } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import { bodyProblem, notFound, Problem } from "../platform/problem.ts";
import { flush } from "../db/outbox.ts";
import { dispatchMessage } from "../runs/messages.ts";
import { may } from "../teams/rights.ts";
import { hindrances } from "./eligibility.ts";
import { KIND } from "./events.ts";
import { lockCertified } from "./lock.ts";
import { requireOffer } from "./offer.ts";
import { newPlan, newSession, reservedJson, reserving } from "./reserve.ts";
import { certificationTasks, PRICE_USD, runsNeeded } from "./rules.ts";
import type { CertifyCheckoutOutcome, CertifyCheckoutRequest } from "./schemas.ts";
import { settleUnpaid } from "./settle.ts";

type Answer = z.input<typeof CertifyCheckoutOutcome>;

interface Begun {
  outcome:
    | "free"
    | "no_agent"
    | "no_waiver"
    | "not_live"
    | "already_certified"
    | "in_progress"
    | "no_task"
    | "not_configured";
  certification_id: string;
  /** The buyer's address, the same however often the checkout is asked for. */
  email: string;
  checkout_session_id: string | null;
}

interface Granted extends Begun {
  screening_session_id: string;
  status: "screening" | "paused_quota";
  runs: { id: string; agent_id: string }[];
}

/**
 * Begins the certification of an agent: with a checkout at the payment provider, or, in dev mode, screened at once. An
 * agent has one checkout at a time: as long as it can be paid, its address is given again, with an allowance for the runs
 * that are needed by then. Throws, in this order, `certify_disabled`, `billing_disabled`, 404 without the right to buy for
 * the agent, `eu_waiver_required`, `agent_not_live`,
 * `already_certified`, `certification_in_progress`, `suite_unavailable`, `payment_not_configured`.
 */
export async function checkout(
  ctx: Context,
  principal: SessionPrincipal,
  request: z.output<typeof CertifyCheckoutRequest>,
): Promise<Answer> {
  requireOffer(ctx.env);
  requireBilling(ctx.env);
  return isDevMode(ctx.env) ? grant(ctx, principal, request) : sell(ctx, principal, request);
}

/** SQL: the part `judged`: the agent with what stands against its certification, and the checkout that it has open. */
function judging(
  ctx: Context,
  viewer: string,
  request: z.output<typeof CertifyCheckoutRequest>,
  isPayable: boolean,
): SQL {
  const { mock_only, retired_connection, no_endpoint, already_certified, in_progress } = hindrances(ctx);
  return sql`judged as (
    select a.id as agent_id, o.id as open_id, coalesce(o.id, ${newId(ctx.now())}::uuid) as certification_id,
      o.checkout_session_id, coalesce(o.user_id, ${viewer}::uuid) as buyer_id, case
        when not ${request.eu_waiver_accepted}::boolean then 'no_waiver'
        when ${mock_only} or ${retired_connection} or ${no_endpoint} then 'not_live'
        when ${already_certified} then 'already_certified'
        when ${in_progress} then 'in_progress'
        when not exists (select from ${certificationTasks}) then 'no_task'
        when not ${isPayable}::boolean then 'not_configured'
        else 'free' end as outcome
    from ${agents} a left join ${certifications} o on o.agent_id = a.id and o.status = 'awaiting_payment'
    where a.id = ${request.agent_id}::uuid and ${may("buy", viewer, agentOwner)}
  )`;
}

const BEGUN = sql`'outcome', j.outcome, 'certification_id', j.certification_id,
  'checkout_session_id', j.checkout_session_id, 'email', (select u.email from ${users} u where u.id = j.buyer_id)`;
const OR_NO_AGENT = sql`union all select jsonb_build_object('outcome', 'no_agent') where not exists (select from judged)`;

function lockAgent(agentId: string, viewer: string): SQL {
  return lockCertified(
    sql`select ${agentId}::uuid`,
    sql`select ${viewer}::uuid union select c.user_id from ${certifications} c where c.agent_id = ${agentId}::uuid`,
  );
}

/** Grants a certification as paid and begins its screening, in one statement. */
async function grant(
  ctx: Context,
  { userId: viewer }: SessionPrincipal,
  request: z.output<typeof CertifyCheckoutRequest>,
): Promise<Answer> {
  const now = ctx.now();
  const at = sql`${now.toISOString()}::timestamptz`;
  const ctes = sql`with ${judging(ctx, viewer, request, true)}, target as (
    select certification_id, ${newId(now)}::uuid as session_id, agent_id, ${viewer}::uuid as buyer_id,
      ${runsNeeded} as runs_included
    from judged where outcome = 'free'
  ), ${newPlan}, ${newSession(now)}, ${reserving(ctx)}, granted as (
    insert into ${certifications} as c (id, agent_id, user_id, status, paused_reason, price_usd, runs_included, eu_waiver_at,
      paid_at, screening_session_id)
    select certification_id, agent_id, buyer_id, status, paused_reason, 0, runs_included, ${at}, ${at}, session_id
    from outcome
    on conflict (id) do update set user_id = excluded.user_id, status = excluded.status, price_usd = excluded.price_usd,
      runs_included = excluded.runs_included, paused_reason = excluded.paused_reason, eu_waiver_at = excluded.eu_waiver_at, paid_at = excluded.paid_at,
      screening_session_id = excluded.screening_session_id, updated_at = excluded.paid_at
  )`;
  const result = sql`select jsonb_build_object(${BEGUN}, 'screening_session_id', o.session_id, 'status', o.status,
    'runs', ${reservedJson}) as result from judged j left join outcome o on true ${OR_NO_AGENT}`;
  const lock = lockAgent(request.agent_id, viewer);
  const { certification_id, screening_session_id, status, runs } = judge(
    await writeJson<Granted>(ctx, ctes, result, lock),
  );
  ctx.defer(() => flush(ctx, runs.map(dispatchMessage)));
  return { kind: "dev_grant", certification_id, screening_session_id, status };
}

/**
 * Sells a certification. The row comes before its checkout, whose key it is: whatever is lost in between, the next call
 * finds the one and gets the other.
 */
async function sell(
  ctx: Context,
  principal: SessionPrincipal,
  request: z.output<typeof CertifyCheckoutRequest>,
): Promise<Answer> {
  const { STRIPE_SECRET_KEY: key, STRIPE_PRICE_CERTIFICATION: price } = ctx.env;
  const viewer = principal.userId;
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  const isPayable = key !== undefined && price !== undefined;
  const ctes = sql`with ${judging(ctx, viewer, request, isPayable)}, begun as (
    insert into ${certifications} (id, agent_id, user_id, status, price_usd, runs_included, eu_waiver_at)
    select certification_id, agent_id, buyer_id, 'awaiting_payment', ${PRICE_USD}, ${runsNeeded}, ${at}
    from judged where outcome = 'free' and open_id is null
  ), offered as (
    update ${certifications} c set runs_included = greatest(c.runs_included, ${runsNeeded})
    from judged j where c.id = j.open_id and j.outcome = 'free'
  )`;
  const result = sql`select jsonb_build_object(${BEGUN}) as result from judged j ${OR_NO_AGENT}`;
  const lock = lockAgent(request.agent_id, viewer);
  const begun = judge(await writeJson<Begun>(ctx, ctes, result, lock));
  const url = await (begun.checkout_session_id === null
    ? openCheckout(ctx, begun, request.agent_id, price ?? "")
    : openAgain(ctx, begun, begun.checkout_session_id));
  if (url !== null) return { kind: "checkout", url, certification_id: begun.certification_id };
  // What a first request with the same key got has expired since: this one begins anew.
  ctx.idempotency = null;
  return sell(ctx, principal, request);
}

/** The address of the checkout of a certification that has none yet; asked for again, it is the same. */
async function openCheckout(ctx: Context, begun: Begun, agentId: string, price: string): Promise<string | null> {
  const { certification_id: id, email } = begun;
  const back = frontendPage(ctx.env, `/agents/${agentId}`);
  const wanted: Stripe.Checkout.SessionCreateParams = {
    mode: "payment",
    line_items: [{ price, quantity: 1 }],
    customer_email: email,
    metadata: { kind: KIND, certification_id: id },
    success_url: `${back}?certification=paid`,
    cancel_url: `${back}?certification=cancelled`,
  };
  const session = await withProvider(ctx, (stripe) =>
    underKey(`certification-${id}`, (options) => stripe.checkout.sessions.create(wanted, options)),
  );
  await ctx.db.execute(sql`update ${certifications} set checkout_session_id = ${session.id},
    updated_at = ${ctx.now().toISOString()}::timestamptz
    where id = ${id}::uuid and status = 'awaiting_payment' and checkout_session_id is null`);
  return session.url;
}

/** The address of an open checkout; null once it has expired or is unknown, and its certification is dropped. */
async function openAgain(ctx: Context, { certification_id: id }: Begun, sessionId: string): Promise<string | null> {
  const session = await withProvider(ctx, (stripe) => ifKnown(stripe.checkout.sessions.retrieve(sessionId)));
  if (session?.status === "complete") throw inProgress("It was paid, and the payment is being confirmed.");
  if (session?.status === "open") return session.url;
  await settleUnpaid(ctx, id, sessionId);
  return null;
}

function judge<T extends Begun>(begun: T): T {
  switch (begun.outcome) {
    case "no_agent":
      throw notFound("agent");
    case "no_waiver":
      throw bodyProblem(
        "eu_waiver_required",
        "/eu_waiver_accepted",
        "The screening starts at once, so the right of withdrawal has to be waived: send true.",
      );
    case "not_live":
      throw new Problem(
        "agent_not_live",
        "Only an agent that can be called is certified: it needs the mode http_endpoint with an endpoint, and to be active.",
      );
    case "already_certified":
      throw new Problem(
        "already_certified",
        "The agent has a certification in force; buy the next one once it has expired.",
      );
    case "in_progress":
      throw inProgress("See its status for the progress.");
    case "no_task":
      throw new Problem("suite_unavailable", "There is no active task to certify by; nothing was bought.");
    case "not_configured":
      throw new Problem(
        "payment_not_configured",
        "Certifications can't be paid here; the operator has to set a price.",
      );
    default:
      return begun;
  }
}

function inProgress(advice: string): Problem {
  return new Problem("certification_in_progress", `The agent is being certified. ${advice}`);
}
