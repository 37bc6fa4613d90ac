import * as z from "zod";
import { PURCHASE_STATES } from "../db/schema/index.ts";
import { Instant } from "../platform/time.ts";

const usd = z.number();

const refunded = usd.meta({
  description: "What the buyer has got back of it, by refunds and by disputes that the buyer won at the bank",
});

export const SellerAccountRead = z
  .object({
    url: z.url().meta({ description: "The provider's onboarding page, for one visit within minutes" }),
    charges_enabled: z.boolean().meta({ description: "Whether buyers can pay the account: needed to list an agent" }),
    payouts_enabled: z.boolean().meta({ description: "Whether the provider pays out to the account's bank" }),
  })
  .meta({ id: "SellerAccountRead" });

export const ListingRead = z
  .object({
    id: z.uuid(),
    agent_id: z.uuid(),
    agent_name: z.string(),
    title: z.string(),
    description: z.string(),
    price_usd: usd,
    seller_username: z.string().nullable(),
    is_active: z.boolean(),
    is_own: z.boolean().meta({ description: "Whether the caller is its seller, who may withdraw it and can't buy it" }),
    created_at: Instant,
  })
  .meta({ id: "ListingRead" });

export const PurchaseRead = z
  .object({
    id: z.uuid(),
    listing_id: z.uuid(),
    agent_name: z.string().meta({ description: "The agent's name, as it was bought" }),
    status: z.enum(PURCHASE_STATES),
    price_usd: usd,
    refunded_usd: refunded,
    checkout_url: z.url().nullable().meta({
      description:
        "The provider's payment page, while the payment is awaited; null once it was used, also where the payment is settled days later",
    }),
    hired_agent_id: z
      .uuid()
      .nullable()
      .meta({ description: "The buyer's own agent; null until the payment went through" }),
    created_at: Instant,
    completed_at: Instant.nullable(),
  })
  .meta({ id: "PurchaseRead" });

const SUMMED = {
  price_usd: usd.meta({ description: "What was paid, in US dollars" }),
  refunded_usd: refunded,
  fee_usd: usd.meta({ description: "What the platform keeps of it" }),
  earned_usd: usd.meta({
    description:
      "What is left for the seller: it gets less where the provider takes back what it passed on, which a refund or a " +
      "dispute alone need not lead to, and may be under 0 where the fee is not given back",
  }),
};

/** What its seller is told of a purchase that was paid; who bought is not among it. */
export const SaleRead = z
  .object({
    id: z.uuid(),
    listing_id: z.uuid().nullable().meta({ description: "The listing that was bought; null where it is gone since" }),
    title: z.string().nullable().meta({ description: "The listing's title; null where that is gone since" }),
    agent_name: z.string().meta({ description: "The agent's name, as it was bought" }),
    ...SUMMED,
    completed_at: Instant.meta({ description: "When it was paid" }),
  })
  .meta({ id: "SaleRead" });

export const SaleSums = z.object(SUMMED).meta({ id: "SaleSums" });
