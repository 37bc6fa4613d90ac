import { drawUntil, type Random } from "../../random.ts";
import { money } from "../../text.ts";
import { defineTemplate } from "../../types.ts";

/** What a digit may be read as; the scanner of a draw misreads four digits. */
const MISREAD = [
  { digit: "0", letters: ["O", "D", "Q"] },
  { digit: "1", letters: ["l", "I"] },
  { digit: "2", letters: ["Z"] },
  { digit: "4", letters: ["A"] },
  { digit: "5", letters: ["S"] },
  { digit: "6", letters: ["G", "b"] },
  { digit: "7", letters: ["T"] },
  { digit: "8", letters: ["B"] },
  { digit: "9", letters: ["g", "q"] },
] as const;
const PAPERS = ["receipt", "voucher", "ticket", "delivery note"] as const;
const MARKS = ["VOID", "ANNULLED", "REVOKED", "CANCELLED"] as const;

interface Scan {
  number: string;
  cents: number;
  shown: string;
  paper: string;
  marked: boolean;
}
type Letters = ReadonlyMap<string, readonly string[]>;

/** A text as the scanner gives it: about half of the digits that it can misread are misread. */
function misread(random: Random, text: string, letters: Letters): string {
  return text
    .split("")
    .map((sign) => random.pick([sign, random.pick(letters.get(sign) ?? [sign])]))
    .join("");
}

const sum = (scans: readonly Scan[]): number => scans.reduce((total, { cents }) => total + cents, 0);
const firsts = (scans: readonly Scan[], by: (scan: Scan) => string): Scan[] =>
  scans.filter((scan, i) => scans.findIndex((other) => by(other) === by(scan)) === i);

/** Traps: numbers are misread, too; a void paper takes its other scan along; two papers have the same amount. */
export const scannedReceipts = defineTemplate(
  { id: "robustness-scanned-receipts", version: 1, sample: "core-robustness-scanned-receipts" },
  (random) => {
    const paper = random.pick(PAPERS);
    const mark = random.pick(MARKS);
    const readings = random
      .sample(MISREAD, 4)
      .toSorted((a, b) => Number(a.digit) - Number(b.digit))
      .map(({ digit, letters }) => ({
        digit,
        letters: random.sample<string, number>(letters, random.int(1, Math.min(2, letters.length))),
      }));
    const letters: Letters = new Map(readings.map(({ digit, letters: read }) => [digit, read]));
    const told = readings.map(({ digit, letters: read }) => `${read.join(" or ")} for ${digit}`);
    return drawUntil(() => {
      const start = random.int(100, 960);
      const numbers = random.sample(
        Array.from({ length: 36 }, (_, i) => String(start + i)),
        9,
      );
      const amounts = numbers.map(() => random.int(305, 12_990));
      const papers = numbers.map((number, i) => ({ number, cents: amounts[i === 8 ? 7 : i] ?? 0 }));
      const scan = ({ number, cents }: (typeof papers)[number], marked = false): Scan => ({
        number,
        cents,
        marked,
        paper: misread(random, number, letters),
        shown: misread(random, money(cents), letters),
      });
      const [gone, ...kept] = papers;
      if (gone === undefined) return undefined;
      const scans = random.shuffle([
        ...papers.map((one) => scan(one)),
        ...kept.slice(0, 3).map((one) => scan(one)),
        scan(gone, true),
      ]);
      // Of two papers or more that were scanned twice the scans look different, and many amounts are misread.
      const twice = [gone, ...kept.slice(0, 3)].map(({ number }) => scans.filter((one) => one.number === number));
      if (twice.filter(([one, other]) => one?.paper !== other?.paper).length < 2) return undefined;
      if (scans.filter(({ shown, cents }) => shown !== money(cents)).length < 5) return undefined;
      const open = scans.filter(({ marked }) => !marked);
      const valid = open.filter(({ number }) => number !== gone.number);
      const key = sum(firsts(valid, ({ number }) => number));
      const wrong = [
        sum(firsts(open, ({ number }) => number)),
        sum(scans),
        sum(open),
        sum(valid),
        sum(firsts(valid, ({ cents }) => String(cents))),
        sum(firsts(open, ({ paper: read }) => read)),
        sum(valid.filter(({ shown, cents }) => shown === money(cents))),
      ];
      if (wrong.includes(key)) return undefined;
      return {
        prompt: `The lines in \`input\` were read by a poor scanner: ${paper} number, then amount in euro with a decimal point. In both columns it sometimes gives ${told.slice(0, -1).join(", ")} and ${told.at(-1)}; it never errs otherwise. Some ${paper}s were scanned twice; once the misreadings are put right, the same ${paper} number is the same ${paper}, and it counts once. A line with the word ${mark} does not count, and neither does any other scan of that ${paper}. What is the sum of all ${paper}s that count, in euro? Answer with one number with two decimals.`,
        input: { lines: scans.map(({ paper: read, shown, marked }) => `${read}  ${shown}${marked ? ` ${mark}` : ""}`) },
        output_format: "text",
        grader: { type: "numeric", tolerance: 0.001 },
        expected_output: key / 100,
        wrong_answers: wrong.map(money),
      };
    });
  },
);
