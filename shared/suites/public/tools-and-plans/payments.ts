import type { SeedTask } from "../types.ts";

/** Tool calls that move money: a refund by rules, and bills within a balance. */
export const payments: SeedTask[] = [
  {
    slug: "costume-hire-refund",
    title: "Refund for a partly returned order",
    domain: "tool_use",
    prompt:
      "Settle the return in the input by the shop's rules, with exactly the calls that are needed: one refund for everything that is due, and one notice to the customer with the fitting template. Rules: unopened items are refunded in full, opened ones less 15 percent; worn items are not refunded. Shipping is refunded only if every item of the order comes back. What was refunded before is not refunded again.",
    input: {
      order_id: "ORD-58113",
      customer_id: "C-2207",
      shipping_cents: 690,
      items: [
        { item_id: "I-1", name: "cape", price_cents: 4200, returned: true, state: "opened" },
        { item_id: "I-2", name: "mask", price_cents: 1850, returned: true, state: "unopened" },
        { item_id: "I-3", name: "boots", price_cents: 6900, returned: false, state: null },
        { item_id: "I-4", name: "gloves", price_cents: 1260, returned: true, state: "worn" },
        { item_id: "I-5", name: "wig", price_cents: 2380, returned: true, state: "opened" },
      ],
      earlier_refunds: [{ item_id: "I-2", amount_cents: 1850 }],
    },
    output_format: "tool_calls",
    tools: [
      {
        name: "create_refund",
        description: "Pays money back for an order.",
        parameters: {
          type: "object",
          properties: { order_id: { type: "string" }, amount_cents: { type: "integer", minimum: 1 } },
          required: ["order_id", "amount_cents"],
          additionalProperties: false,
        },
      },
      {
        name: "cancel_order",
        description: "Cancels a whole order and refunds all of it.",
        parameters: {
          type: "object",
          properties: { order_id: { type: "string" } },
          required: ["order_id"],
          additionalProperties: false,
        },
      },
      {
        name: "send_notice",
        description: "Sends the customer a notice made from a template.",
        parameters: {
          type: "object",
          properties: {
            customer_id: { type: "string" },
            template: { enum: ["refund_full", "refund_partial", "refund_declined"] },
          },
          required: ["customer_id", "template"],
          additionalProperties: false,
        },
      },
    ],
    grader: { type: "tool_calls", order: "any" },
    expected_output: [
      { name: "create_refund", arguments: { order_id: ["ORD-58113"], amount_cents: [5593] } },
      { name: "send_notice", arguments: { customer_id: ["C-2207"], template: ["refund_partial"] } },
    ],
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 5_000,
    expected_tool_calls: 2,
    wrong_answers: [
      [
        { name: "create_refund", arguments: { order_id: "ORD-58113", amount_cents: 7443 } },
        { name: "send_notice", arguments: { customer_id: "C-2207", template: "refund_partial" } },
      ],
      [
        { name: "cancel_order", arguments: { order_id: "ORD-58113" } },
        { name: "send_notice", arguments: { customer_id: "C-2207", template: "refund_full" } },
      ],
      [{ name: "create_refund", arguments: { order_id: "ORD-58113", amount_cents: 5593 } }],
    ],
  },
  {
    slug: "orchard-bills-of-march",
    title: "Which bills are paid on which day",
    domain: "tool_use",
    prompt:
      "Schedule the payments for the bills in the input. Bills are taken in the order of their due dates and paid in full as long as the balance suffices for the next one; at the first bill for which it does not, stop. Disputed bills are passed over and use up nothing. A bill is paid on its due date; if that is a Saturday or Sunday, on the Friday before. 1 March 2026 is a Sunday. A discount is taken where one is offered: the payment then goes out on the discount date instead (moved to the Friday before in the same way) and is lower by that percentage; the order of the bills stays that of their due dates. Make exactly the calls that are needed, in any order.",
    input: {
      account_id: "ACC-77",
      balance_cents: 500_000,
      bills: [
        { id: "B-31", due: "2026-03-20", amount_cents: 128_000, disputed: false, discount: null },
        { id: "B-32", due: "2026-03-08", amount_cents: 91_500, disputed: false, discount: null },
        { id: "B-33", due: "2026-03-12", amount_cents: 64_000, disputed: true, discount: null },
        {
          id: "B-34",
          due: "2026-03-27",
          amount_cents: 150_000,
          disputed: false,
          discount: { percent: 2, until: "2026-03-14" },
        },
        { id: "B-35", due: "2026-03-30", amount_cents: 140_000, disputed: false, discount: null },
        { id: "B-36", due: "2026-03-31", amount_cents: 9_000, disputed: false, discount: null },
      ],
    },
    output_format: "tool_calls",
    tools: [
      {
        name: "schedule_payment",
        description: "Pays a bill from an account on a day.",
        parameters: {
          type: "object",
          properties: {
            account_id: { type: "string" },
            bill_id: { type: "string" },
            amount_cents: { type: "integer", minimum: 1 },
            day: { type: "string", description: "YYYY-MM-DD" },
          },
          required: ["account_id", "bill_id", "amount_cents", "day"],
          additionalProperties: false,
        },
      },
      {
        name: "dispute_bill",
        description: "Marks a bill as disputed.",
        parameters: {
          type: "object",
          properties: { bill_id: { type: "string" } },
          required: ["bill_id"],
          additionalProperties: false,
        },
      },
    ],
    grader: { type: "tool_calls", order: "any" },
    expected_output: [
      {
        name: "schedule_payment",
        arguments: { account_id: ["ACC-77"], bill_id: ["B-32"], amount_cents: [91_500], day: ["2026-03-06"] },
      },
      {
        name: "schedule_payment",
        arguments: { account_id: ["ACC-77"], bill_id: ["B-31"], amount_cents: [128_000], day: ["2026-03-20"] },
      },
      {
        name: "schedule_payment",
        arguments: { account_id: ["ACC-77"], bill_id: ["B-34"], amount_cents: [147_000], day: ["2026-03-13"] },
      },
    ],
    time_limit_ms: 60_000,
    reference_cost_usd: 0.006,
    reference_latency_ms: 8_000,
    expected_tool_calls: 3,
    wrong_answers: [
      [
        {
          name: "schedule_payment",
          arguments: { account_id: "ACC-77", bill_id: "B-32", amount_cents: 91_500, day: "2026-03-06" },
        },
        {
          name: "schedule_payment",
          arguments: { account_id: "ACC-77", bill_id: "B-31", amount_cents: 128_000, day: "2026-03-20" },
        },
        {
          name: "schedule_payment",
          arguments: { account_id: "ACC-77", bill_id: "B-34", amount_cents: 147_000, day: "2026-03-13" },
        },
        {
          name: "schedule_payment",
          arguments: { account_id: "ACC-77", bill_id: "B-36", amount_cents: 9_000, day: "2026-03-31" },
        },
      ],
      [
        {
          name: "schedule_payment",
          arguments: { account_id: "ACC-77", bill_id: "B-32", amount_cents: 91_500, day: "2026-03-08" },
        },
        {
          name: "schedule_payment",
          arguments: { account_id: "ACC-77", bill_id: "B-31", amount_cents: 128_000, day: "2026-03-20" },
        },
        {
          name: "schedule_payment",
          arguments: { account_id: "ACC-77", bill_id: "B-34", amount_cents: 150_000, day: "2026-03-27" },
        },
      ],
    ],
  },
];
