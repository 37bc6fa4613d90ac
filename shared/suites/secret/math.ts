import { drawUntil } from "../../templates/random.ts";
import { clock, money, prose } from "../../templates/text.ts";
import { defineTemplate } from "./types.ts";
import { GOODS } from "../../templates/words.ts";

/** A share of a whole number of cents in tenths of a percent, half a cent up. */
function permille(cents: number, share: number): number {
  return Math.floor((cents * share + 500) / 1000);
}

const isHalfCent = (cents: number, share: number) => (cents * share) % 1000 === 500;

const priceChain = defineTemplate(
  {
    id: "price-chain",
    version: 2,
    title: "The amount due",
    domain: "math",
    output_format: "text",
    reference_cost_usd: 0.005,
    reference_latency_ms: 8000,
  },
  (random) => {
    const [seller] = random.companies(1);
    const bulk = random.int(10, 20);
    const bulkPercent = random.pick([6, 8, 12, 15]);
    const cardPercent = random.pick([2, 3, 4, 7]);
    const taxPermille = random.pick([55, 65, 75, 85, 95]);
    const voucher = random.int(15, 40);
    const delivery = random.int(400, 1500);
    return drawUntil(() => {
      const order = random.sample(GOODS, 4).map((item) => ({
        item,
        quantity: bulk + random.pick([-4, -1, 0, 0, 3]),
        unit_price_cents: random.int(215, 1990),
      }));
      const net = order.reduce((sum, { quantity, unit_price_cents }) => {
        const gross = quantity * unit_price_cents;
        return sum + gross - (quantity >= bulk ? permille(gross, 10 * bulkPercent) : 0);
      }, 0);
      // Half a cent up would give another amount to whoever rounds not the discount, but what it leaves.
      const discounted = order.filter(({ quantity }) => quantity >= bulk);
      const isLineTied = discounted.some((line) => isHalfCent(line.quantity * line.unit_price_cents, 10 * bulkPercent));
      if (isLineTied || isHalfCent(net, 10 * cardPercent)) return undefined;
      const afterCard = net - permille(net, 10 * cardPercent);
      const voucherFrom = Math.floor(afterCard / 100) + random.pick([-3, -2, -1, 1, 2, 3]);
      const afterVoucher = afterCard - (afterCard >= 100 * voucherFrom ? 100 * voucher : 0);
      const taxed = afterVoucher + permille(afterVoucher, taxPermille);
      const freeOver = Math.floor(taxed / 100) + random.pick([-9, -5, 5, 9]);
      const due = taxed + (taxed > 100 * freeOver ? 0 : delivery);
      return {
        prompt: prose(
          `${seller} works out what an order costs in these steps and rounds to the cent, half a cent up, wherever a`,
          `discount or a tax is worked out. 1. Each line is quantity times unit price; a line of ${bulk} pieces or more`,
          `gets ${bulkPercent}% off. 2. The customer card takes ${cardPercent}% off the sum of the lines. 3. A voucher of`,
          `$${voucher} is deducted if the amount is then at least $${voucherFrom}. 4. Sales tax of ${taxPermille / 10}% is`,
          `added. 5. Delivery costs $${money(delivery)}, untaxed, and is free if the taxed amount is over $${freeOver}.`,
          "The input holds the order; the customer has a card and a voucher. How much is due, delivery included?",
          "Answer with the amount in dollars with two decimals and nothing else.",
        ),
        input: {
          order: order.map(({ unit_price_cents, ...line }) => ({ ...line, unit_price: unit_price_cents / 100 })),
        },
        grader: { type: "numeric", tolerance: 0.001 },
        expected_output: due / 100,
      };
    });
  },
);

const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;

const shiftPay = defineTemplate(
  {
    id: "shift-pay",
    title: "A week of shifts",
    domain: "math",
    output_format: "text",
    reference_cost_usd: 0.006,
    reference_latency_ms: 9000,
  },
  (random) => {
    const [worker] = random.people(1);
    const rateCents = 8 * random.int(200, 350);
    const regularHours = random.int(36, 40);
    const bonusCents = 50 * random.int(9, 25);
    return drawUntil(() => {
      // Two shifts run past midnight and one ends at midnight, which brings no bonus.
      const ends = random.shuffle(["late", "late", "midnight", "day", "day", "day"] as const);
      const shifts = DAYS.map((day, i) => {
        const end = ends[i];
        const length = random.int(400, 570);
        const over = random.int(5, 170);
        const start = end === "day" ? random.int(330, 600) : 1440 - length + (end === "late" ? over : 0);
        return { day, start, length, rest: random.int(15, 45) };
      });
      const quarters = shifts.reduce((sum, { length, rest }) => sum + Math.floor((length - rest) / 15), 0);
      const overtime = quarters - 4 * regularHours;
      if (overtime < 4) return undefined;
      const cents = (quarters * rateCents) / 4 + (overtime * rateCents) / 8 + 2 * bonusCents;
      return {
        prompt: prose(
          `${worker} worked the six shifts of the input; a shift whose end is earlier than or equal to its start ends on the`,
          "following day. The paid time of a shift is its length less its break, rounded down to full quarter hours, each",
          `shift by itself. An hour is paid at $${money(rateCents)}; what goes beyond ${regularHours} paid hours in the week`,
          `is paid at one and a half times that. A shift that ends later than midnight brings a bonus of $${money(bonusCents)};`,
          "one that ends at midnight exactly brings none. How much is the pay for the week?",
          "Answer with the amount in dollars with two decimals and nothing else.",
        ),
        input: {
          shifts: shifts.map(({ day, start, length, rest }) => ({
            day,
            start: clock(start),
            end: clock(start + length),
            break_minutes: rest,
          })),
        },
        grader: { type: "numeric", tolerance: 0.001 },
        expected_output: cents / 100,
      };
    });
  },
);

const departures = defineTemplate(
  {
    id: "coinciding-departures",
    title: "Two timetables",
    domain: "math",
    output_format: "json",
    reference_cost_usd: 0.005,
    reference_latency_ms: 8000,
  },
  (random) => {
    const [place] = random.companies(1);
    return drawUntil(() => {
      const [everyA, everyB] = random.sample([8, 9, 10, 12, 14, 15, 16, 18, 20, 21], 2);
      const firstA = random.int(300, 345);
      const firstB = random.int(300, 345);
      const lastA = firstA + everyA * Math.floor((1380 - firstA) / everyA);
      const pauseFrom = random.int(660, 720);
      const pauseTo = pauseFrom + random.int(70, 150);
      const runsB = (t: number) => t >= firstB && (t - firstB) % everyB === 0;
      const timesA = Array.from({ length: (lastA - firstA) / everyA + 1 }, (_, i) => firstA + i * everyA);
      const together = timesA.filter(runsB);
      const counted = together.filter((t) => t < pauseFrom || t > pauseTo);
      if (counted.length < 6 || counted.length > 18 || counted.length === together.length) return undefined;
      return {
        prompt: prose(
          `At the gate of ${place}, line A leaves every ${everyA} minutes from ${clock(firstA)} to ${clock(lastA)}, both`,
          `included. Line B leaves every ${everyB} minutes from ${clock(firstB)} until the end of the day; it keeps its`,
          `timetable, but whatever would leave from ${clock(pauseFrom)} to ${clock(pauseTo)}, both included, is cancelled.`,
          "At how many times of one day do both lines leave in the same minute, and when is the last of them? Answer with a",
          'JSON object and nothing else: {"times": number, "last": "HH:MM"}.',
        ),
        grader: { type: "json_fields" },
        expected_output: { times: counted.length, last: clock(counted.at(-1) ?? 0) },
      };
    });
  },
);

const MONTH_NAMES = ["Arvel", "Brumen", "Calith", "Dorrim", "Esvar", "Falmet", "Grintal", "Hovel", "Ister"] as const;
const WEEKDAY_NAMES = ["Onda", "Tirsa", "Velk", "Mordo", "Sunnet", "Palo", "Kessen", "Irdo", "Lume"] as const;

const inventedCalendar = defineTemplate(
  {
    id: "invented-calendar",
    title: "Another calendar",
    domain: "math",
    output_format: "json",
    reference_cost_usd: 0.007,
    reference_latency_ms: 10_000,
  },
  (random) => {
    const months = random.sample(MONTH_NAMES, 6).map((name) => ({ name, days: random.int(23, 34) }));
    const week: string[] = random.sample(WEEKDAY_NAMES, random.pick([5, 6, 8]));
    const leapEvery = random.int(3, 5);
    const leapMonth = random.int(2, 4);
    const start = { year: leapEvery * random.int(60, 140) - 1, month: random.int(2, 5), day: random.int(3, 22) };
    const weekday = random.int(0, week.length - 1);
    const elapsed = random.int(230, 420);
    let { year, month, day } = start;
    const length = () => (months[month]?.days ?? 0) + (month === leapMonth && year % leapEvery === 0 ? 1 : 0);
    day += elapsed;
    while (day > length()) {
      day -= length();
      month = (month + 1) % months.length;
      if (month === 0) year += 1;
    }
    return {
      prompt: prose(
        "The input describes the calendar of an invented country: its months in order with their numbers of days, and the",
        `days of its week in order, which run on without a break. In each year whose number is divisible by ${leapEvery}, the`,
        `month ${months[leapMonth]?.name} has one day more. It is day ${start.day} of ${months[start.month]?.name} in the year`,
        `${start.year}, a ${week[weekday]}. What is the date ${elapsed} days later? Answer with a JSON object and nothing`,
        'else: {"year": number, "month": name, "day": number, "weekday": name}.',
      ),
      input: { months, week },
      grader: { type: "json_fields" },
      expected_output: {
        year,
        month: months[month]?.name ?? "",
        day,
        weekday: week[(weekday + elapsed) % week.length] ?? "",
      },
    };
  },
);

/** Templates of the domain `math`. */
export const mathTemplates = [priceChain, shiftPay, departures, inventedCalendar];
