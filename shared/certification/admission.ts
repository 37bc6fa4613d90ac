import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { agentOwner } from "../agents/conditions.ts";
import { type Change, type Verdict, verdict } from "../db/change.ts";
import { agents, certifications } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import { bodyProblem, notFound, Problem } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { hindrances } from "./eligibility.ts";
import { lockCertified } from "./lock.ts";
import { certificationTasks } from "./rules.ts";
import type { CertifyCheckoutRequest } from "./schemas.ts";

type Case = "no_waiver" | "not_live" | "already_certified" | "in_progress" | "no_task" | "not_configured";

/** What every change that begins a certification has in common. */
export interface Admission extends Pick<Change<z.ZodType, Case>, "refusals" | "verdict"> {
  lock: SQL;
  /**
   * The part `admitted`: at most one row, of the agent, with its `outcome`, the `certification_id`, and, where a checkout
   * is open already, its `open_id`, `checkout_session_id`, buyer, and whether that one may buy no more (`is_left`).
   */
  admitted: SQL;
}

/** Whether `viewer` may have the agent of a request certified now. `isPayable` is false where nothing can be paid. */
export function admissionOf(
  ctx: Context,
  viewer: string,
  { agent_id, eu_waiver_accepted }: z.output<typeof CertifyCheckoutRequest>,
  isPayable: boolean,
): Admission {
  const found = verdictOf(ctx, eu_waiver_accepted, isPayable);
  const agent = sql`${agent_id}::uuid`;
  return {
    lock: lockCertified(
      sql`select ${agent}`,
      sql`select ${viewer}::uuid union select c.user_id from ${certifications} c where c.agent_id = ${agent}`,
    ),
    admitted: sql`admitted as (
      select a.id as agent_id, o.id as open_id, coalesce(o.id, ${newId(ctx.now())}::uuid) as certification_id,
        o.checkout_session_id, coalesce(o.user_id, ${viewer}::uuid) as buyer_id,
        o.id is not null and ${may("buy", sql`o.user_id`, agentOwner)} is not true as is_left, ${found.sql} as outcome
      from ${agents} a left join ${certifications} o on o.agent_id = a.id and o.status = 'awaiting_payment'
      where a.id = ${agent} and ${may("buy", viewer, agentOwner)}
    )`,
    verdict: found,
    refusals: REFUSALS,
  };
}

function verdictOf(ctx: Context, hasWaived: boolean, isPayable: boolean): Verdict<Case> {
  const { mock_only, retired_connection, no_endpoint, already_certified, in_progress } = hindrances(ctx);
  return verdict({
    no_waiver: sql`not ${hasWaived}::boolean`,
    not_live: sql`${mock_only} or ${retired_connection} or ${no_endpoint}`,
    already_certified,
    in_progress,
    no_task: sql`not exists (select from ${certificationTasks})`,
    not_configured: sql`not ${isPayable}::boolean`,
  });
}

const REFUSALS: Admission["refusals"] = {
  not_found: () => notFound("agent"),
  no_waiver: () =>
    bodyProblem(
      "eu_waiver_required",
      "/eu_waiver_accepted",
      "The screening starts at once, so the right of withdrawal has to be waived: send true.",
    ),
  not_live: () =>
    new Problem(
      "agent_not_live",
      "Only an agent that can be called is certified: set its mode to http_endpoint, give it an endpoint, and activate it.",
    ),
  already_certified: () =>
    new Problem("already_certified", "The agent has a certification in force; buy the next one once it has expired."),
  in_progress: () => inProgress("See its status for the progress."),
  no_task: () => new Problem("suite_unavailable", "There is no active task to certify by; nothing was bought."),
  not_configured: () =>
    new Problem("payment_not_configured", "Certifications can't be paid here; the operator has to set a price."),
};

/** The problem of an agent whose certification is under way. */
export function inProgress(advice: string): Problem {
  return new Problem("certification_in_progress", `The agent is being certified. ${advice}`);
}
