import { describe, expect, test } from "vitest";
import { addDays, inputOf, keyOf } from "./core-support.ts";

describe("core-extraction-corrected-invoice", () => {
  test("the key follows from the printed lines and the initialled notes", () => {
    const { document } = inputOf<{ document: string }>("core-extraction-corrected-invoice");
    const find = (pattern: RegExp) => pattern.exec(document)?.[1] ?? "";
    const bill = new Map(
      [...document.matchAll(/^\[initialled .*\] line (\d): .*bill (\d+)/gm)].map(([, line, count]) => [
        line,
        Number(count),
      ]),
    );
    const printed = [...document.matchAll(/^(\d) {2}(.*?) +(\d+) \w+ +x +([\d.]+) +([\d.]+)$/gm)];
    expect(printed.every(([, , , count, price, amount]) => Number(count) * Number(price) === Number(amount))).toBe(
      true,
    );
    const lines = printed.map(([, line, item, count, price]) => ({
      taxed: item !== "Delivery",
      cents: (bill.get(line) ?? Number(count)) * Math.round(Number(price) * 100),
    }));
    const subtotal = lines.reduce((sum, { cents }) => sum + cents, 0);
    const tax =
      (lines.filter(({ taxed }) => taxed).reduce((sum, { cents }) => sum + cents, 0) * Number(find(/Tax is (\d+) %/))) /
      100;
    expect({
      invoice_number: find(/^Invoice (\S+)/m),
      subtotal: subtotal / 100,
      tax: tax / 100,
      total: (subtotal + tax) / 100,
      due_date: addDays(find(/Date of issue: (\S+)/), Number(find(/Terms: (\d+) days/))),
    }).toEqual(keyOf("core-extraction-corrected-invoice"));
  });
});

describe("core-extraction-gateway-log", () => {
  test("the key names the requests whose last result by UTC is a failure", () => {
    const { log } = inputOf<{ log: string }>("core-extraction-gateway-log");
    const attempts = log
      .split("\n")
      .flatMap((line) => {
        const [, time = "", id = "", result = ""] = /^(\S+) \S+ req=(\S+) result=(\S+)$/.exec(line) ?? [];
        return id === "" ? [] : { at: Date.parse(time), id, result };
      })
      .toSorted((a, b) => a.at - b.at);
    expect(new Set(attempts.map(({ at }) => at)).size).toBe(attempts.length);
    const last = new Map(attempts.map(({ id, result }) => [id, result]));
    expect([...last.keys()].filter((id) => last.get(id) !== "ok").toSorted()).toEqual(
      keyOf("core-extraction-gateway-log"),
    );
  });
});

describe("core-extraction-dinner-thread", () => {
  const { mails } = inputOf<{ mails: { sent: string; body: string }[] }>("core-extraction-dinner-thread");
  type Dinner = { date: string; time: string; room: string; covers: number; vegetarian: number };
  /** What each mail changes, in the order in which the mails were sent. */
  const changes: [phrase: string, change: (dinner: Dinner) => Partial<Dinner>][] = [
    [
      "the Heron room on 2031-05-22 at 19:00 for 34 covers, 6 of them vegetarian",
      () => ({ date: "2031-05-22", time: "19:00", room: "Heron", covers: 34, vegetarian: 6 }),
    ],
    ["the date has to move to 2031-05-23", () => ({ date: "2031-05-23" })],
    ["all stays as booked", () => ({})],
    [
      "two fewer covers. One of the two would have eaten vegetarian",
      ({ covers, vegetarian }) => ({ covers: covers - 2, vegetarian: vegetarian - 1 }),
    ],
    [
      "you are now in the Orchard room; the kitchen there opens only at 19:30, so we start at 19:30",
      () => ({ room: "Orchard", time: "19:30" }),
    ],
    [
      "the first date is the right one after all. Three more guests join us, all vegetarian",
      ({ covers, vegetarian }) => ({ date: "2031-05-22", covers: covers + 3, vegetarian: vegetarian + 3 }),
    ],
  ];

  test("the key is what the mails leave when they are applied in the order of sending", () => {
    const sent = mails.toSorted((a, b) => a.sent.localeCompare(b.sent));
    expect(sent).not.toEqual(mails);
    expect(sent.map(({ body }, index) => body.includes(changes[index]?.[0] ?? "\0"))).toEqual(changes.map(() => true));
    const none: Dinner = { date: "", time: "", room: "", covers: 0, vegetarian: 0 };
    const agreed = changes.reduce((dinner, [, change]) => ({ ...dinner, ...change(dinner) }), none);
    expect(agreed).toEqual(keyOf("core-extraction-dinner-thread"));
  });
});

describe("core-extraction-crate-radio", () => {
  const { spelling, transmissions, later } = inputOf<{
    spelling: Record<string, string>;
    transmissions: { crate: string; code: string; pier: number }[];
    later: string[];
  }>("core-extraction-crate-radio");

  /** The code that a transmission spells, by the speaking rules of the prompt. */
  const decode = (spoken: string) => {
    let code = "";
    let twice = false;
    for (const word of spoken.replaceAll("all after dash again", "again").match(/[a-z]+/g) ?? []) {
      if (word === "again") code = code.slice(0, code.indexOf("-") + 1);
      else if (word === "correction") code = code.slice(0, -1);
      else if (word !== "double") code += (spelling[word] ?? "?").repeat(twice ? 2 : 1);
      twice = word === "double";
    }
    return code;
  };

  test("the key is the code of the one crate that ends at pier 4", () => {
    const pier = new Map(transmissions.map((sent) => [sent.crate, sent.pier]));
    for (const [, crate = "", to] of later.join(" ").matchAll(/(\w+)(?: crate)? goes to pier (\d)/g))
      pier.set(crate, Number(to));
    expect(later[1]).toContain("The third crate goes where the second was meant to go");
    pier.set("third", transmissions.find(({ crate }) => crate === "second")?.pier ?? 0);
    const codes = transmissions.filter(({ crate }) => pier.get(crate) === 4).map(({ code }) => decode(code));
    expect(codes).toEqual([keyOf("core-extraction-crate-radio")]);
  });
});
