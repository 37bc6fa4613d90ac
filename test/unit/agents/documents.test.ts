import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../agents/protocol.ts";
import { fields } from "../../agents/solve/fields.ts";
import { listEdits } from "../../agents/solve/list-edits.ts";
import { cron, lastAttempts, replenishment, scannedSum } from "../../agents/solve/records.ts";
import { taskOf, taskWith } from "./support.ts";

const json = { output_format: "json" as const };

test("the last attempt by true time decides, whatever the order and the offset of the lines", () => {
  const log = [
    "2030-05-01T10:00:00+02:00 a job=J1 result=ok",
    "2030-05-01T08:30:00+00:00 b job=J1 result=broken",
    "2030-05-01T09:00:00+02:00 a job=J2 result=broken",
    "2030-05-01T07:30:00+00:00 b job=J2 result=ok",
    '2030-05-01T07:40:00+00:00 b job=J2 note="result unclear"',
  ].join("\n");
  const prompt = "A job failed if its last attempt has the result `broken`. Give the ids.";
  expect(lastAttempts(taskWith({ log }, prompt, json))?.output).toEqual(["J1"]);
});

test("the sum of scanned lines is that of the true ones, each number once and void ones never", () => {
  const misread: Record<string, string> = { "0": "O", "1": "l", "7": "T" };
  const amount = fc.integer({ min: 100, max: 99_999 });
  fc.assert(
    fc.property(
      fc.uniqueArray(amount, { minLength: 1, maxLength: 10 }),
      fc.infiniteStream(fc.boolean()),
      (cents, coins) => {
        const scan = (text: string) =>
          Array.from(text, (digit) => (coins.next().value === true ? (misread[digit] ?? digit) : digit)).join("");
        const lines = cents.flatMap((value, at) => {
          const line = () => `${scan(String(100 + at))}  ${scan((value / 100).toFixed(2))}`;
          return at % 3 === 2 ? [line(), `${line()} VOID`] : [line(), line()];
        });
        const total = cents.filter((_, at) => at % 3 !== 2).reduce((sum, value) => sum + value, 0);
        const prompt = "It gives O for 0, l for 1 and T for 7. What is the sum? Answer with two decimals.";
        expect(scannedSum(taskWith({ lines }, prompt))?.output).toBe((total / 100).toFixed(2));
      },
    ),
  );
});

test("only articles at or below their level are ordered, in the fewest packs that reach the target", () => {
  const article = { on_its_way: 0, reorder_at: 10, target: 30, pack_size: 8 };
  const articles = [
    { ...article, sku: "A", on_hand: 10 },
    { ...article, sku: "B", on_hand: 11 },
    { ...article, sku: "C", on_hand: 2, discontinued: true },
    { ...article, sku: "D", on_hand: 6, on_its_way: 1 },
  ];
  const tools = [{ name: "order_packs", description: "", parameters: { properties: { sku: {}, packs: {} } } }];
  const calls = replenishment(taskWith({ articles }, "Order.", { output_format: "tool_calls", tools }))?.tool_calls;
  expect(calls).toEqual([
    { name: "order_packs", arguments: { sku: "A", packs: 3 } },
    { name: "order_packs", arguments: { sku: "D", packs: 3 } },
  ]);
});

test.each([
  ["Write the crontab line that fires at 07:15 and 19:15 every day.", "15 7,19 * * *"],
  ["A crontab schedule for 12:00 and 09:00 on every Tuesday to Saturday", "0 9,12 * * 2-6"],
  ["A crontab schedule for 12:00 and 09:30", undefined],
])("a schedule of times with one minute is written as cron fields: %s", (prompt, line) => {
  expect(cron(taskOf(prompt))?.output).toBe(line);
});

describe("fields of a document", () => {
  const read = (text: string, properties: Record<string, Json>) =>
    fields(taskWith({ text }, "Answer with JSON.", { ...json, output_schema: { type: "object", properties } }))?.output;

  test("are what follows their labels, of the type that the schema wants", () => {
    const text = "Order number: QX-7\nDue date: 2030-02-03\nTotal  1,204.50 EUR\nPieces: 12\nGift wrap: no";
    const schema = {
      order_number: { type: "string" },
      due_date: { type: "string" },
      total: { type: "number" },
      pieces: { type: "integer" },
      gift_wrap: { type: "boolean" },
      colour: { type: "string" },
    };
    const expected = {
      order_number: "QX-7",
      due_date: "2030-02-03",
      total: 1204.5,
      pieces: 12,
      gift_wrap: false,
      colour: null,
    };
    expect(read(text, schema)).toEqual(expected);
  });

  test("of a page are those that a reader sees, in the unit that the name wants", () => {
    const page =
      "<h1>Tin kettle</h1><!-- weight 9 kg --><p style='display: none'>Weight: 7 kg</p><p>Weight: <s>2 kg</s> 1.25 kg</p>";
    expect(read(page, { name: { type: "string" }, weight_g: { type: "integer" } })).toEqual({
      name: "Tin kettle",
      weight_g: 1250,
    });
  });

  test("are not invented where the document has none of them", () => {
    expect(read("Nothing to see here.", { order_number: { type: "string" } })).toBeUndefined();
  });
});

describe("edits of a list", () => {
  const words = ["north", "sun", "gale", "ice"];
  test.each([
    [["Reverse the order of the whole list."], "ice gale sun north"],
    [["Swap the second and the last word."], "north ice gale sun"],
    [["Delete every word of exactly three letters."], "north gale"],
    [["Put the word “fog” behind the first word."], "north fog sun gale ice"],
    [["Insert the word “fog” before the last word."], "north sun gale fog ice"],
    [["Move the last word to the front.", "Write the word at position 1 in capitals."], "ICE north sun gale"],
    [["Reverse the letters of the third word."], "north sun elag ice"],
    [["If the list has an even number of words, delete the first one; otherwise delete the last one."], "sun gale ice"],
    [
      [
        "Delete the last one.",
        "If the list now has an odd number of words, delete the middle one; otherwise delete the first one.",
      ],
      "north gale",
    ],
  ])("are made in their order: %j", (steps, result) => {
    expect(listEdits(taskWith({ words, steps }, "Edit."))?.output).toBe(result);
  });

  test("are not made at all where one is not understood", () => {
    expect(listEdits(taskWith({ words, steps: ["Reverse the list.", "Sing it."] }, "Edit."))).toBeNull();
  });
});
