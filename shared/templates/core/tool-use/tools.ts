import type { Tool } from "../../types.ts";

// Instances hold these tools: none may change without a new version of the templates that offer it.

/** Tools of a pottery studio's booking desk. */
export const potteryTools: readonly Tool[] = [
  {
    name: "move_booking",
    description: "Moves a booking to another start.",
    parameters: {
      type: "object",
      properties: {
        booking_id: { type: "string" },
        start: { type: "string", description: "New start in local time, YYYY-MM-DDTHH:MM." },
      },
      required: ["booking_id", "start"],
      additionalProperties: false,
    },
  },
  {
    name: "cancel_booking",
    description: "Cancels a booking for good.",
    parameters: {
      type: "object",
      properties: { booking_id: { type: "string" } },
      required: ["booking_id"],
      additionalProperties: false,
    },
  },
  {
    name: "charge_fee",
    description: "Charges a fee to a customer.",
    parameters: {
      type: "object",
      properties: { customer_id: { type: "string" }, amount_eur: { type: "number", exclusiveMinimum: 0 } },
      required: ["customer_id", "amount_eur"],
      additionalProperties: false,
    },
  },
  {
    name: "notify_customer",
    description: "Sends one notice to a customer.",
    parameters: {
      type: "object",
      properties: {
        customer_id: { type: "string" },
        template: { enum: ["booking_moved", "booking_cancelled", "fee_charged"] },
      },
      required: ["customer_id", "template"],
      additionalProperties: false,
    },
  },
];

/** Tools of a shop's stock room. */
export const stockTools: readonly Tool[] = [
  {
    name: "order_packs",
    description: "Orders full packs of one article.",
    parameters: {
      type: "object",
      properties: { sku: { type: "string" }, packs: { type: "integer", minimum: 1 } },
      required: ["sku", "packs"],
      additionalProperties: false,
    },
  },
  {
    name: "set_reorder_level",
    description: "Changes the level at which an article counts as low.",
    parameters: {
      type: "object",
      properties: { sku: { type: "string" }, reorder_at: { type: "integer", minimum: 0 } },
      required: ["sku", "reorder_at"],
      additionalProperties: false,
    },
  },
  {
    name: "mail_supplier",
    description: "Writes a mail to the supplier of an article.",
    parameters: {
      type: "object",
      properties: { sku: { type: "string" }, text: { type: "string" } },
      required: ["sku", "text"],
      additionalProperties: false,
    },
  },
];

/** Tools of a courier desk. */
export const courierTools: readonly Tool[] = [
  {
    name: "book_courier",
    description: "Books the courier for one parcel.",
    parameters: {
      type: "object",
      properties: {
        parcel_id: { type: "string" },
        weight_g: { type: "integer", minimum: 1 },
        service: { enum: ["standard", "cold", "express"] },
      },
      required: ["parcel_id", "weight_g", "service"],
      additionalProperties: false,
    },
  },
  {
    name: "ask_sender",
    description: "Asks the sender for one missing detail of a parcel.",
    parameters: {
      type: "object",
      properties: { parcel_id: { type: "string" }, detail: { enum: ["pickup", "delivery", "weight"] } },
      required: ["parcel_id", "detail"],
      additionalProperties: false,
    },
  },
  {
    name: "return_to_sender",
    description: "Gives a parcel back to its sender.",
    parameters: {
      type: "object",
      properties: { parcel_id: { type: "string" } },
      required: ["parcel_id"],
      additionalProperties: false,
    },
  },
];

/** Tools of a building's heating. */
export const heatingTools: readonly Tool[] = [
  {
    name: "set_period",
    description: "Heats one zone in one period of tomorrow.",
    parameters: {
      type: "object",
      properties: {
        zone_id: { type: "string" },
        start: { type: "string", description: "HH:MM" },
        end: { type: "string", description: "HH:MM" },
        celsius: { type: "number", minimum: 5, maximum: 30, multipleOf: 0.5 },
      },
      required: ["zone_id", "start", "end", "celsius"],
      additionalProperties: false,
    },
  },
  {
    name: "set_holiday",
    description: "Turns the heating of one zone off for a whole day.",
    parameters: {
      type: "object",
      properties: { zone_id: { type: "string" } },
      required: ["zone_id"],
      additionalProperties: false,
    },
  },
  {
    name: "boost",
    description: "Heats one zone at once for some minutes.",
    parameters: {
      type: "object",
      properties: { zone_id: { type: "string" }, minutes: { type: "integer", minimum: 5, maximum: 120 } },
      required: ["zone_id", "minutes"],
      additionalProperties: false,
    },
  },
];
