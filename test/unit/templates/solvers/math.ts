import { groups, inputOf, numbers, type Solver } from "./support.ts";

const ferryReserve: Solver = (asked) => {
  const input = inputOf<{
    legs: { distance: number; unit: "km" | "nmi" }[];
    litres_per_km: number;
    litres_per_departure: number;
    litres_per_arrival: number;
    tank_litres: number;
    reserve_percent: number;
  }>(asked);
  const [nautical = 0] = numbers(/1 nmi = ([\d.]+) km/, asked.prompt);
  const burn = ({ distance, unit }: (typeof input.legs)[number]) =>
    distance * (unit === "nmi" ? nautical : 1) * input.litres_per_km +
    input.litres_per_departure +
    input.litres_per_arrival;
  const reserve = (input.tank_litres * input.reserve_percent) / 100;
  let fuel = input.tank_litres;
  for (;;) {
    let after = fuel;
    for (const leg of [...input.legs, ...input.legs.toReversed()]) after -= burn(leg);
    if (after < reserve) return (fuel - reserve).toFixed(1);
    fuel = after;
  }
};

const invoiceRounding: Solver = (asked) => {
  const [lineTie = "", taxTie = ""] = groups(/tie going ([a-z ]+);.* tie going ([a-z ]+);/, asked.prompt);
  const { lines } = inputOf<{
    lines: { quantity: number; unit_price: string; discount_percent: string; tax_percent: number }[];
  }>(asked);
  const thousandths = (decimal: string) => BigInt(Math.round(Number(decimal) * 1000));
  const round = (amount: bigint, unit: bigint, tie: string) => {
    const up = { "to the even cent": (amount / unit) % 2n, up: 1n, down: 0n }[tie];
    if (up === undefined) throw new Error(`a tie can't go ${tie}`);
    const twice = 2n * (amount % unit);
    return amount / unit + (twice === unit ? up : BigInt(twice > unit));
  };
  const perRate = new Map<number, bigint>();
  for (const { quantity, unit_price, discount_percent, tax_percent } of lines) {
    const amount = BigInt(quantity) * thousandths(unit_price) * (100_000n - thousandths(discount_percent));
    perRate.set(tax_percent, (perRate.get(tax_percent) ?? 0n) + round(amount, 1_000_000n, lineTie));
  }
  let [net, tax] = [0n, 0n];
  for (const [rate, sum] of perRate) {
    net += sum;
    tax += round(sum * BigInt(rate), 100n, taxTie);
  }
  return { net: Number(net) / 100, tax: Number(tax) / 100, gross: Number(net + tax) / 100 };
};

const archiveScanDate: Solver = ({ prompt }) => {
  const [first = "", off = "", usual, slowDay = "", slow, page] = groups(
    /first working day, \w+ ([\w ]+)\. .* except (.+), when .* scans (\d+) pages .* each (\w+), .* only (\d+) pages .* page (\d+) scanned/,
    prompt,
  );
  const [, year = ""] = groups(/(\w+) (\d{4})/, first);
  // A date without a year is of the year of the next one.
  const closed = off.split(" and ").map((date) => {
    const [weekday = "", day = "", month = "", ownYear = year] = date.split(" ");
    const time = Date.parse(`${day} ${month} ${ownYear} 00:00 UTC`);
    if (weekdayOf(time) !== weekday) throw new Error(`${date} is no ${weekday}`);
    return time;
  });
  let [time, pages] = [Date.parse(`${first} 00:00 UTC`), 0];
  for (; ; time += 86_400_000) {
    const weekday = weekdayOf(time);
    if (weekday.startsWith("S") || closed.includes(time)) continue;
    pages += Number(weekday === slowDay ? slow : usual);
    if (pages >= Number(page)) return new Date(time).toISOString().slice(0, 10);
  }
};

function weekdayOf(time: number): string {
  return (
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"][new Date(time).getUTCDay()] ?? ""
  );
}

const slabRows: Solver = ({ prompt }) => {
  const [length = 0, ...slabs] = numbers(/wide and (\d+) units long\. .* are (\d+), (\d+) or (\d+) units long/, prompt);
  const [twin, next = twin, before = twin] = groups(
    /Two slabs of length (\d+) must|A slab of length (\d+) must never lie directly behind one of length (\d+)/,
    prompt,
  ).map((group) => (group === "" ? undefined : Number(group)));
  let count = 0;
  const lay = (left: number, last: number) => {
    if (left === 0) count += 1;
    for (const slab of slabs) if (slab <= left && !(last === before && slab === next)) lay(left - slab, slab);
  };
  lay(length, 0);
  return String(count);
};

/** Solvers of the templates of `math`. */
export const mathSolvers: Record<string, Solver> = {
  "math-ferry-reserve": ferryReserve,
  "math-invoice-rounding": invoiceRounding,
  "math-archive-scan-date": archiveScanDate,
  "math-slab-rows": slabRows,
};
