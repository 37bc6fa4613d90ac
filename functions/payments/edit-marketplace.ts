import * as z from "zod";
import { created, noContent, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { createListing } from "../../shared/marketplace/listings/create.ts";
import { removeListing } from "../../shared/marketplace/listings/remove.ts";
import { assertSeller } from "../../shared/marketplace/listings/right.ts";
import { createPurchase } from "../../shared/marketplace/purchases/create.ts";
import { ListingCreate, PurchaseCreate } from "../../shared/marketplace/schemas.ts";
import { openSellerAccount } from "../../shared/marketplace/seller/account.ts";
import { ListingRead, PurchaseRead, SellerAccountRead } from "../../shared/marketplace/shown.ts";

const tag = "Marketplace";
const params = z.object({ id: z.uuid() });

export const editMarketplace = [
  route({
    id: "openSellerAccount",
    method: "post",
    path: "/api/v1/marketplace/seller-account",
    tag,
    summary: "Become a seller, or go on with it",
    description:
      "Makes the caller's account at the payment provider, once, and answers with a fresh link to its onboarding each " +
      "time. If the account was deleted there, a new one is made. Until the onboarding is finished `charges_enabled` is " +
      "false; the provider tells when it changes, and is asked with each link.",
    auth: "session",
    returns: { 200: SellerAccountRead },
    problems: ["payment_not_configured", "payment_in_progress"],
    async handler({ ctx, principal }) {
      return ok(await openSellerAccount(ctx, principal));
    },
  }),
  route({
    id: "createListing",
    method: "post",
    path: "/api/v1/marketplace/listings",
    tag,
    summary: "Offer an agent for hire",
    description:
      "What is sold is the agent's `declared_configuration` as it stands when it is bought, never its endpoint or any of " +
      "its credentials. For the agent's owner, or the owner of its workspace, who gets the price less a tenth. An agent " +
      "has one active listing. It is on offer while the agent is public, active and the seller's, and the seller can be " +
      "paid. A listing does not change: delete it and make another.",
    auth: "session",
    body: ListingCreate,
    returns: { 201: ListingRead },
    located: true,
    problems: ["not_found", "forbidden", "agent_inactive", "seller_not_ready", "already_listed"],
    idempotent: true,
    async handler({ ctx, principal, body }) {
      const listing = await createListing(ctx, principal, body);
      return created(listing, `/api/v1/marketplace/listings/${listing.id}`);
    },
  }),
  route({
    id: "deleteListing",
    method: "delete",
    path: "/api/v1/marketplace/listings/{id}",
    tag,
    summary: "Withdraw a listing",
    description: "Purchases that are begun can still be paid. Doing it again changes nothing.",
    auth: "session",
    params,
    right: ({ ctx, principal, params: { id } }) => assertSeller(ctx, principal, id),
    returns: { 204: null },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { id } }) {
      await removeListing(ctx, principal, id);
      return noContent();
    },
  }),
  route({
    id: "createPurchase",
    method: "post",
    path: "/api/v1/marketplace/purchases",
    tag,
    summary: "Hire an agent",
    description:
      "201 with a new purchase, to be paid at `checkout_url`; 200 with the caller's open purchase of the listing while " +
      "that can be paid. Name, configuration and price are those of this moment; an open purchase keeps its name, and gets " +
      "the configuration of this moment anew, unless it was paid at its page. Once the provider says that it is paid, " +
      "the purchase is COMPLETED and `hired_agent_id` an agent of the buyer's own: private, simulated until it is given " +
      "an endpoint, with the configuration that was bought, and a variant of the seller's agent; where the buyer has an " +
      "agent of the name, its name gets a number. It comes whatever the buyer's plan allows, and counts from then on. " +
      "A checkout that expires, or a payment that fails, makes the purchase FAILED; then the listing can be bought anew. " +
      "What is paid back afterwards is `refunded_usd`: the purchase stays COMPLETED, and the agent the buyer's. " +
      "409 `seller_not_ready` where the provider can't pay the seller any more: nothing is charged.",
    auth: "session",
    body: PurchaseCreate,
    returns: { 200: PurchaseRead, 201: PurchaseRead },
    located: true,
    problems: [
      "not_found",
      "own_listing",
      "seller_not_ready",
      "billing_disabled",
      "payment_not_configured",
      "payment_in_progress",
    ],
    idempotent: true,
    async handler({ ctx, principal, body }) {
      const { purchase, isNew } = await createPurchase(ctx, principal, body.listing_id);
      return isNew ? created(purchase, `/api/v1/marketplace/purchases/${purchase.id}`) : ok(purchase);
    },
  }),
];
