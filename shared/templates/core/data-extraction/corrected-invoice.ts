import { drawUntil, type Random } from "../../random.ts";
import { dayNumber, isoDate, lines, money } from "../../text.ts";
import { defineTemplate } from "../../types.ts";
import { FAMILY_NAMES } from "../../words.ts";

/** What a shop sells by the piece, what its work is called, and what it passes on free of tax. */
const SHOPS = [
  { trade: "JOINERY", goods: ["Oak shelf, 90 cm", "Brass bracket", "Ash rail, 2 m", "Drawer knob"], work: "Fitting" },
  { trade: "GLASSWORKS", goods: ["Pane, 60 x 40", "Lead strip, 1 m", "Putty, 500 g", "Glass tile"], work: "Glazing" },
  { trade: "SAILMAKERS", goods: ["Canvas, 1.5 m", "Rope, 10 m", "Brass eyelet", "Cleat"], work: "Sewing" },
  { trade: "CLOCKS", goods: ["Mainspring", "Dial, 12 cm", "Pendulum rod", "Winding key"], work: "Repair" },
  { trade: "GARDENS", goods: ["Pear tree, 3 years", "Stake, 180 cm", "Compost, 40 l", "Lavender"], work: "Planting" },
] as const;
const UNTAXED = ["Delivery", "Postage", "Insurance", "Parking"] as const;
const INITIALS = ["A", "B", "D", "E", "H", "J", "K", "L", "M", "N", "P", "R", "S", "T"] as const;

interface Line {
  item: string;
  unit: "pc" | "h";
  quantity: number;
  cents: number;
  taxed: boolean;
}
/** A note changes the quantity of a line. */
interface Note {
  line: Line;
  bill: number;
  text: string;
}

function drawLines(random: Random, { goods, work }: (typeof SHOPS)[number]): Line[] {
  const pieces = random.sample(goods, 2).map((item): Line => {
    return { item, unit: "pc", quantity: random.int(5, 16), cents: 25 * random.int(20, 200), taxed: true };
  });
  const hours: Line = {
    item: work,
    unit: "h",
    quantity: random.int(3, 8),
    cents: 50 * random.int(72, 136),
    taxed: true,
  };
  const untaxed: Line = {
    item: random.pick(UNTAXED),
    unit: "pc",
    quantity: 1,
    cents: 50 * random.int(24, 110),
    taxed: false,
  };
  return random.shuffle([...pieces, hours, untaxed]);
}

/** Notes that hold: two that change what is billed, and one that confirms what is printed. */
function drawValid(random: Random, printed: readonly Line[]): Note[] {
  const [first, second, third] = random.sample(
    printed.filter(({ taxed }) => taxed),
    3,
  );
  const changed = (line: Line): Note => {
    const bill = line.quantity - (line.unit === "h" ? 1 : random.int(1, 3));
    const back = line.quantity - bill;
    const reasons =
      line.unit === "h"
        ? ["first hour was promised free", "one hour was spent on our own mistake"]
        : [`only ${bill} delivered`, `${back} came back broken`, `${back} missing from the box`];
    return { line, bill, text: `${random.pick(reasons)}, bill ${bill}` };
  };
  const reason = random.pick(["counted again", "checked", "asked the customer"]);
  return [
    changed(first),
    changed(second),
    { line: third, bill: third.quantity, text: `${reason}, bill ${third.quantity} is right` },
  ];
}

/** A note that is crossed out, on any line. */
function drawVoid(random: Random, printed: readonly Line[]): Note {
  const line = random.pick(printed);
  const fewer = line.quantity > 4 ? [line.quantity - 4] : [];
  const bill = random.pick([0, ...fewer]);
  const reason =
    bill === 0 ? random.pick(["no charge", "as a gift"]) : random.pick(["sent back in part", "agreed less"]);
  return { line, bill, text: `${reason}, bill ${bill}` };
}

/** Amounts in cents after the notes; undefined where the tax is not in whole cents. */
function due(printed: readonly Line[], notes: readonly Note[], rate: number, onAll = false) {
  const sum = (some: readonly Line[]) =>
    some.reduce((total, line) => {
      const bill = notes.findLast((note) => note.line === line)?.bill ?? line.quantity;
      return total + bill * line.cents;
    }, 0);
  const [subtotal, taxable] = [sum(printed), sum(onAll ? printed : printed.filter(({ taxed }) => taxed))];
  return (taxable * rate) % 100 === 0 ? { subtotal, tax: (taxable * rate) / 100 } : undefined;
}

/** Traps: notes that are crossed out, a line that is free of tax, the number of the invoice that is void. */
export const correctedInvoice = defineTemplate(
  { id: "extraction-corrected-invoice", version: 2, sample: "core-extraction-corrected-invoice" },
  (random) => {
    const shop = random.pick(SHOPS);
    const [left, right] = random.sample(FAMILY_NAMES, 2);
    const replaced = `${left.charAt(0)}${right.charAt(0)}-${random.int(1000, 9999)}`;
    const number = `${replaced}-${random.pick(["A", "B", "C", "D"])}`;
    const issued = dayNumber(random.int(2028, 2039), random.int(1, 12), random.int(1, 28));
    const [terms, otherTerms] = random.sample([10, 14, 21, 28, 30, 45, 60], 2);
    const termsHold = random.pick([true, false]);
    const mark = `[initialled ${random.sample(INITIALS, 2).join(".")}.]`;
    const rate = random.pick([5, 10, 15, 20, 25]);
    const order = random.int(1000, 9999);
    return drawUntil(() => {
      const printed = drawLines(random, shop);
      const [valid, struck] = [drawValid(random, printed), drawVoid(random, printed)];
      const key = due(printed, valid, rate);
      const asPrinted = due(printed, [], rate);
      const misled = due(printed, [...valid, struck], rate);
      const allTaxed = due(printed, valid, rate, true);
      if (key === undefined || asPrinted === undefined || misled === undefined || allTaxed === undefined)
        return undefined;
      if ([asPrinted, misled].some(({ subtotal }) => subtotal === key.subtotal)) return undefined;
      const place = (line: Line) => printed.indexOf(line) + 1;
      const notes = random.shuffle<{ note?: Note; text: string }>([
        ...valid.map((note) => ({ note, text: `${mark} line ${place(note.line)}: ${note.text}` })),
        { note: struck, text: `[crossed out] line ${place(struck.line)}: ${struck.text}` },
        { text: `${termsHold ? mark : "[crossed out]"} terms ${otherTerms} days` },
      ]);
      // Whoever takes every note to hold must not be put right by a later one about the same line.
      const credulous = due(
        printed,
        notes.flatMap(({ note = [] }) => note),
        rate,
      );
      if (credulous === undefined || credulous.subtotal === key.subtotal) return undefined;
      const row = (line: Line) =>
        `${place(line)}  ${line.item.padEnd(20)}${String(line.quantity).padStart(4)} ${line.unit.padEnd(2)}  x ${money(line.cents).padStart(7)} ${money(line.quantity * line.cents).padStart(10)}`;
      const free = printed.find(({ taxed }) => !taxed)?.item.toLowerCase() ?? "";
      const answer = (cents: typeof key, days: number, invoice_number = number) => ({
        invoice_number,
        subtotal: cents.subtotal / 100,
        tax: cents.tax / 100,
        total: (cents.subtotal + cents.tax) / 100,
        due_date: isoDate(issued + days),
      });
      const [days, wrongDays] = termsHold ? [otherTerms, terms] : [terms, otherTerms];
      return {
        prompt:
          'The document in `input` is the scan of an invoice with handwritten notes. Initialled notes are valid and change what is billed; notes that are crossed out are not valid. Work out what is now due. Answer with JSON: {"invoice_number": string, "subtotal": number, "tax": number, "total": number, "due_date": "YYYY-MM-DD"}. The subtotal is without tax.',
        input: {
          document: lines(
            `${left.toUpperCase()} & ${right.toUpperCase()} ${shop.trade}`,
            `Invoice ${number}   (replaces ${replaced}, which is void)`,
            `Date of issue: ${isoDate(issued)}     Terms: ${terms} days from the date of issue`,
            `Your order: ${order}`,
            "",
            ...printed.map(row),
            `${"Subtotal".padStart(37)} ${money(asPrinted.subtotal).padStart(10)}`,
            `Tax is ${rate} % on every line but ${free}, which is free of tax.`,
            "",
            "Notes by hand:",
            ...notes.map(({ text }) => text),
          ),
        },
        output_format: "json",
        output_schema: {
          type: "object",
          properties: {
            invoice_number: { type: "string" },
            subtotal: { type: "number" },
            tax: { type: "number" },
            total: { type: "number" },
            due_date: { type: "string" },
          },
          required: ["invoice_number", "subtotal", "tax", "total", "due_date"],
        },
        grader: { type: "json_fields" },
        expected_output: answer(key, days),
        wrong_answers: [
          answer(asPrinted, days),
          answer(misled, days),
          answer(credulous, otherTerms),
          answer(allTaxed, days),
          answer(key, wrongDays),
          answer(key, days, replaced),
        ],
      };
    });
  },
);
