import { zip } from "../../templates/lists.ts";
import { drawUntil } from "../../templates/random.ts";
import { clock, dayNumber, isoDate, lines, longDate, money, prose } from "../../templates/text.ts";
import { defineTemplate } from "./types.ts";
import { GOODS, PLACES } from "../../templates/words.ts";

const invoiceCorrections = defineTemplate(
  {
    id: "invoice-corrections",
    title: "An invoice with a clerk's notes",
    domain: "data_extraction",
    output_format: "json",
    reference_cost_usd: 0.006,
    reference_latency_ms: 8000,
  },
  (random) => {
    const [seller, buyer] = random.companies(2);
    const [number, order] = random.codes("N", 2);
    const issued = dayNumber(2027, 1, 1) + random.int(0, 700);
    const terms = random.pick([10, 14, 21, 30, 45]);
    const handling = random.int(250, 1450);
    const printed = random
      .sample(GOODS, 6)
      .map((item, i) => ({ position: i + 1, item, quantity: random.int(3, 24), cents: random.int(120, 2950) }));
    const [miscounted, repriced, returned, withdrawn] = random.sample(printed, 4);
    const quantity = miscounted.quantity + random.int(1, 6);
    const cents = repriced.cents - random.int(15, 95);
    const notes = random.shuffle([
      `Pos. ${miscounted.position}: the packing list says ${quantity}, and that is right; charge ${quantity}.`,
      `Pos. ${repriced.position}: agreed price per piece is ${money(cents)}, as confirmed by ${buyer}.`,
      `Pos. ${returned.position} came back unopened. Take it off.`,
      `Pos. ${withdrawn.position}: should be ${withdrawn.quantity + random.int(2, 5)} pieces.`,
    ]);
    const goods = printed.reduce((sum, line) => {
      if (line === returned) return sum;
      return sum + (line === miscounted ? quantity : line.quantity) * (line === repriced ? cents : line.cents);
    }, 0);
    const document = lines(
      `${seller}   INVOICE ${number}   (your order ${order})`,
      `To: ${buyer}`,
      `Issued: ${longDate(issued)}. Payable within ${terms} days of issue.`,
      "",
      "Pos. | Item | Qty | Price per piece | Amount",
      ...printed.map((line) =>
        [line.position, line.item, line.quantity, money(line.cents), money(line.quantity * line.cents)].join(" | "),
      ),
      `Goods ${money(printed.reduce((sum, line) => sum + line.quantity * line.cents, 0))}`,
      `Handling, once per invoice: ${money(handling)}`,
      "",
      "Clerk's notes, later ones override earlier ones:",
      ...notes.map((note) => `- ${note}`),
      `- Withdraw what I wrote on pos. ${withdrawn.position}: the printed line is right.`,
    );
    return {
      prompt: prose(
        "The input holds an invoice as printed, with notes that correct it. Apply the notes and answer with a JSON object and",
        'nothing else: {"invoice": its number, "due": last day of payment as YYYY-MM-DD, "goods": corrected amount of the',
        'goods, "total": goods and handling}. Amounts are numbers with at most two decimals.',
      ),
      input: { document },
      grader: { type: "json_fields", fields: { goods: { tolerance: 0.001 }, total: { tolerance: 0.001 } } },
      expected_output: {
        invoice: number,
        due: isoDate(issued + terms),
        goods: goods / 100,
        total: (goods + handling) / 100,
      },
    };
  },
);

const REQUEST_KINDS = ["ok", "ok", "retried", "retried", "failed", "failed", "hung", "hung"] as const;

/** `HH:MM:SS.mmm` of a number of milliseconds since midnight. */
function stamp(ms: number): string {
  return `${clock(Math.floor(ms / 60_000))}:${((ms % 60_000) / 1000).toFixed(3).padStart(6, "0")}`;
}

const requestLog = defineTemplate(
  {
    id: "request-log",
    title: "Requests in a log",
    domain: "data_extraction",
    output_format: "json",
    reference_cost_usd: 0.007,
    reference_latency_ms: 9000,
  },
  (random) =>
    drawUntil(() => {
      const opened = 60_000 * random.int(60, 1380);
      const ids = random.codes("r", 14);
      const kinds = random.sample(REQUEST_KINDS, 7);
      const durations = new Map<string, number>();
      const lost: string[] = [];
      const entries = zip(kinds, zip(ids, ids.slice(7))).flatMap(([kind, [id, retry]]) => {
        const start = opened + random.int(0, 9000);
        const end = start + random.int(40, 4000);
        const begin = { at: start, text: `${id} begin` };
        if (kind === "ok") {
          durations.set(id, end - start);
          return [begin, { at: end, text: `${id} end status=200` }];
        }
        const again = end + random.int(20, 900);
        const last = again + random.int(40, 4000);
        const events = [
          begin,
          { at: end, text: `${id} end status=503` },
          { at: again, text: `${retry} begin retry-of=${id}` },
        ];
        if (kind === "retried") durations.set(retry, last - again);
        else lost.push(id);
        if (kind === "hung") return events;
        return [...events, { at: last, text: `${retry} end status=${kind === "retried" ? 200 : 500}` }];
      });
      const times = entries.map(({ at }) => at);
      const [slowest, second] = [...durations].toSorted(([, a], [, b]) => b - a);
      if (new Set(times).size < times.length || slowest === undefined || slowest[1] === second?.[1]) return undefined;
      const log = entries.toSorted((a, b) => a.at - b.at).map(({ at, text }) => `${stamp(at)} ${text}`);
      return {
        prompt: prose(
          "The input is the whole log of a service. A request succeeds when it ends with status 200. One that ends with another",
          "status is tried again once under a new id, which counts as its second attempt; an attempt without an end line never",
          'finished. Answer with a JSON object and nothing else: {"lost": ids of the requests (the id of the first attempt) that',
          'did not succeed in any attempt, in any order, "slowest": id of the successful attempt that took longest, from its',
          'begin line to its end line, "slowest_ms": its duration in milliseconds}.',
        ),
        input: { log },
        grader: { type: "json_fields", unordered: ["lost"] },
        expected_output: { lost, slowest: slowest[0], slowest_ms: slowest[1] },
      };
    }),
);

const mailThread = defineTemplate(
  {
    id: "mail-thread",
    title: "What the thread settled",
    domain: "data_extraction",
    output_format: "json",
    reference_cost_usd: 0.006,
    reference_latency_ms: 8000,
  },
  (random) => {
    const [host, guest, clerk] = random.people(3);
    const [roomA, roomB, roomC] = random.sample(PLACES, 3);
    const [cookA, cookB, cookC] = random.companies(3);
    const firstDay = dayNumber(2027, 2, 1) + random.int(0, 300);
    const [dayB, dayC] = [firstDay + random.int(2, 9), firstDay + random.int(10, 20)];
    const [heads, more, fewer] = [random.int(24, 60), random.int(3, 11), random.int(2, 9)];
    const reverts = random.pick([true, false]);
    const middle = random.shuffle([
      [guest, `Would the ${roomC} room not be nicer? It has more light.`],
      [host, `I have changed the booking to the ${roomB} room.`],
      [host, `${more} more people have signed up; I have counted them in.`],
      [guest, `I am sorry, ${fewer + 1} of us may not come. I shall ask them.`],
      [host, `${fewer} people have cancelled for good; I have taken them off.`],
      [host, `We move to ${longDate(dayB)}.`],
      [clerk, `I have heard that ${cookC} will do the food. I would prefer ${longDate(dayC)}, too.`],
      [host, `The food now comes from ${cookB}.`],
    ] as const);
    const ending = reverts
      ? `The new day does not work after all: back to the day of my first mail. The rest stands.`
      : `Everything stands as I last wrote it, whatever others may have told you.`;
    const first = `Our dinner is on ${longDate(firstDay)} in the ${roomA} room. We are ${heads}. ${cookA} does the food.`;
    const sentDay = firstDay - 30;
    const mails = [[host, first] as const, ...middle, [host, ending] as const].map(([from, text], i) => ({
      sent: `${isoDate(sentDay + Math.floor(i / 3))} ${clock(540 + 150 * (i % 3) + random.int(0, 120))}`,
      from,
      text,
    }));
    return {
      prompt: prose(
        "The input holds the mails of one thread, not in the order in which they were sent. Only what the host",
        `${host} writes settles anything. What holds after the last mail? Answer with a JSON object and nothing else:`,
        '{"date": "YYYY-MM-DD", "room": name without the word room, "people": number, "food": company}.',
      ),
      input: { mails: random.shuffle(mails) },
      grader: { type: "json_fields" },
      expected_output: {
        date: isoDate(reverts ? firstDay : dayB),
        room: roomB,
        people: heads + more - fewer,
        food: cookB,
      },
    };
  },
);

/** Templates of the domain `data_extraction`. */
export const dataExtractionTemplates = [invoiceCorrections, requestLog, mailThread];
