import { allGroups, clockOf, groups, inputOf, minutesOf, only, parseCents, type Solver } from "./support.ts";

const DAY_AND_MONTH = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });
const isoDay = (time: number) => new Date(time).toISOString().slice(0, 10);

/** Reads the scan line by line, and strikes from it what the notes that hold say. */
const correctedInvoice: Solver = (asked) => {
  const { document } = inputOf<{ document: string }>(asked);
  const [printed = "", byHand = ""] = document.split("Notes by hand:\n");
  const held = byHand.split("\n").filter((note) => note.startsWith("[initialled"));
  const [rate = ""] = groups(/Tax is (\d+) %/, printed);
  const [free = ""] = groups(/on every line but (\w+), which is free of tax/, printed);
  let [subtotal, taxable] = [0, 0];
  for (const [number, item = "", quantity, price = ""] of allGroups(
    /^(\d) {2}(.+?) +(\d+) [a-z]+ +x +([\d.]+) +[\d.]+$/gm,
    printed,
  )) {
    const bills = held.flatMap((note) => allGroups(new RegExp(`\\] line ${number}: .*\\bbill (\\d+)`, "g"), note));
    const cents = Number(bills.length === 0 ? quantity : only(bills)[0]) * parseCents(price);
    subtotal += cents;
    if (item.toLowerCase() !== free) taxable += cents;
  }
  const agreed = held.flatMap((note) => allGroups(/\] terms (\d+) days/g, note));
  const days = Number((agreed[0] ?? groups(/Terms: (\d+) days from the date of issue/, printed))[0]);
  const [issued = ""] = groups(/Date of issue: (\S+)/, printed);
  const tax = Math.round((taxable * Number(rate)) / 100);
  return {
    invoice_number: groups(/^Invoice (\S+)/m, printed)[0] ?? "",
    subtotal: subtotal / 100,
    tax: tax / 100,
    total: (subtotal + tax) / 100,
    due_date: isoDay(Date.parse(issued) + days * 86_400_000),
  };
};

const gatewayLog: Solver = (asked) => {
  const bad = groups(/has the result `(\w+)` or `(\w+)`/, asked.prompt);
  const attempts = allGroups(/^(\S+) \S+ \w+=(\w+) result=(\w+)$/gm, inputOf<{ log: string }>(asked).log);
  const last = new Map<string, string>();
  for (const [, id = "", result = ""] of attempts.toSorted(([a = ""], [b = ""]) => Date.parse(a) - Date.parse(b))) {
    last.set(id, result);
  }
  return [...last].filter(([, result]) => bad.includes(result)).map(([id]) => id);
};

const COUNTS = ["none", "one", "two", "three", "four", "five", "six"];

function count(word: string): number {
  const value = COUNTS.indexOf(word.toLowerCase());
  if (value < 0) throw new Error(`${word} is no number`);
  return value;
}

/** Reads the mails in order, without the one that a later one takes back. */
const dinnerThread: Solver = (asked) => {
  const { mails } = inputOf<{ mails: { sent: string; from: string; body: string }[] }>(asked);
  const thread = mails.toSorted((a, b) => Date.parse(`${a.sent}Z`) - Date.parse(`${b.sent}Z`));
  const [day = "", month] = groups(
    /Forget my mail of (\d+) (\w+)/,
    only(thread.filter(({ body }) => body.includes("Forget"))).body,
  );
  const isTakenBack = ({ sent, from }: (typeof mails)[number]) =>
    from.endsWith("(host)") && DAY_AND_MONTH.format(new Date(`${sent}Z`)) === `${day} ${month}`;
  only(thread.filter(isTakenBack));
  let [date = "", time = "", room = "", covers = 0, vegetarian = 0]: [string?, string?, string?, number?, number?] = [];
  for (const { body } of thread.filter((mail) => !isTakenBack(mail))) {
    const [opening] = allGroups(/the (\w+) room on (\S+) at (\S+) for (\d+) covers, (\d+) of them vegetarian/g, body);
    if (opening !== undefined) {
      [room = "", date = "", time = ""] = opening;
      [covers = 0, vegetarian = 0] = opening.slice(3).map(Number);
    }
    for (const [to = ""] of allGroups(/date has to move to (\d{4}-\d\d-\d\d)/g, body)) date = to;
    for (const [to = ""] of allGroups(/(?:you are now in|give us) the (\w+) room/g, body)) room = to;
    for (const [at = ""] of allGroups(/so we start at (\d\d:\d\d)/g, body)) time = at;
    for (const [fewer = "", eaters = ""] of allGroups(/count (\w+) fewer covers\. (\w+) of the/g, body)) {
      covers -= count(fewer);
      vegetarian -= count(eaters);
    }
    for (const [more = "", eaters = ""] of allGroups(/(\w+) more guests join us, (\w+)/g, body)) {
      covers += count(more);
      vegetarian += count(eaters === "all" ? more : eaters);
    }
  }
  return { date, time: clockOf(minutesOf(time)), room, covers, vegetarian };
};

/** Writes each code down as it is spoken, one sentence after another, then follows the orders. */
const crateRadio: Solver = (asked) => {
  const [item = ""] = groups(/^Three (\w+) codes/, asked.prompt);
  const [place = "", wanted] = groups(/finally goes to (\w+) (\d+)\?/, asked.prompt);
  const [double, correction = "", again] = groups(
    /“(\w+)” before .* after “(\w+)”, .*; “([\w ]+)” cancels/,
    asked.prompt,
  );
  const { spelling, transmissions, later } = inputOf<{
    spelling: Record<string, string>;
    transmissions: Record<string, string | number>[];
    later: string[];
  }>(asked);
  const write = (code: string) => {
    let written = "";
    for (const sentence of code.split(/\. ?/)) {
      if (sentence === again) written = written.slice(0, written.indexOf("-") + 1);
      else {
        if (sentence.startsWith(correction)) written = written.slice(0, -1);
        let times = 1;
        for (const word of sentence.split(" ")) {
          if (word !== double) written += (spelling[word] ?? "").repeat(times);
          times = word === double ? 2 : 1;
        }
      }
    }
    return written;
  };
  const where = new Map(transmissions.map((one) => [String(one[item]), Number(one[place])]));
  const at = (ordinal: string) => where.get(ordinal) ?? Number.NaN;
  for (const order of later) {
    const [[follower = "", followed = ""] = []] = allGroups(/[Tt]he (\w+) \w+ goes where the (\w+) was/g, order);
    if (follower !== "") where.set(follower, at(followed));
    const [[one = "", other = ""] = []] = allGroups(/The (\w+) and the (\w+) \w+ swap/g, order);
    if (one !== "") {
      const before = at(one);
      where.set(one, at(other));
      where.set(other, before);
    }
    for (const [mover = "", to] of allGroups(/the (\w+) (?:\w+ )?goes to \w+ (\d+)/gi, order))
      where.set(mover, Number(to));
  }
  const [target] = only([...where].filter(([, goes]) => goes === Number(wanted)));
  return write(String(only(transmissions.filter((one) => one[item] === target))["code"]));
};

/** Solvers of the templates of `data_extraction`. */
export const dataExtractionSolvers: Record<string, Solver> = {
  "extraction-corrected-invoice": correctedInvoice,
  "extraction-gateway-log": gatewayLog,
  "extraction-dinner-thread": dinnerThread,
  "extraction-crate-radio": crateRadio,
};
