import { sql } from "drizzle-orm";
import * as z from "zod";
import { inactive } from "../../agents/connection.ts";
import { agentOwner, visibleAgent } from "../../agents/conditions.ts";
import { change, verdict } from "../../db/change.ts";
import { agents, listings, users } from "../../db/schema/index.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { bodyProblem, notFound, Problem } from "../../platform/problem.ts";
import { may } from "../../teams/rights.ts";
import type { ListingCreate } from "../schemas.ts";
import { ListingRead } from "../shown.ts";
import { listingJson } from "./view.ts";

/**
 * Offers an agent for hire: for its owner, or for the owner of its workspace, who is paid. It replaces the listing of a
 * former owner. Throws 404, `forbidden`, `agent_inactive`, 422 for a private agent, `seller_not_ready`, `already_listed`.
 */
export async function createListing(
  ctx: Context,
  principal: SessionPrincipal,
  input: z.output<typeof ListingCreate>,
): Promise<z.output<typeof ListingRead>> {
  const viewer = principal.userId;
  const offer = verdict(
    {
      forbidden: sql`not ${may("own", viewer, agentOwner)}`,
      inactive: sql`not a.is_active`,
      private: sql`not a.is_public`,
      seller_not_ready: sql`not u.charges_enabled`,
    },
    "already_listed",
  );
  const { listing } = await change(ctx, {
    parts: sql`with target as (
      select a.*, ${offer.sql} as outcome from ${agents} a join ${users} u on u.id = ${viewer}::uuid
      where a.id = ${input.agent_id}::uuid and ${visibleAgent(viewer)}
    ), l as (
      insert into ${listings} as l (agent_id, seller_id, title, description, price_usd)
      select t.id, ${viewer}::uuid, ${input.title}, ${input.description ?? ""}, ${input.price_usd}::numeric
      from target t where t.outcome = 'done'
      on conflict (agent_id) where is_active do update set id = excluded.id, seller_id = excluded.seller_id,
        title = excluded.title, description = excluded.description, price_usd = excluded.price_usd,
        created_at = excluded.created_at
      where l.seller_id <> excluded.seller_id returning *
    )`,
    result: sql`select jsonb_build_object(
      'outcome', case when t.outcome = 'done' and not exists (select from l) then 'already_listed' else t.outcome end,
      'listing', (select ${listingJson(viewer)} from l join target a on a.id = l.agent_id join ${users} u on u.id = l.seller_id)
    ) as result from target t`,
    verdict: offer,
    done: z.object({ listing: ListingRead }),
    refusals: {
      not_found: () => notFound("agent"),
      forbidden: () => new Problem("forbidden", "Only the owner of the agent, or of its workspace, may sell it."),
      inactive,
      private: () =>
        bodyProblem("validation_failed", "/agent_id", "A private agent can't be listed; make it public first."),
      seller_not_ready: () =>
        new Problem(
          "seller_not_ready",
          "You can't be paid yet: POST /api/v1/marketplace/seller-account and finish the onboarding at its url.",
        ),
      already_listed: () =>
        bodyProblem(
          "already_listed",
          "/agent_id",
          "This agent has an active listing, on offer or not: withdraw that one first (GET /api/v1/marketplace/listings?mine=true).",
        ),
    },
  });
  return listing;
}
