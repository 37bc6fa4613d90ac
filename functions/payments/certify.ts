import * as z from "zod";
import { checkout } from "../../shared/certification/checkout.ts";
import { diagnose } from "../../shared/certification/diagnostic.ts";
import { readEligibility } from "../../shared/certification/eligibility.ts";
import {
  GIVE_UP_DAYS,
  MOST_AGAIN,
  PASS_SCORE,
  PRICE_USD,
  REPEATS,
  VALID_DAYS,
} from "../../shared/certification/terms.ts";
import { CertifyCheckoutOutcome, CertifyCheckoutRequest } from "../../shared/certification/schemas.ts";
import { CertifyDiagnostic, CertifyEligibility, CertifyStatusResponse } from "../../shared/certification/shown.ts";
import { readStatus } from "../../shared/certification/status.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { isId } from "../../shared/platform/ids.ts";
import { notFound } from "../../shared/platform/problem.ts";

const tag = "Certification";
const query = z.object({ agent_id: z.string() });

/** The id of the agent that is asked for; throws 404 for a text that is not an id. */
function named({ agent_id: id }: z.output<typeof query>): string {
  if (!isId(id)) throw notFound("agent");
  return id;
}

export const certify = [
  route({
    id: "diagnoseCertification",
    method: "get",
    path: "/api/v1/certify/diagnostic",
    tag,
    summary: "What a certification takes, and whether it can be bought here",
    description:
      "An agent is certified by every active task of the core suite and of all secret suites, " +
      `${REPEATS} runs each. It is certified with a composite score of at least ${PASS_SCORE} over exactly these runs, of ` +
      `which at least half passed in every domain, for ${VALID_DAYS} days.`,
    auth: "open",
    cache: "catalogue",
    returns: { 200: CertifyDiagnostic },
    async handler({ ctx }) {
      return ok(await diagnose(ctx));
    },
  }),
  route({
    id: "readCertificationEligibility",
    method: "get",
    path: "/api/v1/certify/eligibility",
    tag,
    summary: "Whether an agent can be certified now",
    description:
      "For those who may buy for the agent: its owner, and the owner and the admins of its workspace; 404 to " +
      "everybody else. A checkout that waits for its payment is not a reason against it: the same checkout is " +
      "returned again. `certify_disabled` also while the secret suites are switched off.",
    auth: "session",
    query,
    returns: { 200: CertifyEligibility },
    problems: ["not_found"],
    async handler({ ctx, principal, query: asked }) {
      return ok(await readEligibility(ctx, principal, named(asked)));
    },
  }),
  route({
    id: "readCertificationStatus",
    method: "get",
    path: "/api/v1/certify/status",
    tag,
    summary: "The progress of an agent's latest certification",
    description:
      "For the agent's owner and all members of its workspace; 404 to everybody else. The price includes an " +
      "allowance of its own: the `runs_needed` of the last call of the checkout. Runs of tasks that were added to " +
      "the suites between that call and the payment are taken from the monthly allowance, in whole tasks: where that " +
      "does not suffice, the certification is `paused_quota`, and continues by itself once there is allowance again; " +
      "the same holds while the agent can't be called.",
    auth: "session",
    query,
    returns: { 200: CertifyStatusResponse },
    problems: ["not_found"],
    async handler({ ctx, principal, query: asked }) {
      return ok(await readStatus(ctx, principal, named(asked)));
    },
  }),
  route({
    id: "checkOutCertification",
    method: "post",
    path: "/api/v1/certify/checkout",
    tag,
    summary: "Buy a certification of an agent",
    description:
      `One payment of ${PRICE_USD} USD, by the agent's owner, or the owner or an admin of its workspace. The runs that are ` +
      "needed are included and leave the monthly allowance alone. Reasons against it are checked in this order: " +
      "`certify_disabled`, `billing_disabled`, 404, `eu_waiver_required`, `agent_not_live`, `already_certified`, " +
      "`certification_in_progress`, `suite_unavailable`, `payment_not_configured`. An agent has one checkout at a " +
      "time: its address is returned again until it is paid or has expired. One of somebody who may buy for the agent " +
      "no more is closed, and the caller gets a new one. The screening starts with the payment, " +
      "by the tasks of that moment, also where a suite gets a new version; what was not run of one that is retired for " +
      `good is left out. A run that fails by our fault is repeated, ${MOST_AGAIN} times at once and then once a day: there ` +
      `is no verdict without it. After ${GIVE_UP_DAYS} days of tries, or as soon as it could change nothing any more, the ` +
      "certification ends as `not_certified`, and `runs_missing` of its status says how many could not be carried out. A " +
      "cancelled run counts as not passed. A full refund, or a dispute that the buyer wins at the bank, ends the " +
      "certification and revokes what was issued; a partial one changes nothing. A certification stays with its agent when the " +
      "agent is deactivated, moved to a workspace or given another endpoint, and ends when the agent becomes a " +
      "simulated one. Where no payment key is set outside of production, it is granted at once.",
    auth: "session",
    body: CertifyCheckoutRequest,
    returns: { 200: CertifyCheckoutOutcome },
    problems: [
      "certify_disabled",
      "billing_disabled",
      "not_found",
      "eu_waiver_required",
      "agent_not_live",
      "already_certified",
      "certification_in_progress",
      "suite_unavailable",
      "payment_not_configured",
      "payment_in_progress",
      "dependency_unavailable",
    ],
    idempotent: true,
    async handler({ ctx, principal, body }) {
      return ok(await checkout(ctx, principal, body));
    },
  }),
];
