import { Validator } from "@cfworker/json-schema";
import { describe, expect, test } from "vitest";
import { core } from "../../../shared/suites/public/core/index.ts";
import { addDays, type Call, callsOf, clockOf, expectedCallsOf, inputOf, keyOf } from "./core-support.ts";

/** The call as a key writes it: each argument with its one allowed value. */
const only = ({ name, arguments: args }: Call) => ({
  name,
  arguments: Object.fromEntries(Object.entries(args).map(([arg, value]) => [arg, [value]])),
});

describe.each(core.tasks.filter(({ domain }) => domain === "tool_use").map((task) => [task.slug, task] as const))(
  "%s",
  (_slug, task) => {
    const validates = (call: Call) => {
      const tool = task.tools?.find(({ name }) => name === call.name);
      return tool !== undefined && new Validator(tool.parameters, "2020-12").validate(call.arguments).valid;
    };

    test("every allowed value of the key is valid for its tool", () => {
      for (const { name, arguments: args } of expectedCallsOf(task)) {
        const first = Object.fromEntries(Object.entries(args).map(([arg, [value = null]]) => [arg, value]));
        for (const [arg, allowed] of Object.entries(args)) {
          for (const value of allowed) expect(validates({ name, arguments: { ...first, [arg]: value } })).toBe(true);
        }
      }
    });

    test("the traps are calls that the tools would take", () => {
      for (const trap of task.wrong_answers) expect(callsOf(trap).every(validates)).toBe(true);
    });

    test("offers a tool that is not needed, and expects as many calls as the key has", () => {
      const needed = expectedCallsOf(task).map(({ name }) => name);
      expect(task.tools?.some(({ name }) => !needed.includes(name))).toBe(true);
      expect(task.expected_tool_calls).toBe(needed.length);
    });
  },
);

test("core-tools-rebook-workshop: the key moves the class of the message without a fee", () => {
  const { message, bookings } = inputOf<{
    message: { received: string; customer_id: string };
    bookings: { booking_id: string; customer_id: string; workshop: string; start: string }[];
  }>("core-tools-rebook-workshop");
  const [booking, ...others] = bookings.filter(
    (one) => one.customer_id === message.customer_id && one.workshop === "glazing",
  );
  if (booking === undefined || others.length > 0) throw new Error("The message must mean exactly one booking.");
  const [date = "", time = ""] = booking.start.split("T");
  const monday = [1, 2, 3, 4, 5, 6, 7]
    .map((days) => addDays(date, days))
    .find((day) => new Date(`${day}T00:00Z`).getUTCDay() === 1);
  const noticeHours = (Date.parse(`${booking.start}Z`) - Date.parse(`${message.received}Z`)) / 3_600_000;
  const fee: Call[] =
    noticeHours < 48 ? [{ name: "charge_fee", arguments: { customer_id: message.customer_id, amount_eur: 15 } }] : [];
  expect(
    [
      ...fee,
      { name: "move_booking", arguments: { booking_id: booking.booking_id, start: `${monday}T${time}` } },
      { name: "notify_customer", arguments: { customer_id: message.customer_id, template: "booking_moved" } },
    ].map(only),
  ).toEqual(keyOf("core-tools-rebook-workshop"));
});

test("core-tools-reorder-packs: the key adds packs one by one until the target is met", () => {
  const { articles } = inputOf<{
    articles: {
      sku: string;
      on_hand: number;
      on_its_way: number;
      reorder_at: number;
      target: number;
      pack_size: number;
      discontinued: boolean;
    }[];
  }>("core-tools-reorder-packs");
  const orders = articles.flatMap((article): Call[] => {
    const stock = article.on_hand + article.on_its_way;
    if (article.discontinued || stock > article.reorder_at) return [];
    let packs = 0;
    while (stock + packs * article.pack_size < article.target) packs += 1;
    return [{ name: "order_packs", arguments: { sku: article.sku, packs } }];
  });
  expect(orders.map(only)).toEqual(keyOf("core-tools-reorder-packs"));
});

test("core-tools-courier-details: the key books what is complete and asks for the first gap of the rest", () => {
  const { parcels } = inputOf<{
    parcels: { id: string; pickup: string; delivery: string; weight: string; goods: string }[];
  }>("core-tools-courier-details");
  const calls = parcels.map(({ id, pickup, delivery, weight, goods }): Call => {
    const [, amount, unit] = /^([\d.]+) (k?g)$/.exec(weight) ?? [];
    const details = { pickup: /^\d/.test(pickup), delivery: /^\d/.test(delivery), weight: amount !== undefined };
    const gap = Object.entries(details).find(([, known]) => !known)?.[0];
    if (gap !== undefined) return { name: "ask_sender", arguments: { parcel_id: id, detail: gap } };
    const grams = Math.round(Number(amount) * (unit === "kg" ? 1000 : 1));
    return {
      name: "book_courier",
      arguments: { parcel_id: id, weight_g: grams, service: goods.includes("keep below") ? "cold" : "standard" },
    };
  });
  expect(calls.map(only)).toEqual(keyOf("core-tools-courier-details"));
});

test("core-tools-heating-plan: the key is the note, read phrase by phrase and sorted by start", () => {
  const { zones, note } = inputOf<{ zones: { zone_id: string; name: string }[]; note: string }>(
    "core-tools-heating-plan",
  );
  const hours = ["twelve", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"];
  const shift: Record<string, number> = { "half past": 30, "a quarter past": 15, "a quarter to": -15 };
  const clock = (phrase: string, afternoon: boolean) => {
    const [, part = "", hour = ""] = /^(?:(half past|a quarter past|a quarter to) )?(\w+)/.exec(phrase) ?? [];
    return hour === "noon" ? 720 : hours.indexOf(hour) * 60 + (shift[part] ?? 0) + (afternoon ? 720 : 0);
  };
  const periods = [...note.matchAll(/(print shop|reading room)[^,]*?,? from (.+?) until (.+?), (?:at )?(\d+) F/gi)].map(
    ([, name = "", from = "", until = "", fahrenheit]) => ({
      zone_id: zones.find((zone) => zone.name === name.toLowerCase())?.zone_id ?? null,
      start: clock(from, until.includes("afternoon")),
      end: clock(until, until.includes("afternoon")),
      celsius: Math.round((((Number(fahrenheit) - 32) * 5) / 9) * 2) / 2,
    }),
  );
  const calls = periods
    .toSorted((a, b) => a.start - b.start)
    .map(
      ({ start, end, ...rest }): Call => ({
        name: "set_period",
        arguments: { ...rest, start: clockOf(start), end: clockOf(end) },
      }),
    );
  expect(calls.map(only)).toEqual(keyOf("core-tools-heating-plan"));
});
