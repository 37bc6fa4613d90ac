import * as z from "zod";
import { longPageOf, nameSearch, paged, pageOf, pageQuery } from "../../shared/http/paging.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { listOwnListings } from "../../shared/marketplace/listings/list-own.ts";
import { listListings } from "../../shared/marketplace/listings/list.ts";
import { readListing } from "../../shared/marketplace/listings/read.ts";
import { listSales } from "../../shared/marketplace/purchases/list-sales.ts";
import { listPurchases } from "../../shared/marketplace/purchases/list.ts";
import { readPurchase } from "../../shared/marketplace/purchases/read.ts";
import { ListingRead, PurchaseRead, SaleRead, SaleSums } from "../../shared/marketplace/shown.ts";
import { conflicting } from "../../shared/platform/problem.ts";

const tag = "Marketplace";
const params = z.object({ id: z.uuid() });

export const marketplace = [
  route({
    id: "listListings",
    method: "get",
    path: "/api/v1/marketplace/listings",
    tag,
    summary: "Agents for hire, newest first",
    description:
      "With `q` those whose title or agent's name it is part of. With `mine`, in a session, the caller's own that are not " +
      "withdrawn, whether or not they are on offer now; `q` and `mine` exclude each other.",
    auth: "open",
    query: pageQuery.extend({ q: nameSearch, mine: z.stringbool().default(false) }),
    returns: { 200: longPageOf(ListingRead, "ListingPage") },
    problems: ["conflicting_parameters", "session_required"],
    async handler({ ctx, principal, query }) {
      if (query.mine && query.q !== undefined) throw conflicting(["q", "mine"]);
      const list = query.mine ? listOwnListings : listListings;
      return ok(paged(await list(ctx, principal, query), query));
    },
  }),
  route({
    id: "readListing",
    method: "get",
    path: "/api/v1/marketplace/listings/{id}",
    tag,
    summary: "One listing",
    description:
      "One that is off offer is 404 for everybody but its seller, in a session, who has to see its agent: what was bought " +
      "is among the buyer's purchases.",
    auth: "open",
    params,
    returns: { 200: ListingRead },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { id } }) {
      return ok(await readListing(ctx, principal, id));
    },
  }),
  route({
    id: "listSales",
    method: "get",
    path: "/api/v1/marketplace/sales",
    tag,
    summary: "Own sales, the last paid first",
    description:
      "What was paid for the caller's listings, without who paid, and the sums over all pages. What a buyer gets back " +
      "afterwards at the payment provider, by a refund or by a dispute once it is lost, is `refunded_usd`; `fee_usd` and " +
      "`earned_usd` are what is left after what the provider gave back of the fee and took back from the seller.",
    auth: "session",
    query: pageQuery,
    returns: {
      200: pageOf(SaleRead, "SalePage")
        .extend({ sums: SaleSums.meta({ description: "Of all sales, on whatever page" }) })
        .meta({ id: "SalePage" }),
    },
    async handler({ ctx, principal, query }) {
      const { sums, ...page } = await listSales(ctx, principal, query);
      return ok({ ...paged(page, query), sums });
    },
  }),
  route({
    id: "listPurchases",
    method: "get",
    path: "/api/v1/marketplace/purchases",
    tag,
    summary: "Own purchases, newest first",
    auth: "session",
    query: pageQuery,
    returns: { 200: pageOf(PurchaseRead, "PurchasePage") },
    async handler({ ctx, principal, query }) {
      return ok(paged(await listPurchases(ctx, principal, query), query));
    },
  }),
  route({
    id: "readPurchase",
    method: "get",
    path: "/api/v1/marketplace/purchases/{id}",
    tag,
    summary: "One of the caller's purchases",
    auth: "session",
    params,
    returns: { 200: PurchaseRead },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { id } }) {
      return ok(await readPurchase(ctx, principal, id));
    },
  }),
];
