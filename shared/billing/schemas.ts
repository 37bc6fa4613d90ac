import * as z from "zod";
import { PLAN_NAMES } from "../db/schema/index.ts";

const cadence = z.enum(["monthly", "yearly"]);

export const PlanName = z.enum(PLAN_NAMES);

export const CheckoutRequest = z
  .strictObject({ tier: z.enum(["pro", "team"]), cadence })
  .meta({ id: "CheckoutRequest" });

export const CheckoutResponse = z
  .object({
    kind: z.literal("checkout"),
    url: z.url().meta({ description: "Stripe's page to pay at; send the browser there" }),
    session_id: z.string(),
  })
  .meta({ id: "CheckoutResponse" });

export const DevUpgradeResponse = z
  .object({
    kind: z.literal("dev_upgrade"),
    plan: PlanName.meta({ description: "The account's plan from here on" }),
  })
  .meta({ id: "DevUpgradeResponse" });

export const PlanChangeResponse = z
  .object({
    kind: z.literal("plan_change"),
    plan: z.enum(["pro", "team"]),
    cadence,
    effective_at: z.iso
      .datetime()
      .nullable()
      .meta({
        description:
          "When the subscription had the price; null while a payment for the change is outstanding, or for a renewal " +
          "without which the account does not have the plan",
      }),
  })
  .meta({ id: "PlanChangeResponse" });

export const CheckoutOutcome = z
  .discriminatedUnion("kind", [CheckoutResponse, DevUpgradeResponse, PlanChangeResponse])
  .meta({ id: "CheckoutOutcome" });

export const PortalResponse = z
  .object({
    kind: z.literal("portal"),
    url: z.url().meta({ description: "Stripe's customer portal, for a short time" }),
  })
  .meta({ id: "PortalResponse" });

export const PortalOutcome = z
  .discriminatedUnion("kind", [PortalResponse, DevUpgradeResponse])
  .meta({ id: "PortalOutcome" });

export const PendingPaymentResponse = z
  .object({
    pending: z.boolean().meta({ description: "Whether an invoice of the account's subscription waits to be paid" }),
    url: z.url().nullable().meta({ description: "Stripe's page to pay the invoice at" }),
    processing: z.boolean().meta({
      description: "Whether it was paid by a method that takes days, such as a bank debit: nothing is left to pay then",
    }),
    reason: z
      .enum(["first_payment", "plan_change", "renewal"])
      .nullable()
      .meta({ description: "What the invoice is for: the subscription's start, a change of plan, or another period" }),
  })
  .meta({ id: "PendingPaymentResponse" });

export const BillingStatusResponse = z
  .object({
    billing_enabled: z.boolean().meta({ description: "Whether plans can be bought and cancelled" }),
    payment_configured: z.boolean().meta({ description: "Whether the payment provider is set up" }),
    dev_mode: z.boolean().meta({ description: "Upgrades are instant and cost nothing; never so in production" }),
  })
  .meta({ id: "BillingStatusResponse" });
