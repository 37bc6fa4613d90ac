import type { Json } from "../../../../shared/grading/schema.ts";
import { allGroups, groups, inputOf, minutesOf, clockOf, numbers, only, type Solver } from "./support.ts";

interface Booking {
  booking_id: string;
  customer_id: string;
  workshop: string;
  start: string;
  weekday: string;
}

const call = (name: string, given: { [argument: string]: Json }) => ({ name, arguments: given });
const HOUR = 3_600_000;
const WEEKDAY = new Intl.DateTimeFormat("en-GB", { weekday: "long", timeZone: "UTC" });
const named = (date: Date) => WEEKDAY.format(date);
const HOURS_MOVED = new Map([
  ["at the same time of day", 0],
  ["one hour later in the day", 1],
  ["two hours later in the day", 2],
  ["one hour earlier in the day", -1],
  ["two hours earlier in the day", -2],
]);

const rebookWorkshop: Solver = (asked) => {
  const { policy, message, bookings } = inputOf<{
    policy: string[];
    message: { received: string; customer_id: string; text: string };
    bookings: Booking[];
  }>(asked);
  const { customer_id, text } = message;
  const [workshop = "", weekday = ""] = groups(/cannot come to the (.+) class this (\w+)\./, text);
  const meant = bookings.filter((one) => one.customer_id === customer_id && one.workshop === workshop);
  const [booking] = meant.toSorted((a, b) => Date.parse(a.start) - Date.parse(b.start));
  if (booking?.weekday !== weekday) throw new Error("the message means no booking");
  const start = new Date(`${booking.start}Z`);
  const ahead = (start.getTime() - Date.parse(`${message.received}Z`)) / HOUR;
  if (ahead > 7 * 24 || named(start) !== weekday) throw new Error(`${booking.start} is not this ${weekday}`);
  const rules = policy.join(" ");
  const [hours = Number.NaN] = numbers(/in less than (\d+) hours before the start/, rules);
  const isMove = text.includes("put me into the one");
  const [fee = Number.NaN] = numbers(isMove ? /move costs (\d+) EUR/ : /cancellation (\d+) EUR/, rules);
  const due = ahead < hours;
  const changed = (): ReturnType<typeof call> => {
    if (!isMove) return call("cancel_booking", { booking_id: booking.booking_id });
    const [day = "", when = ""] = groups(/the one on the (\w+) after it, (.+?)\./, text);
    const moved = new Date(start);
    do moved.setUTCDate(moved.getUTCDate() + 1);
    while (named(moved) !== day);
    moved.setUTCHours(moved.getUTCHours() + (HOURS_MOVED.get(when) ?? Number.NaN));
    return call("move_booking", { booking_id: booking.booking_id, start: moved.toISOString().slice(0, 16) });
  };
  const template = isMove ? "booking_moved" : "booking_cancelled";
  return [
    ...(due ? [call("charge_fee", { customer_id, amount_eur: fee })] : []),
    changed(),
    ...(due && rules.includes("no notice is sent") ? [] : [call("notify_customer", { customer_id, template })]),
  ];
};

interface Article {
  sku: string;
  on_hand: number;
  on_its_way: number;
  reorder_at: number;
  target: number;
  pack_size: number;
  discontinued: boolean;
}

const reorderPacks: Solver = (asked) => {
  const [level = ""] = groups(/already on its way is (at or below|below) its `reorder_at`/, asked.prompt);
  const [extent = ""] = groups(/order the (fewest|most) full packs/, asked.prompt);
  return inputOf<{ articles: Article[] }>(asked).articles.flatMap((article) => {
    const { sku, on_hand, on_its_way, reorder_at, target, pack_size, discontinued } = article;
    const stock = on_hand + on_its_way;
    if (discontinued || stock > reorder_at || (level === "below" && stock === reorder_at)) return [];
    let packs = 0;
    if (extent === "fewest") while (stock + packs * pack_size < target) packs += 1;
    if (extent === "most") while (stock + (packs + 1) * pack_size <= target) packs += 1;
    return [call("order_packs", { sku, packs })];
  });
};

interface Parcel {
  id: string;
  pickup: string;
  delivery: string;
  weight: string;
  goods: string;
}

const courierDetails: Solver = (asked) => {
  const [order = ""] = groups(/first missing detail in the order ([\w, ]+)\./, asked.prompt);
  return inputOf<{ parcels: Parcel[] }>(asked).parcels.map(({ id, goods, ...details }) => {
    const given = { pickup: /^\d+ [A-Z]/, delivery: /^\d+ [A-Z]/, weight: /^[\d.]+ k?g$/ };
    const missing = Object.entries(given)
      .filter(([name, form]) => !form.test(Object.entries(details).find(([detail]) => detail === name)?.[1] ?? ""))
      .map(([name]) => name);
    const gap = order.split(", ").find((name) => missing.includes(name));
    if (gap !== undefined) return call("ask_sender", { parcel_id: id, detail: gap });
    const [amount = "", unit = ""] = groups(/^([\d.]+) (k?g)$/, details.weight);
    const weight_g = Math.round(Number(amount) * (unit === "kg" ? 1000 : 1));
    return call("book_courier", { parcel_id: id, weight_g, service: goods.includes("°C") ? "cold" : "standard" });
  });
};

const COUNTS = "twelve one two three four five six seven eight nine ten eleven".split(" ");
const QUARTERS = new Map([
  ["a quarter past ", 15],
  ["half past ", 30],
  ["a quarter to ", -15],
  ["", 0],
]);
const LASTING = new Map([
  ["three quarters of an hour", 45],
  ["an hour", 60],
  ["an hour and a half", 90],
  ["two hours", 120],
  ["two hours and a half", 150],
]);

/** Minutes since midnight of a time in words; without a time of day it is in that of `other`. */
function minutesOfWords(words: string, other = words): number {
  if (words === "noon") return 720;
  const [part = "", hour = ""] = groups(/^(half past |a quarter past |a quarter to |)(\w+)/, words);
  const [time = ""] = groups(/ in the (\w+)$/, words.includes(" in the ") ? words : other);
  const minutes = 60 * COUNTS.indexOf(hour) + (QUARTERS.get(part) ?? Number.NaN);
  return time === "morning" && minutes >= 0 ? minutes : minutes + 720;
}

const heatingPlan: Solver = (asked) => {
  const { zones, note } = inputOf<{ zones: { zone_id: string; name: string }[]; note: string }>(asked);
  const [rounding = ""] = groups(/rounded (to the nearest|down to a|up to a) half degree/, asked.prompt);
  const periods = allGroups(
    /(?:^| )(?:the )?([a-z ]+?)(?: \([^)]+\))?(?: once more,)? from ([a-z ]+?) (until|for) ([a-z ]+), (?:at )?(\d+) F/g,
    note
      .toLowerCase()
      .replace("for tomorrow: ", "")
      .replaceAll(/ f(?=\.)/g, " F")
      .replaceAll("and the", "the"),
  ).map(([name = "", from = "", how = "", until = "", fahrenheit]) => {
    const zone = only(zones.filter((one) => one.name === name));
    const start = minutesOfWords(from, until);
    const end = how === "for" ? start + (LASTING.get(until) ?? Number.NaN) : minutesOfWords(until);
    const halves = ((Number(fahrenheit) - 32) * 5 * 2) / 9;
    const [down, up] = [Math.floor(halves), Math.ceil(halves)];
    const nearest = halves - down < 0.5 ? down : up;
    const celsius = { "to the nearest": nearest, "down to a": down, "up to a": up }[rounding] ?? Number.NaN;
    return { zone_id: zone.zone_id, start: clockOf(start), end: clockOf(end), celsius: celsius / 2 };
  });
  if (periods.length !== 3) throw new Error(`${note} has not three periods`);
  return periods
    .toSorted((a, b) => minutesOf(a.start) - minutesOf(b.start))
    .map((period) => call("set_period", period));
};

/** Solvers of the templates of `tool_use`. */
export const toolUseSolvers: Record<string, Solver> = {
  "tools-rebook-workshop": rebookWorkshop,
  "tools-reorder-packs": reorderPacks,
  "tools-courier-details": courierDetails,
  "tools-heating-plan": heatingPlan,
};
