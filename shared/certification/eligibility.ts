import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { agentOwner, hasEndpoint, retiredMode } from "../agents/conditions.ts";
import { read } from "../db/change.ts";
import { agents, certifications, isInScreening } from "../db/schema/index.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { inForce } from "./credential.ts";
import { isOffered } from "./offer.ts";
import { runsNeeded } from "./rules.ts";
import { PRICE_USD } from "./terms.ts";
import { type CertifyEligibility, Reason } from "./shown.ts";

const Found = z.object({ holds: z.record(Reason, z.boolean()), runs_needed: z.int() });

/** SQL: whether each reason against certifying the agent row `a` now holds. */
export function hindrances(ctx: Pick<Context, "env" | "now">): Record<z.output<typeof Reason>, SQL<boolean>> {
  return {
    certify_disabled: sql`${!isOffered(ctx.env)}::boolean`,
    mock_only: sql`(a.connection_mode = 'mock')`,
    retired_connection: retiredMode,
    no_endpoint: sql`(a.connection_mode = 'http_endpoint' and not ${hasEndpoint})`,
    already_certified: sql`exists (select from ${certifications} c where c.agent_id = a.id and ${inForce(ctx.now())})`,
    in_progress: sql`exists (select from ${certifications} c
      where c.agent_id = a.id and ${isInScreening(sql`c.status`)})`,
  };
}

/**
 * Whether an agent can be certified now, every reason why not, and how many runs it takes; throws 404 without the right to
 * buy for it.
 */
export async function readEligibility(
  ctx: Context,
  principal: SessionPrincipal,
  agentId: string,
): Promise<z.output<typeof CertifyEligibility>> {
  const pairs = Object.entries(hindrances(ctx)).map(([name, holds]) => sql`${name}::text, ${holds}`);
  const found = await read(
    ctx,
    Found,
    sql`select jsonb_build_object('holds', jsonb_build_object(${sql.join(pairs, sql`, `)}),
        'runs_needed', ${runsNeeded}) as result from ${agents} a
      where a.id = ${agentId}::uuid and ${may("buy", principal.userId, agentOwner)}`,
  );
  if (found === null) throw notFound("agent");
  const { holds, runs_needed } = found;
  const reasons = Reason.options.filter((name) => holds[name]);
  return { agent_id: agentId, eligible: reasons.length === 0, reasons, price_usd: PRICE_USD, runs_needed };
}
