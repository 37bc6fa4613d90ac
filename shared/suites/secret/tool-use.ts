import { zip } from "../../templates/lists.ts";
import { clock, dayNumber, isoDate, money, prose } from "../../templates/text.ts";
import { quayOrders } from "./quay-orders.ts";
import { COUNT, TEXT, tool } from "./tools.ts";
import { defineTemplate } from "./types.ts";
import { FAMILY_NAMES } from "../../templates/words.ts";

const REFUND_TOOLS = [
  tool("issue_refund", "Pays money back for one order.", {
    order_id: TEXT,
    amount_cents: COUNT,
    reason: { type: "string", enum: ["damaged", "withdrawal"] },
  }),
  tool("send_notice", "Sends the customer of one order a standard letter.", {
    order_id: TEXT,
    notice: { type: "string", enum: ["too_late", "reminder"] },
  }),
  tool("close_order", "Closes an order for good; no refund is possible afterwards.", { order_id: TEXT }),
];

const refunds = defineTemplate(
  {
    id: "refund-calls",
    title: "Returns of the day",
    domain: "tool_use",
    output_format: "tool_calls",
    reference_cost_usd: 0.008,
    reference_latency_ms: 9000,
  },
  (random) => {
    const [shop] = random.companies(1);
    const [damaged, plain, opened, late, kept] = random.codes("O", 5);
    const limit = random.int(14, 30);
    const feePercent = random.pick([5, 8, 12, 15]);
    const order = (order_id: string, days: number | null, condition: "damaged" | "unopened" | "opened") => {
      const delivered = dayNumber(2027, 1, 1) + random.int(0, 300);
      return {
        order_id,
        delivered_on: isoDate(delivered),
        returned_on: days === null ? null : isoDate(delivered + days),
        condition,
        price: random.int(1100, 19_900),
        shipping: random.int(250, 990),
      };
    };
    const orders = [
      order(damaged, limit + random.int(1, 20), "damaged"),
      order(plain, limit, "unopened"),
      order(opened, random.int(2, limit - 1), "opened"),
      order(late, limit + 1, random.pick(["unopened", "opened"])),
      order(kept, null, "unopened"),
    ] as const;
    const openedFee = Math.ceil((orders[2].price * feePercent) / 100);
    const refund = (order_id: string, cents: number, reason: string) => ({
      name: "issue_refund",
      arguments: { order_id: [order_id], amount_cents: [cents], reason: [reason] },
    });
    return {
      prompt: prose(
        `Handle the orders of ${shop} in the input by calling the tools; prices are in dollars. What came back damaged is`,
        "refunded with price and shipping, whenever it came back. What else came back is refunded with its price, without the",
        `shipping, if it came back within ${limit} days of the delivery (on day ${limit} after it is still in time); if it had`,
        `been opened, ${feePercent}% of the price is kept, rounded up to the full cent. What came back later gets the notice that`,
        "it is too late. What has not come back gets nothing. Make no other call; the order of the calls does not matter.",
      ),
      input: {
        orders: random
          .shuffle(orders)
          .map(({ price, shipping, ...rest }) => ({ ...rest, price: money(price), shipping: money(shipping) })),
      },
      tools: REFUND_TOOLS,
      grader: { type: "tool_calls", order: "any" },
      expected_output: [
        refund(damaged, orders[0].price + orders[0].shipping, "damaged"),
        refund(plain, orders[1].price, "withdrawal"),
        refund(opened, orders[2].price - openedFee, "withdrawal"),
        { name: "send_notice", arguments: { order_id: [late], notice: ["too_late"] } },
      ],
      expected_tool_calls: 4,
    };
  },
);

const BOOKING_TOOLS = [
  tool("create_booking", "Books a room. Times are UTC, as YYYY-MM-DDTHH:MM:SSZ.", {
    room_id: TEXT,
    start_utc: TEXT,
    duration_minutes: COUNT,
    attendee_ids: { type: "array", items: { type: "string" }, minItems: 1 },
  }),
  tool("cancel_booking", "Cancels a booking for good.", { booking_id: TEXT }),
  tool("extend_booking", "Makes a booking longer; its start stays.", { booking_id: TEXT, extra_minutes: COUNT }),
];
const TOPICS = ["Budget review", "Safety briefing", "Hiring round", "Warehouse plan"] as const;

const rebook = defineTemplate(
  {
    id: "rebooking-calls",
    title: "Moving a meeting",
    domain: "tool_use",
    output_format: "tool_calls",
    reference_cost_usd: 0.008,
    reference_latency_ms: 9000,
  },
  (random) => {
    const [first, ...others] = random.people(6);
    const families = random.sample(FAMILY_NAMES, 7);
    const ids = random.codes("U", 7);
    const host = { person_id: ids[0], name: `${first} ${families[0]}` };
    const namesake = { person_id: ids[1], name: `${first} ${families[1]}` };
    const staff = zip(others, zip(ids, families).slice(2)).map(([name, [person_id, family]]) => ({
      person_id,
      name: `${name} ${family}`,
    }));
    const guests = random.sample(staff, random.int(3, 4));
    const heads = guests.length + 1;
    const [roomIds, bookingIds] = [random.codes("R", 5), random.codes("B", 3)];
    const [topic, otherTopic] = random.sample(TOPICS, 2);
    const seatCounts = [heads - 1, heads + random.int(0, 1), heads, heads + 2, heads + 6];
    const rooms = zip(roomIds, seatCounts).map(([room_id, seats], i) => ({ room_id, seats, screen: i !== 2 }));
    const best = roomIds[1];
    const bookings = [
      { booking_id: bookingIds[0], host: host.name, topic, room_id: roomIds[3] },
      { booking_id: bookingIds[1], host: namesake.name, topic, room_id: roomIds[4] },
      { booking_id: bookingIds[2], host: host.name, topic: otherTopic, room_id: best },
    ];
    const day = dayNumber(2027, 1, 1) + random.int(0, 360);
    // In the east in the morning, and in the west in the evening, UTC has another date.
    const [hours, start] = random.pick([
      [random.int(8, 11), 60 * random.int(5, 7)] as const,
      [-random.int(6, 9), 60 * random.int(18, 20)] as const,
    ]);
    const local = start + 15 * random.int(0, 3);
    const utc = 1440 * day + local - 60 * hours;
    const duration = 15 * random.int(2, 7);
    const offset = `UTC${hours < 0 ? "-" : "+"}${clock(60 * Math.abs(hours))}`;
    return {
      prompt: prose(
        `Move the meeting "${topic}" of ${host.name} by calling the tools: it shall begin on ${isoDate(day)} at`,
        `${clock(local)} local time (${offset}) and last ${duration} minutes. Besides the host come`,
        `${guests.map(({ name }) => name).join(", ")}. Book the room with the fewest seats that has a screen and a seat for each`,
        "person who comes, the host included; all rooms are free then. Make the new booking first, then cancel the old one, and",
        "make no other call. The attendees are the host, then the others in the order in which they stand here.",
      ),
      input: {
        people: random.shuffle([host, namesake, ...staff]),
        rooms: random.shuffle(rooms),
        bookings: random.shuffle(bookings),
      },
      tools: BOOKING_TOOLS,
      grader: { type: "tool_calls", order: "strict" },
      expected_output: [
        {
          name: "create_booking",
          arguments: {
            room_id: [best],
            start_utc: [`${isoDate(Math.floor(utc / 1440))}T${clock(utc)}:00Z`],
            duration_minutes: [duration],
            attendee_ids: [[host, ...guests].map(({ person_id }) => person_id)],
          },
        },
        { name: "cancel_booking", arguments: { booking_id: [bookingIds[0]] } },
      ],
      expected_tool_calls: 2,
    };
  },
);

/** Templates of the domain `tool_use`. */
export const toolUseTemplates = [refunds, rebook, quayOrders];
