import { type Check, groups, inputOf, numbers, parseCents, parseClock } from "./support.ts";

/** a·b / divisor in whole cents, half a cent up, without floating point. */
function rounded(a: number, b: number, divisor: number): number {
  const product = BigInt(a) * BigInt(b) * 2n;
  return Number((product + BigInt(divisor)) / BigInt(2 * divisor));
}

const priceChain: Check = (task) => {
  const [bulk = 0, bulkPercent = 0, card = 0, voucher = 0, voucherFrom = 0, tax = 0, delivery = 0, freeOver = 0] =
    numbers(
      /of (\d+) pieces or more gets (\d+)% off.* takes (\d+)% .* of \$(\d+) is .* least \$(\d+)\. .* tax of ([\d.]+)% .* costs \$([\d.]+),.* over \$(\d+)\./,
      task.prompt,
    );
  const { order } = inputOf<{ order: { quantity: number; unit_price: number }[] }>(task);
  const due = (reduced: (cents: number, percent: number) => number): number => {
    let cents = 0;
    for (const { quantity, unit_price } of order) {
      const gross = quantity * parseCents(unit_price);
      cents += quantity < bulk ? gross : reduced(gross, bulkPercent);
    }
    cents = reduced(cents, card);
    if (cents / 100 >= voucherFrom) cents -= parseCents(voucher);
    cents += rounded(cents, Math.round(tax * 10), 1000);
    if (cents / 100 <= freeOver) cents += parseCents(delivery);
    return cents / 100;
  };
  const amount = due((cents, percent) => cents - rounded(cents, percent, 100));
  // What is rounded may be the discount, or what it leaves.
  if (due((cents, percent) => rounded(cents, 100 - percent, 100)) !== amount) throw new Error("two amounts fit");
  return amount;
};

const shiftPay: Check = (task) => {
  const [rate = 0, regular = 0, bonus = 0] = numbers(
    /paid at \$([\d.]+); what goes beyond (\d+) .* bonus of \$([\d.]+);/,
    task.prompt,
  );
  const { shifts } = inputOf<{ shifts: { start: string; end: string; break_minutes: number }[] }>(task);
  let hours = 0;
  let bonuses = 0;
  for (const { start, end, break_minutes } of shifts) {
    const overnight = parseClock(end) <= parseClock(start);
    const minutes = parseClock(end) + (overnight ? 24 * 60 : 0) - parseClock(start) - break_minutes;
    hours += (minutes - (minutes % 15)) / 60;
    if (overnight && end !== "00:00") bonuses += 1;
  }
  const paidHours = Math.min(hours, regular) + 1.5 * Math.max(0, hours - regular);
  return Math.round(100 * (paidHours * rate + bonuses * bonus)) / 100;
};

const departures: Check = (task) => {
  const [everyA, firstA = "", lastA = "", everyB, firstB = "", pauseFrom = "", pauseTo = ""] = groups(
    /line A leaves every (\d+) minutes from ([\d:]+) to ([\d:]+),.* every (\d+) minutes from ([\d:]+) until.* from ([\d:]+) to ([\d:]+),/,
    task.prompt,
  );
  const times = (first: string, last: string, every: string | undefined) => {
    const found = new Set<number>();
    for (let t = parseClock(first); t <= parseClock(last); t += Number(every)) found.add(t);
    return found;
  };
  const b = times(firstB, "23:59", everyB);
  for (let t = parseClock(pauseFrom); t <= parseClock(pauseTo); t += 1) b.delete(t);
  const both = [...times(firstA, lastA, everyA).intersection(b)];
  const last = Math.max(...both);
  const digits = (n: number) => String(n).padStart(2, "0");
  return { times: both.length, last: `${digits(Math.floor(last / 60))}:${digits(last % 60)}` };
};

const inventedCalendar: Check = (task) => {
  const [leapEvery, leapMonth, startDay, startMonth, startYear, startWeekday = "", elapsed] = groups(
    /divisible by (\d+), the month (\w+) .* day (\d+) of (\w+) in the year (\d+), a (\w+)\. .* date (\d+) days/,
    task.prompt,
  );
  const { months, week } = inputOf<{ months: { name: string; days: number }[]; week: string[] }>(task);
  let [year, day, month, weekday] = [Number(startYear), Number(startDay), startMonth, week.indexOf(startWeekday)];
  for (let i = 0; i < Number(elapsed); i += 1) {
    const at = months.findIndex(({ name }) => name === month);
    const leap = year % Number(leapEvery) === 0 && month === leapMonth;
    weekday = weekday === week.length - 1 ? 0 : weekday + 1;
    day += 1;
    if (day > (months[at]?.days ?? 0) + Number(leap)) {
      day = 1;
      month = months[at + 1]?.name ?? months[0]?.name;
      if (at === months.length - 1) year += 1;
    }
  }
  return { year, month: month ?? "", day, weekday: week[weekday] ?? "" };
};

/** Second computations for the templates of `math`. */
export const mathChecks: Record<string, Check> = {
  "price-chain": priceChain,
  "shift-pay": shiftPay,
  "coinciding-departures": departures,
  "invented-calendar": inventedCalendar,
};
