import * as z from "zod";
import { longPageOf, nameSearch, paged, pageOf, pageQuery } from "../../shared/http/paging.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { listListings } from "../../shared/marketplace/listings/list.ts";
import { listPurchases } from "../../shared/marketplace/purchases/list.ts";
import { readPurchase } from "../../shared/marketplace/purchases/read.ts";
import { ListingRead, PurchaseRead } from "../../shared/marketplace/shown.ts";

const tag = "Marketplace";
const params = z.object({ id: z.uuid() });

export const marketplace = [
  route({
    id: "listListings",
    method: "get",
    path: "/api/v1/marketplace/listings",
    tag,
    summary: "Agents for hire, newest first",
    description: "With `q` those whose title or agent's name it is part of.",
    auth: "open",
    query: pageQuery.extend({ q: nameSearch }),
    returns: { 200: longPageOf(ListingRead, "ListingPage") },
    async handler({ ctx, principal, query }) {
      return ok(paged(await listListings(ctx, principal, query), query));
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
