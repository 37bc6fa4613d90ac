import { type Check, groups, inputOf, numbers, only, parseCents, parseDay } from "./support.ts";

const dayText = (day: number) => new Date(day * 86_400_000).toISOString().slice(0, 10);

const invoiceCorrections: Check = (task) => {
  const { document } = inputOf<{ document: string }>(task);
  const [invoice = ""] = groups(/INVOICE (\S+)/, document);
  const [issued = "", terms] = groups(/Issued: (.+?)\. Payable within (\d+) days/, document);
  const [handling = ""] = groups(/Handling, once per invoice: ([\d.]+)/, document);
  const printed = document.split("\n").flatMap((row) => {
    const [position, item, quantity, price, amount] = row.split(" | ");
    if (amount === undefined || position === "Pos.") return [];
    if (Number(quantity) * parseCents(price ?? "") !== parseCents(amount)) throw new Error(`wrong amount of ${item}`);
    return [{ position, quantity: Number(quantity), cents: parseCents(price ?? "") }];
  });
  const subtotal = printed.reduce((sum, { quantity, cents }) => sum + quantity * cents, 0);
  if (subtotal !== parseCents(groups(/^Goods ([\d.]+)$/m, document)[0] ?? "")) throw new Error("wrong printed sum");
  const notes = document.split("\n").filter((row) => row.startsWith("- "));
  const [withdrawn] = groups(/Withdraw what I wrote on pos\. (\d)/, notes.at(-1) ?? "");
  const goods = printed.reduce((sum, line) => {
    const note = notes.find((text) => text.startsWith(`- Pos. ${line.position}`));
    if (note === undefined || line.position === withdrawn) return sum + line.quantity * line.cents;
    if (note.includes("Take it off")) return sum;
    const charged = /charge (\d+)/.exec(note)?.[1];
    const price = /price per piece is ([\d.]+),/.exec(note)?.[1];
    return sum + Number(charged ?? line.quantity) * (price === undefined ? line.cents : parseCents(price));
  }, 0);
  const total = (goods + parseCents(handling)) / 100;
  return { invoice, due: dayText(parseDay(issued) + Number(terms)), goods: goods / 100, total };
};

const requestLog: Check = (task) => {
  const { log } = inputOf<{ log: string[] }>(task);
  const attempts = new Map<string, { begin: number; first: string; end?: number; status?: string }>();
  let previous = 0;
  for (const row of log) {
    const [time = "", id = "", event, detail = ""] = row.split(" ");
    const at = Date.parse(`1970-01-01T${time}Z`);
    if (at <= previous) throw new Error("the log is out of order");
    previous = at;
    const attempt = attempts.get(id);
    if (event === "begin") attempts.set(id, { begin: at, first: detail.replace("retry-of=", "") || id });
    else if (attempt !== undefined) attempts.set(id, { ...attempt, end: at, status: detail.replace("status=", "") });
  }
  const done = [...attempts].filter(([, { status }]) => status === "200");
  const saved = new Set(done.map(([, { first }]) => first));
  const requests = new Set([...attempts.values()].map(({ first }) => first));
  const duration = ([, { begin, end }]: (typeof done)[number]) => (end ?? 0) - begin;
  const slowest_ms = Math.max(...done.map(duration));
  const slowest = only(done.filter((attempt) => duration(attempt) === slowest_ms))[0];
  return { lost: [...requests.difference(saved)], slowest, slowest_ms };
};

interface Mail {
  sent: string;
  from: string;
  text: string;
}

const mailThread: Check = (task) => {
  const [host] = groups(/Only what the host (\w+) writes/, task.prompt);
  const mails = inputOf<{ mails: Mail[] }>(task).mails.toSorted((a, b) => (a.sent < b.sent ? -1 : 1));
  if (new Set(mails.map(({ sent }) => sent)).size !== mails.length) throw new Error("two mails of one minute");
  const texts = mails.filter(({ from }) => from === host).map(({ text }) => text);
  const [date = "", room = "", people, food = ""] = groups(
    /^Our dinner is on (.+) in the (.+) room\. We are (\d+)\. (.+) does the food\.$/,
    texts[0] ?? "",
  );
  const settled = { date, room, people: Number(people), food };
  for (const text of texts.slice(1)) {
    settled.room = /booking to the (.+) room\./.exec(text)?.[1] ?? settled.room;
    settled.food = /The food now comes from (.+)\.$/.exec(text)?.[1] ?? settled.food;
    settled.people += Number(/^(\d+) more people/.exec(text)?.[1] ?? 0);
    settled.people -= Number(/^(\d+) people have cancelled/.exec(text)?.[1] ?? 0);
    settled.date = /We move to (.+)\./.exec(text)?.[1] ?? settled.date;
    if (text.includes("back to the day of my first mail")) settled.date = date;
  }
  return { ...settled, date: dayText(parseDay(settled.date)) };
};

interface Passage {
  id: string;
  text: string;
}

const policyVersions: Check = (task) => {
  const [item, region, on = ""] = groups(/holds for (.+?) in (.+?) on (\d+ \w+ \d+)\?/, task.prompt);
  const parsed = inputOf<{ passages: Passage[] }>(task)
    .passages.filter(({ text }) => !text.startsWith("Draft"))
    .map(({ id, text }) => {
      const isRule = text.startsWith("Rules");
      const [place, from = ""] = groups(/ for (.+?)[:] (?:with effect )?from (\d+ \w+ \d+)/, text);
      const [subject] = groups(isRule ? /is paid for (.+?);/ : /limit for (.+?) that/, text);
      return { id, isRule, place, subject, from: parseDay(from), amount: numbers(/\$(\d+)/, text)[0] ?? 0 };
    })
    .filter(({ place, subject, from }) => place === region && subject === item && from <= parseDay(on));
  const rules = parsed.filter(({ isRule }) => isRule).toSorted((a, b) => b.from - a.from);
  const base = only(rules.slice(0, 1));
  const rises = parsed.filter(({ isRule, from }) => !isRule && from > base.from);
  const used = [base, ...rises];
  return { limit: used.reduce((sum, { amount }) => sum + amount, 0), sources: used.map(({ id }) => id) };
};

const directoryHops: Check = (task) => {
  const { passages } = inputOf<{ passages: Passage[] }>(task);
  const [head = ""] = groups(/team headed by (\w+ \w+) works/, task.prompt);
  const leads = only(
    passages.filter(({ text }) => text.startsWith(`${head} is the head`) || text.endsWith(`headed by ${head}.`)),
  );
  const [team = ""] = groups(/[Tt]eam (\w+)/, leads.text);
  const places = passages
    .filter(({ text }) => new RegExp(`[Tt]eam ${team}\\b`).test(text) && /\d{4}/.test(text))
    .map(({ id, text }) => {
      const [site = ""] = groups(/(?:to|works at|worked at) ([A-Z][\w ]*?)(?: now)?\.$/, text);
      return { id, site, year: numbers(/(\d{4})/, text)[0] ?? 0 };
    })
    .toSorted((a, b) => b.year - a.year);
  const [works] = places;
  const supplies = only(
    passages.filter(
      ({ text }) => text.includes(`site at ${works?.site} is supplied`) || text.endsWith(`the site at ${works?.site}.`),
    ),
  );
  const [by, direct] = [/supplied by (.+)\.$/.exec(supplies.text), /^(.+) supplies/.exec(supplies.text)];
  return { company: by?.[1] ?? direct?.[1] ?? "", sources: [leads.id, works?.id ?? "", supplies.id] };
};

const FAILURES = /the chillers stopped|pump seized|air conditioning gave out/;
const ORDINALS = ["first", "second", "third", "fourth"];

const incidentReports: Check = (task) => {
  const [site, ordinal = ""] = groups(/equipment at (.+?) in the (\w+) quarter/, task.prompt);
  const quarterOf = (text: string) =>
    Math.floor(new Date(`${groups(/, (\d+ \w+):/, text)[0]} 2027 UTC`).getUTCMonth() / 3);
  return inputOf<{ reports: Passage[] }>(task)
    .reports.filter(({ text }) => text.startsWith(`${site},`) && FAILURES.test(text))
    .filter(({ text }) => quarterOf(text) === ORDINALS.indexOf(ordinal))
    .map(({ id }) => id);
};

/** Second computations for the templates of `data_extraction` and `retrieval`. */
export const documentChecks: Record<string, Check> = {
  "invoice-corrections": invoiceCorrections,
  "request-log": requestLog,
  "mail-thread": mailThread,
  "policy-versions": policyVersions,
  "directory-hops": directoryHops,
  "incident-reports": incidentReports,
};
