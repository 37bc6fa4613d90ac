import { describe, expect, test } from "vitest";
import { coreTask, inputOf, keyOf } from "./core-support.ts";

describe("core-retrieval-cableway-refund", () => {
  const { passages } = inputOf<{ passages: { id: string; text: string }[] }>("core-retrieval-cableway-refund");
  const numberIn = (id: string, pattern: RegExp) =>
    Number(pattern.exec(passages.find((passage) => passage.id === id)?.text ?? "")?.[1]);
  const { prompt } = coreTask("core-retrieval-cableway-refund");
  const [price, used] = [Number(/for (\d+) EUR/.exec(prompt)?.[1]), Number(/used (\d+) rides/.exec(prompt)?.[1])];

  test("the key is the price less the used rides and the fee, each by its cited passage", () => {
    const fare = numberIn("P2", /single fare of (\d+) EUR/);
    const fee = numberIn("P6", /fee of (\d+) EUR is kept for refunds at a station/);
    expect(keyOf("core-retrieval-cableway-refund")).toEqual({
      refund_eur: price - used * fare - fee,
      sources: ["P2", "P6"],
    });
  });

  test("every other pair of a refund rule and a fee rule gives another amount", () => {
    const rest = [price - (used * price) / 10, price - used * numberIn("P2", /single fare of (\d+) EUR/), 0];
    const fees = [
      numberIn("P5", /fee of (\d+) EUR/),
      numberIn("P6", /fee of (\d+) EUR/),
      numberIn("P7", /to (\d+) EUR/),
      0,
    ];
    const amounts = rest.flatMap((left) => fees.map((fee) => left - fee));
    expect(amounts.filter((amount) => amount === 40)).toHaveLength(1);
  });
});

describe("core-retrieval-sealant-notes", () => {
  test("the key names the notes that meet the claim after corrections and withdrawals", () => {
    const { notes } = inputOf<{ notes: { id: string; text: string }[] }>("core-retrieval-sealant-notes");
    const all = notes.map(({ text }) => text).join("\n");
    const withdrawn = new Set([...all.matchAll(/^Withdrawn: (N\d+)/gm)].map(([, id]) => id));
    const corrected = new Map(
      [...all.matchAll(/^Correction of (N\d+): the humidity was (\d+) %/gm)].map(([, id, value]) => [
        id,
        Number(value),
      ]),
    );
    const confirms = notes.filter(({ id, text }) => {
      const [, product, layers, celsius, humidity, hours = 0, minutes] =
        /^(.+), (\w+) layers?, (\d+) °C, humidity (\d+) %: cured after (?:(\d+) h )?(\d+) min\.$/.exec(text) ?? [];
      return (
        product === "Velum" &&
        layers === "one" &&
        celsius === "20" &&
        (corrected.get(id) ?? Number(humidity)) >= 70 &&
        Number(hours) * 60 + Number(minutes) > 600 &&
        !withdrawn.has(id)
      );
    });
    expect(confirms.map(({ id }) => id)).toEqual(keyOf("core-retrieval-sealant-notes"));
  });
});

describe("core-retrieval-survey-key", () => {
  test("the key is who holds the key of the sheets' cabinet after all passages in order of date", () => {
    const { passages } = inputOf<{ passages: { dated: string; text: string }[] }>("core-retrieval-survey-key");
    let cabinet = "";
    let holders = new Map<string, string>();
    for (const { text } of passages.toSorted((a, b) => a.dated.localeCompare(b.dated))) {
      const moved = /sheets of 1974 (?:lie in|were moved to) cabinet (\w+)/.exec(text);
      const renamed = /^Cabinet (\w+) was renamed; it is now called cabinet (\w+)/.exec(text);
      const given = /^The key to cabinet (\w+) was given to (.+)\.$/.exec(text);
      const retired = /^(.+) retired; all keys he kept were given to (.+)\.$/.exec(text);
      if (moved) cabinet = moved[1] ?? "";
      if (renamed && cabinet === renamed[1]) cabinet = renamed[2] ?? "";
      if (given) holders.set(given[1] ?? "", given[2] ?? "");
      if (retired)
        holders = new Map([...holders].map(([name, who]) => [name, who === retired[1] ? (retired[2] ?? "") : who]));
    }
    expect([holders.get(cabinet)]).toEqual(keyOf("core-retrieval-survey-key"));
  });
});

describe("core-retrieval-hut-questions", () => {
  const { passages } = inputOf<{ passages: { text: string }[] }>("core-retrieval-hut-questions");
  const about = (...words: string[]) =>
    passages.map(({ text }) => text).filter((text) => words.every((word) => text.includes(word)));

  test("the key follows from the passages about the right hut", () => {
    const [loftOpen = "", loftClosed = ""] = about("Skarv Hut", "loft");
    expect(loftClosed).toContain("its beds were taken out for good");
    const [, perRoom] = /two rooms with (\d+) beds each/.exec(loftOpen) ?? [];
    const years =
      about("Skarv Hut", "roof")
        .join()
        .match(/\b\d{4}\b/g) ?? [];
    const [, warden] = /to \w+ (\w+) in January 2031; she holds it now/.exec(about("Lomm Hut", "warden").join()) ?? [];
    expect({ q1: 2 * Number(perRoom), q2: Math.max(...years.map(Number)), q3: null, q4: warden }).toEqual(
      keyOf("core-retrieval-hut-questions"),
    );
  });

  test("no passage tells the size of the tank that has no answer", () => {
    expect(about("Skarv Hut", "litres")).toEqual([]);
  });
});
