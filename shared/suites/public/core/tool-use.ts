import type { SeedTask } from "../types.ts";
import { courierTools, heatingTools, potteryTools, stockTools } from "../../../templates/core/tool-use/tools.ts";

/** Core tasks of the domain `tool_use`: a rebooking, a reorder, a missing detail, a heating plan. */
export const toolUse: SeedTask[] = [
  {
    slug: "core-tools-rebook-workshop",
    title: "A customer moves a workshop",
    domain: "tool_use",
    prompt:
      "You run the bookings of a pottery studio. Do what the customer's message in `input` asks, by the studio's policy, with the tools. All times are the studio's local time. Make only calls that are needed, in this order: a fee where one is due, then the booking, then the notice to the customer.",
    input: {
      now: "2031-09-02T11:15",
      policy: [
        "A booking is moved or cancelled only on the customer's own wish.",
        "A move costs 15 EUR if the message came in less than 48 hours before the start of the booked workshop; otherwise it is free.",
        "After a change the customer gets one notice.",
      ],
      message: {
        received: "2031-09-02T08:40",
        customer_id: "C-204",
        text: "Hello, I cannot come to the glazing class this Thursday. Please put me into the one on the Monday after it, at the same time of day. My wheel-throwing class stays as it is. Thanks, Ilka",
      },
      bookings: [
        {
          booking_id: "B-881",
          customer_id: "C-204",
          workshop: "wheel throwing",
          start: "2031-09-04T14:00",
          weekday: "Thursday",
        },
        {
          booking_id: "B-884",
          customer_id: "C-204",
          workshop: "glazing",
          start: "2031-09-04T09:00",
          weekday: "Thursday",
        },
        {
          booking_id: "B-890",
          customer_id: "C-240",
          workshop: "glazing",
          start: "2031-09-04T09:00",
          weekday: "Thursday",
        },
      ],
    },
    output_format: "tool_calls",
    tools: [...potteryTools],
    grader: { type: "tool_calls", order: "strict" },
    expected_output: [
      { name: "move_booking", arguments: { booking_id: ["B-884"], start: ["2031-09-08T09:00"] } },
      { name: "notify_customer", arguments: { customer_id: ["C-204"], template: ["booking_moved"] } },
    ],
    expected_tool_calls: 2,
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 6_000,
    wrong_answers: [
      [
        { name: "charge_fee", arguments: { customer_id: "C-204", amount_eur: 15 } },
        { name: "move_booking", arguments: { booking_id: "B-884", start: "2031-09-08T09:00" } },
        { name: "notify_customer", arguments: { customer_id: "C-204", template: "booking_moved" } },
      ],
      [
        { name: "move_booking", arguments: { booking_id: "B-881", start: "2031-09-08T14:00" } },
        { name: "notify_customer", arguments: { customer_id: "C-204", template: "booking_moved" } },
      ],
      [{ name: "move_booking", arguments: { booking_id: "B-884", start: "2031-09-08T09:00" } }],
    ],
  },
  {
    slug: "core-tools-reorder-packs",
    title: "Filling up the shelves",
    domain: "tool_use",
    prompt:
      "For each article in `input` decide whether it must be ordered, and place the orders with the tools, one call per article, in any order. Rule: an article counts as low when what is on hand plus what is already on its way is at or below its `reorder_at`. Of a low article order the fewest full packs that bring stock (on hand plus on its way plus the order) to at least `target`. Discontinued articles are never ordered. Change no settings and write to nobody.",
    input: {
      articles: [
        { sku: "LMP-01", on_hand: 14, on_its_way: 0, reorder_at: 20, target: 60, pack_size: 12, discontinued: false },
        { sku: "LMP-02", on_hand: 9, on_its_way: 24, reorder_at: 20, target: 60, pack_size: 12, discontinued: false },
        { sku: "CBL-07", on_hand: 25, on_its_way: 5, reorder_at: 30, target: 80, pack_size: 10, discontinued: false },
        { sku: "CBL-09", on_hand: 2, on_its_way: 0, reorder_at: 15, target: 40, pack_size: 8, discontinued: true },
        { sku: "FUS-33", on_hand: 6, on_its_way: 3, reorder_at: 10, target: 100, pack_size: 25, discontinued: false },
        { sku: "SWT-12", on_hand: 41, on_its_way: 0, reorder_at: 40, target: 90, pack_size: 10, discontinued: false },
      ],
    },
    output_format: "tool_calls",
    tools: [...stockTools],
    grader: { type: "tool_calls", order: "any" },
    expected_output: [
      { name: "order_packs", arguments: { sku: ["LMP-01"], packs: [4] } },
      { name: "order_packs", arguments: { sku: ["CBL-07"], packs: [5] } },
      { name: "order_packs", arguments: { sku: ["FUS-33"], packs: [4] } },
    ],
    expected_tool_calls: 3,
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 6_000,
    wrong_answers: [
      [
        { name: "order_packs", arguments: { sku: "LMP-01", packs: 4 } },
        { name: "order_packs", arguments: { sku: "FUS-33", packs: 4 } },
      ],
      [
        { name: "order_packs", arguments: { sku: "LMP-01", packs: 46 } },
        { name: "order_packs", arguments: { sku: "CBL-07", packs: 50 } },
        { name: "order_packs", arguments: { sku: "FUS-33", packs: 91 } },
      ],
      [
        { name: "order_packs", arguments: { sku: "LMP-01", packs: 4 } },
        { name: "order_packs", arguments: { sku: "LMP-02", packs: 5 } },
        { name: "order_packs", arguments: { sku: "CBL-07", packs: 5 } },
        { name: "order_packs", arguments: { sku: "FUS-33", packs: 4 } },
      ],
    ],
  },
  {
    slug: "core-tools-courier-details",
    title: "Parcels with gaps in their data",
    domain: "tool_use",
    prompt:
      "Book a courier for every parcel in `input` whose details are complete. A parcel needs a pickup address, a delivery address and a weight; nothing may be guessed or taken from another parcel. For a parcel with gaps ask the sender instead, once, naming its first missing detail in the order pickup, delivery, weight. The service is `cold` for goods that must stay cool, otherwise `standard`. Weights go to the tool in grams. One call per parcel, in any order.",
    input: {
      parcels: [
        { id: "P-1", pickup: "4 Quill Lane", delivery: "19 Tanner Row", weight: "1.25 kg", goods: "printed leaflets" },
        { id: "P-2", pickup: "4 Quill Lane", delivery: "", weight: "800 g", goods: "cheese, keep below 8 °C" },
        {
          id: "P-3",
          pickup: "7 Mill Court",
          delivery: "2 Orchard Way",
          weight: "0.4 kg",
          goods: "yoghurt starter, keep below 8 °C",
        },
        { id: "P-4", pickup: "to be confirmed", delivery: "31 Dyer Street", weight: "", goods: "wool samples" },
        { id: "P-5", pickup: "7 Mill Court", delivery: "8 Ropewalk", weight: "heavy", goods: "cast iron pan" },
      ],
    },
    output_format: "tool_calls",
    tools: [...courierTools],
    grader: { type: "tool_calls", order: "any" },
    expected_output: [
      { name: "book_courier", arguments: { parcel_id: ["P-1"], weight_g: [1250], service: ["standard"] } },
      { name: "ask_sender", arguments: { parcel_id: ["P-2"], detail: ["delivery"] } },
      { name: "book_courier", arguments: { parcel_id: ["P-3"], weight_g: [400], service: ["cold"] } },
      { name: "ask_sender", arguments: { parcel_id: ["P-4"], detail: ["pickup"] } },
      { name: "ask_sender", arguments: { parcel_id: ["P-5"], detail: ["weight"] } },
    ],
    expected_tool_calls: 5,
    time_limit_ms: 60_000,
    reference_cost_usd: 0.005,
    reference_latency_ms: 7_000,
    wrong_answers: [
      [
        { name: "book_courier", arguments: { parcel_id: "P-1", weight_g: 1250, service: "standard" } },
        { name: "ask_sender", arguments: { parcel_id: "P-2", detail: "delivery" } },
        { name: "book_courier", arguments: { parcel_id: "P-3", weight_g: 400, service: "cold" } },
        { name: "ask_sender", arguments: { parcel_id: "P-4", detail: "weight" } },
        { name: "book_courier", arguments: { parcel_id: "P-5", weight_g: 5000, service: "standard" } },
      ],
      [
        { name: "book_courier", arguments: { parcel_id: "P-1", weight_g: 1250, service: "standard" } },
        { name: "ask_sender", arguments: { parcel_id: "P-2", detail: "delivery" } },
        { name: "book_courier", arguments: { parcel_id: "P-3", weight_g: 400, service: "cold" } },
        { name: "ask_sender", arguments: { parcel_id: "P-4", detail: "pickup" } },
        { name: "ask_sender", arguments: { parcel_id: "P-4", detail: "weight" } },
        { name: "ask_sender", arguments: { parcel_id: "P-5", detail: "weight" } },
      ],
    ],
  },
  {
    slug: "core-tools-heating-plan",
    title: "A heating plan from a note",
    domain: "tool_use",
    prompt:
      "Turn the note in `input` into tool calls, one per heating period, in the order in which the periods begin. The note gives temperatures in degrees Fahrenheit; the tool wants Celsius, (F − 32) × 5 / 9, rounded to the nearest half degree. Times are 24-hour HH:MM. Zones are named by their id.",
    input: {
      zones: [
        { zone_id: "z-03", name: "reading room" },
        { zone_id: "z-05", name: "reading room annex" },
        { zone_id: "z-11", name: "print shop" },
        { zone_id: "z-12", name: "workshop" },
      ],
      note: "For tomorrow: print shop from a quarter past nine in the morning until noon, 62 F. Reading room (the annex not!) from a quarter to seven in the morning until half past eight in the morning, 68 F. And the reading room once more, from half past one until five in the afternoon, at 71 F.",
    },
    output_format: "tool_calls",
    tools: [...heatingTools],
    grader: { type: "tool_calls", order: "strict" },
    expected_output: [
      { name: "set_period", arguments: { zone_id: ["z-03"], start: ["06:45"], end: ["08:30"], celsius: [20] } },
      { name: "set_period", arguments: { zone_id: ["z-11"], start: ["09:15"], end: ["12:00"], celsius: [16.5] } },
      { name: "set_period", arguments: { zone_id: ["z-03"], start: ["13:30"], end: ["17:00"], celsius: [21.5] } },
    ],
    expected_tool_calls: 3,
    time_limit_ms: 60_000,
    reference_cost_usd: 0.004,
    reference_latency_ms: 6_000,
    wrong_answers: [
      [
        { name: "set_period", arguments: { zone_id: "z-11", start: "09:15", end: "12:00", celsius: 16.5 } },
        { name: "set_period", arguments: { zone_id: "z-03", start: "06:45", end: "08:30", celsius: 20 } },
        { name: "set_period", arguments: { zone_id: "z-03", start: "13:30", end: "17:00", celsius: 21.5 } },
      ],
      [
        { name: "set_period", arguments: { zone_id: "z-03", start: "06:45", end: "08:30", celsius: 20 } },
        { name: "set_period", arguments: { zone_id: "z-11", start: "09:15", end: "12:00", celsius: 17 } },
        { name: "set_period", arguments: { zone_id: "z-03", start: "13:30", end: "17:00", celsius: 22 } },
      ],
      [
        { name: "set_period", arguments: { zone_id: "z-03", start: "07:15", end: "08:30", celsius: 20 } },
        { name: "set_period", arguments: { zone_id: "z-11", start: "09:15", end: "12:00", celsius: 16.5 } },
        { name: "set_period", arguments: { zone_id: "z-03", start: "01:30", end: "05:00", celsius: 21.5 } },
      ],
    ],
  },
];
