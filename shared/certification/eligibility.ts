import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { agentOwner, hasEndpoint, retiredMode } from "../agents/view.ts";
import { agents, certifications } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { inForce } from "./credential.ts";
import { isOffered } from "./offer.ts";
import { PRICE_USD, runsNeeded } from "./rules.ts";
import { type CertifyEligibility, REASONS } from "./schemas.ts";

/** One of the reasons that stand against a certification. */
export type Reason = (typeof REASONS)[number];

/** SQL: whether each reason stands against certifying the agent row `a` now. */
export function hindrances(ctx: Pick<Context, "env" | "now">): Record<Reason, SQL<boolean>> {
  return {
    certify_disabled: sql`${!isOffered(ctx.env)}::boolean`,
    mock_only: sql`(a.connection_mode = 'mock')`,
    retired_connection: retiredMode,
    no_endpoint: sql`(a.connection_mode = 'http_endpoint' and not ${hasEndpoint})`,
    already_certified: sql`exists (select from ${certifications} c where c.agent_id = a.id and ${inForce(ctx.now())})`,
    in_progress: sql`exists (select from ${certifications} c
      where c.agent_id = a.id and c.status in ('screening', 'paused_quota'))`,
  };
}

/**
 * Whether an agent can be certified now, all that stands against it, and how many runs that takes; throws 404 without the
 * right to buy for it.
 */
export async function readEligibility(
  ctx: Context,
  principal: SessionPrincipal,
  agentId: string,
): Promise<z.input<typeof CertifyEligibility>> {
  const pairs = Object.entries(hindrances(ctx)).map(([name, stands]) => sql`${name}::text, ${stands}`);
  const found = await readJson<{ stands: Record<Reason, boolean>; runs_needed: number }>(
    ctx,
    sql`select jsonb_build_object('stands', jsonb_build_object(${sql.join(pairs, sql`, `)}),
        'runs_needed', ${runsNeeded}) as result from ${agents} a
      where a.id = ${agentId}::uuid and ${may("buy", principal.userId, agentOwner)}`,
  );
  if (found === null) throw notFound("agent");
  const { stands, runs_needed } = found;
  const reasons = REASONS.filter((name) => stands[name]);
  return { agent_id: agentId, eligible: reasons.length === 0, reasons, price_usd: PRICE_USD, runs_needed };
}
