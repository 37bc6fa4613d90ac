import { drawUntil, type Random } from "../../random.ts";
import { money } from "../../text.ts";
import { defineTemplate } from "../../types.ts";

const CURRENCIES = ["EUR", "GBP", "CHF", "CAD", "AUD", "NZD"] as const;
const ITEMS = [
  "hinge pin",
  "felt pad",
  "seed tray",
  "seed mix",
  "work lamp",
  "cable reel",
  "brass hook",
  "lamp oil",
  "chalk line",
  "wax block",
  "glass cutter",
  "putty knife",
  "rain gauge",
  "tarpaulin",
  "oil can",
  "hand plane",
] as const;

/** Where a tie goes, in the words of the policy. */
const TIES = ["to the even cent", "up", "down"] as const;
type Tie = (typeof TIES)[number];

/** `amount` / `unit` as a whole number; both are whole and not negative. */
function rounded(amount: number, unit: number, tie: Tie): number {
  const [whole, rest] = [Math.floor(amount / unit), amount % unit];
  if (rest * 2 !== unit) return rest * 2 > unit ? whole + 1 : whole;
  return tie === "up" || (tie === "to the even cent" && whole % 2 === 1) ? whole + 1 : whole;
}

interface Line {
  item: string;
  quantity: number;
  cents: number;
  /** Tenths of a percent. */
  discount: number;
  tax: number;
}

const lineCents = ({ quantity, cents, discount }: Line, tie: Tie): number =>
  rounded(quantity * cents * (1000 - discount), 1000, tie);

interface Policy {
  line: Tie;
  tax: Tie;
}

/** Net and tax in cents; `perLine` works out the tax of each line by itself, which the policy forbids. */
function invoice(lines: readonly Line[], policy: Policy, perLine = false): { net: number; tax: number } {
  const priced = lines.map((line) => ({ rate: line.tax, cents: lineCents(line, policy.line) }));
  const sum = (part: typeof priced) => part.reduce((total, { cents }) => total + cents, 0);
  const groups = perLine
    ? priced.map((line) => [line])
    : [...new Set(priced.map(({ rate }) => rate))].map((rate) => priced.filter((line) => line.rate === rate));
  const tax = groups.reduce((total, part) => total + rounded(sum(part) * (part[0]?.rate ?? 0), 100, policy.tax), 0);
  return { net: sum(priced), tax };
}

function drawLine(random: Random, item: string, tax: number, discounts: readonly number[]): Line {
  return { item, quantity: random.int(1, 9), cents: random.int(105, 4995), discount: random.pick(discounts), tax };
}

/** Traps: where ties go differs between lines and tax, and tax is worked out once for each rate. */
export const invoiceRounding = defineTemplate(
  { id: "math-invoice-rounding", version: 2, sample: "core-math-invoice-rounding" },
  (random) => {
    const [line, tax] = random.sample(TIES, 2);
    const policy: Policy = { line, tax };
    const others = (tie: Tie) => TIES.filter((one) => one !== tie);
    const [low, high] = [random.pick([5, 10, 15]), random.pick([7, 19, 20, 21])];
    const [lastItem, ...items] = random.sample(ITEMS, 5);
    const rates = random.shuffle([low, low, high, high]);
    const draw = (i: number) => drawLine(random, items[i] ?? "", rates[i] ?? low, [50, 100, 125, 150, 250]);
    // A tie over an even and one over an odd cent: whichever other way ties may be taken to go, a line comes out otherwise.
    const tied = (i: number, parity: number) =>
      drawUntil(() => {
        const drawn = draw(i);
        const down = lineCents(drawn, "down");
        return lineCents(drawn, "up") > down && down % 2 === parity ? drawn : undefined;
      });
    return drawUntil(() => {
      // The last line brings its rate's sum to a tie, too; which sums do depends on the rate alone.
      const first = [tied(0, 0), tied(1, 1), draw(2), draw(3)];
      const taxed = first.filter((one) => one.tax === low).reduce((sum, one) => sum + lineCents(one, line), 0);
      const last = { ...drawLine(random, lastItem, low, [0]), quantity: 1 };
      // Over an even or an odd cent, as it comes.
      const [half, full] = low === 10 ? [5, 20] : [10, 40];
      last.cents += (random.pick([half, full - half]) - ((taxed + last.cents) % full) + full) % full;
      const lines = [...first, last];
      const key = invoice(lines, policy);
      const ties = others(tax).map((other) => invoice(lines, { line, tax: other }));
      const perLine = invoice(lines, policy, true);
      // As a library rounds: one way for all ties.
      const alike = TIES.map((tie) => invoice(lines, { line: tie, tax: tie }));
      if (perLine.tax === key.tax || ties.every((wrong) => wrong.tax === key.tax)) return undefined;
      if (alike.some((wrong) => wrong.net === key.net && wrong.tax === key.tax)) return undefined;
      const wrong = [...others(line).map((other) => invoice(lines, { line: other, tax })), ...ties, ...alike, perLine];
      const trapped = wrong.filter((one) => one.net !== key.net || one.tax !== key.tax);
      const order = random.shuffle(lines);
      const answer = (cents: typeof key) => ({
        net: cents.net / 100,
        tax: cents.tax / 100,
        gross: (cents.net + cents.tax) / 100,
      });
      return {
        prompt: `Compute the invoice in \`input\`. Policy: (1) each line is quantity × unit price less the line's discount, rounded to whole cents, a tie going ${policy.line}; (2) \`net\` is the sum of the rounded lines; (3) tax is computed once per tax rate, on the sum of that rate's rounded lines, and rounded to whole cents, a tie going ${policy.tax}; (4) \`tax\` is the sum over the rates, and \`gross\` is \`net\` plus \`tax\`. Answer with JSON: {"net": number, "tax": number, "gross": number}.`,
        input: {
          currency: random.pick(CURRENCIES),
          lines: order.map(({ item, quantity, cents, discount, tax: rate }) => ({
            item,
            quantity,
            unit_price: money(cents),
            discount_percent: String(discount / 10),
            tax_percent: rate,
          })),
        },
        output_format: "json",
        output_schema: {
          type: "object",
          properties: { net: { type: "number" }, tax: { type: "number" }, gross: { type: "number" } },
          required: ["net", "tax", "gross"],
        },
        grader: { type: "json_fields" },
        expected_output: answer(key),
        wrong_answers: trapped.map(answer),
      };
    });
  },
);
