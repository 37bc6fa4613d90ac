import { allGroups, groups, inputOf, only, parseCents, type Solver } from "./support.ts";

/** How a kind of trouble is called in a list of choices, and how customers write who have it. */
const TROUBLES: readonly { called: RegExp; felt: RegExp }[] = [
  { called: /billing|payment|charge/, felt: /left my bank twice|the full amount|cost me four euros/ },
  { called: /shipping|delivery|transport/, felt: /two villages away|nineteen days|over the fence/ },
  { called: /damage|defect|breakage/, felt: /a sound one/ },
  { called: /account|signing|login/, felt: /let me in again/ },
  { called: /wrong item|mixed-up/, felt: /let us swap|bring me what is mine/ },
  { called: /missing|incomplete|accessories/, felt: /Please send (it|the others) on/ },
  { called: /cancel|subscription|regular/, felt: /stop them for good|before it renews itself|bring it to an end/ },
  { called: /advertising|marketing/, felt: /inbox in peace|off that list/ },
];

const customerMessage: Solver = (asked) => {
  const { message } = inputOf<{ message: string }>(asked);
  const trouble = only(TROUBLES.filter(({ felt }) => felt.test(message)));
  const choices = allGroups(/^([A-E])\) (.+)$/gm, asked.prompt);
  const [letter = ""] = only(choices.filter(([, choice = ""]) => trouble.called.test(choice)));
  return letter;
};

const productPage: Solver = (asked) => {
  const { page } = inputOf<{ page: string }>(asked);
  const [seen = ""] = page
    .replaceAll(/<!--.*?-->|<head>.*?<\/head>|<s>.*?<\/s>|<(\w+)[^>]*(?:display:none| hidden)[^>]*>.*?<\/\1>/gs, "")
    .split("<h2>");
  const text = seen.replaceAll(/<[^>]+>/g, " ");
  const [name = ""] = groups(/<h1>(.*?)<\/h1>/, seen);
  const [price] = groups(/([\d.]+) EUR\s+a piece/, text);
  const [without, together] = groups(/Weight: ([\d.]+) kg without, ([\d.]+) kg with/, text);
  const [listed] = groups(/all weights in our lists are (with|without) the/, text);
  const stock = only(allGroups(/(In stock: [1-9]|Sold out)/g, text).flat());
  return {
    name,
    price_eur: Number(price),
    in_stock: stock !== "Sold out",
    weight_g: Math.round(1000 * Number(listed === "with" ? together : without)),
  };
};

const scannedReceipts: Solver = (asked) => {
  const [errors = ""] = groups(/it sometimes gives (.+); it never errs/, asked.prompt);
  const [mark = ""] = groups(/A line with the word (\w+) does not count/, asked.prompt);
  const digits = new Map(
    allGroups(/(\w)(?: or (\w))? for (\d)/g, errors).flatMap(([one = "", other = "", digit = ""]) => [
      [one, digit],
      [other, digit],
    ]),
  );
  const mended = (text = "") => text.replaceAll(/[A-Za-z]/g, (letter) => digits.get(letter) ?? letter);
  const amounts = new Map<string, number>();
  const gone = new Set<string>();
  for (const line of inputOf<{ lines: string[] }>(asked).lines) {
    const [number, amount, word] = line.split(/ +/);
    const known = amounts.get(mended(number)) ?? parseCents(mended(amount));
    if (known !== parseCents(mended(amount)) || !(known > 0)) throw new Error(`${line} contradicts another scan`);
    amounts.set(mended(number), known);
    if (word === mark) gone.add(mended(number));
  }
  let cents = 0;
  for (const [number, amount] of amounts) if (!gone.has(number)) cents += amount;
  return (cents / 100).toFixed(2);
};

const choirAverage: Solver = (asked) => {
  const [mean = "", members = "", named = ""] = groups(
    /need the mean (\w+) of all (\w+) of the \w+ (\w+) in/,
    asked.prompt,
  );
  const list = inputOf<Record<string, Record<string, number>[]>>(asked)[named] ?? [];
  let [size, total] = [0, 0];
  for (const group of list) {
    size += group[members] ?? Number.NaN;
    total += (group[members] ?? Number.NaN) * (group[`mean_${mean}`] ?? Number.NaN);
  }
  return (Math.round((10 * total) / size) / 10).toFixed(1);
};

/** Solvers of the templates of `robustness`. */
export const robustnessSolvers: Record<string, Solver> = {
  "robustness-customer-message": customerMessage,
  "robustness-product-page": productPage,
  "robustness-scanned-receipts": scannedReceipts,
  "robustness-choir-average": choirAverage,
};
