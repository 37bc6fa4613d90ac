import { sql } from "drizzle-orm";
import type * as z from "zod";
import { inactive } from "../../agents/connection.ts";
import { agentOwner, visibleAgent } from "../../agents/view.ts";
import { agents, listings, users } from "../../db/schema/index.ts";
import { writeJson } from "../../db/statement.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { bodyProblem, notFound, Problem } from "../../platform/problem.ts";
import { may } from "../../teams/rights.ts";
import { listingJson, type ListingRow } from "./view.ts";
import type { ListingCreate } from "../schemas.ts";

interface Outcome {
  outcome: "no_agent" | "forbidden" | "inactive" | "private" | "seller_not_ready" | "already_listed" | "listed";
  listing: ListingRow | null;
}

/**
 * Offers an agent for hire: for its owner, or for the owner of its workspace, who is paid. A listing by somebody who
 * owned the agent before gives way. Throws 404, `forbidden`, `agent_inactive`, 422 for a private agent,
 * `seller_not_ready`, `already_listed`.
 */
export async function createListing(
  ctx: Context,
  principal: SessionPrincipal,
  input: z.output<typeof ListingCreate>,
): Promise<ListingRow> {
  const viewer = principal.userId;
  const ctes = sql`with judged as (
    select a.*, case
      when not ${may("own", viewer, agentOwner)} then 'forbidden'
      when not a.is_active then 'inactive'
      when not a.is_public then 'private'
      when not u.charges_enabled then 'seller_not_ready'
      else 'listed' end as outcome
    from ${agents} a join ${users} u on u.id = ${viewer}::uuid
    where a.id = ${input.agent_id}::uuid and ${visibleAgent(viewer)}
  ), l as (
    insert into ${listings} as l (agent_id, seller_id, title, description, price_usd)
    select j.id, ${viewer}::uuid, ${input.title}, ${input.description ?? ""}, ${input.price_usd}::numeric
    from judged j where j.outcome = 'listed'
    on conflict (agent_id) where is_active do update set id = excluded.id, seller_id = excluded.seller_id,
      title = excluded.title, description = excluded.description, price_usd = excluded.price_usd,
      created_at = excluded.created_at
    where l.seller_id <> excluded.seller_id returning *
  )`;
  const result = sql`select jsonb_build_object(
    'outcome', coalesce((select case when j.outcome = 'listed' and not exists (select from l) then 'already_listed'
      else j.outcome end from judged j), 'no_agent'),
    'listing', (select ${listingJson} from l join judged a on a.id = l.agent_id join ${users} u on u.id = l.seller_id)
  ) as result`;
  return judge(await writeJson<Outcome>(ctx, ctes, result));
}

function judge({ outcome, listing }: Outcome): ListingRow {
  switch (outcome) {
    case "no_agent":
      throw notFound("agent");
    case "forbidden":
      throw new Problem("forbidden", "Only the owner of the agent, or of its workspace, may sell it.");
    case "inactive":
      throw inactive();
    case "private":
      throw bodyProblem("validation_failed", "/agent_id", "A private agent can't be listed; make it public first.");
    case "seller_not_ready":
      throw new Problem(
        "seller_not_ready",
        "You can't be paid yet: POST /api/v1/marketplace/seller-account and finish the onboarding at its url.",
      );
    case "already_listed":
      throw new Problem("already_listed", "This agent has an active listing; DELETE that one to replace it.");
    default:
      return listing as ListingRow;
  }
}
