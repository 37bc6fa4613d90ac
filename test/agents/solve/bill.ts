import * as z from "zod";
import type { Solver } from "./kind.ts";

/** Decimals are kept in millionths: no price loses a cent to binary fractions. */
const UNIT = 1_000_000n;
const decimal = z
  .union([z.number(), z.string().regex(/^\d+(?:\.\d{1,6})?$/u)])
  .transform((value) => BigInt(Math.round(Number(value) * Number(UNIT))))
  .refine((value) => value >= 0n);

const Bill = z.object({
  lines: z
    .array(
      z.object({
        quantity: decimal,
        unit_price: decimal,
        discount_percent: decimal.default(0n),
        tax_percent: decimal,
      }),
    )
    .min(1),
});

type Tie = "even" | "up";

/**
 * A bill of quantities, prices, discounts and tax rates, in whole cents, rounded as the prompt says: lines and taxes
 * each with a tie to the even cent or up, the tax by line or once per rate.
 */
export const bill: Solver = ({ prompt, input, output_format }) => {
  const lines = Bill.safeParse(input).data?.lines;
  if (lines === undefined) return null;
  const clauses = prompt.split(/\(\d\)|[.;:](?=\s)/u).filter((clause) => /\bround/iu.test(clause));
  const tieOf = (clause: string | undefined): Tie => (/\beven\b/iu.test(clause ?? "") ? "even" : "up");
  const taxRule = clauses.find((clause) => /\btax/iu.test(clause));
  const lineTie = tieOf(clauses.find((clause) => clause !== taxRule));
  const taxTie = tieOf(taxRule);

  const amounts = lines.map(({ quantity, unit_price, discount_percent, tax_percent }) => ({
    cents: quotient(quantity * unit_price * (100n * UNIT - discount_percent), UNIT ** 3n, lineTie),
    rate: tax_percent,
  }));
  const taxed = /\brate/iu.test(taxRule ?? "") ? byRate(amounts) : amounts;
  const net = sum(amounts.map(({ cents }) => cents));
  const tax = sum(taxed.map(({ cents, rate }) => quotient(cents * rate, 100n * UNIT, taxTie)));
  if (output_format === "text") return { output: dollars(net + tax).toFixed(2) };
  return { output: { net: dollars(net), tax: dollars(tax), gross: dollars(net + tax) } };
};

interface Taxed {
  cents: bigint;
  rate: bigint;
}

function byRate(amounts: readonly Taxed[]): Taxed[] {
  const rates = [...new Set(amounts.map(({ rate }) => rate))];
  return rates.map((rate) => ({
    rate,
    cents: sum(amounts.filter((line) => line.rate === rate).map(({ cents }) => cents)),
  }));
}

function quotient(value: bigint, divisor: bigint, tie: Tie): bigint {
  const whole = value / divisor;
  const twice = 2n * (value % divisor);
  const up = twice === divisor ? tie === "up" || whole % 2n === 1n : twice > divisor;
  return up ? whole + 1n : whole;
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}

function dollars(cents: bigint): number {
  return Number(cents) / 100;
}
