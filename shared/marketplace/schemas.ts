import * as z from "zod";
import { line } from "../platform/line.ts";

const usd = z.number();

export const ListingCreate = z
  .strictObject({
    agent_id: z
      .uuid()
      .meta({ description: "A public and active agent that the caller, or a workspace of the caller, owns" }),
    title: line(120),
    description: z.string().max(2000).optional(),
    price_usd: usd.min(1).max(10_000).multipleOf(0.01).meta({ description: "What a buyer pays, once" }),
  })
  .meta({ id: "ListingCreate" });

export const PurchaseCreate = z.strictObject({ listing_id: z.uuid() }).meta({ id: "PurchaseCreate" });
