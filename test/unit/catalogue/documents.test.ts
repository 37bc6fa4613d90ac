import { describe, expect, test } from "vitest";
import { documents } from "../../../shared/suites/public/documents/index.ts";
import { addDays, minutesOf } from "./core-support.ts";
import { readerOf, testSuite } from "./suite-support.ts";

const { keyOf, inputOf } = readerOf(documents);
const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

testSuite(documents, ["data_extraction", "retrieval"]);

test("there are eighteen tasks, half of each domain", () => {
  expect(documents.tasks.filter(({ domain }) => domain === "retrieval")).toHaveLength(9);
  expect(documents.tasks).toHaveLength(18);
});

describe("orders: the key is what a reading of the papers by rule gives", () => {
  test("outstanding-glassware", () => {
    const { papers } = inputOf<{ papers: string[] }>("outstanding-glassware");
    const lines = papers.flatMap((paper) =>
      [...paper.matchAll(/^(G-\d+) \w+ (?:small )?(\d+) pcs(.*)$/gm)].map(([, article = "", pieces, note = ""]) => ({
        paper: /^[A-Z ]+\b/.exec(paper)?.[0].trim() ?? "",
        article,
        pieces: Number(pieces),
        note,
      })),
    );
    // The correction cancels one line of the second note: the only delivery of 48 pieces of G-10.
    const standing = lines.filter(
      ({ paper, article, pieces }) => paper !== "DELIVERY NOTE" || article !== "G-10" || pieces !== 48,
    );
    expect(standing).toHaveLength(lines.length - 1);
    const [changed = "", wanted] = /(G-\d+) bowl now (\d+) pcs/.exec(papers.at(-1) ?? "")?.slice(1) ?? [];
    const ordered = new Map(
      standing.filter(({ paper }) => paper === "ORDER").map(({ article, pieces }) => [article, pieces]),
    );
    ordered.set(changed, Number(wanted));
    const outstanding = [...ordered].map(([article, pieces]) => {
      const received = standing.filter((line) => line.article === article && /DELIVERY|CORRECTION/.test(line.paper));
      const toReplace = standing.filter((line) => line.article === article && /replace/.test(line.note));
      const left = pieces - sum(received.map((line) => line.pieces)) + sum(toReplace.map((line) => line.pieces));
      return [article, left];
    });
    expect(Object.fromEntries(outstanding)).toEqual(keyOf("outstanding-glassware"));
  });

  test("festival-catering-mails: Sandoval's own words, and what she agrees to", () => {
    const { mails } = inputOf<{ mails: { from: string; text: string }[] }>("festival-catering-mails");
    const [first = "", second = "", third = ""] = mails
      .filter(({ from }) => from === "Ottilie Sandoval")
      .map(({ text }) => text);
    const ordered = (article: string) => Number(new RegExp(`${article} (\\d+)`).exec(first)?.[1]);
    const offeredBread = Number(/(\d+) bread/.exec(mails[1]?.text ?? "")?.[1]);
    const [, hour, minute] = /at (\d+):(\d+)/.exec(first) ?? [];
    expect([second, third]).toEqual([
      expect.stringMatching(/Yes to the bread.*quarter of an hour before.*no change there.*down by a third/),
      expect.stringMatching(/in the middle.*right about the gate/),
    ]);
    const salad = (ordered("salad") + (ordered("salad") * 2) / 3) / 2;
    expect(keyOf("festival-catering-mails")).toEqual({
      soup: ordered("soup"),
      bread: offeredBread,
      stew: ordered("stew"),
      salad,
      delivery_time: `${hour}:${Number(minute) - 15}`,
      gate: /take gate ([A-Z])/.exec(mails[2]?.text ?? "")?.[1],
    });
  });

  test("boat-yard-statement", () => {
    const { statement } = inputOf<{ statement: string }>("boat-yard-statement");
    const lines = [...statement.matchAll(/^(\d{4}) +\S+ +(.+?) +([-+][\d,.]+)$/gm)].map(
      ([, ref = "", text = "", amount = ""]) => ({ ref, text, cents: Number(amount.replace(/[,.]/g, "")) }),
    );
    const undone = lines.flatMap(({ text }) => /^REV (\d{4})/.exec(text)?.[1] ?? []);
    const spent = lines.filter(
      ({ ref, text }) => /^(TARN MOSS|T&M TIMBER)/.test(text) && !text.includes("PENDING") && !undone.includes(ref),
    );
    expect(lines).toHaveLength(14);
    expect(keyOf("boat-yard-statement")).toBe((-sum(spent.map(({ cents }) => cents)) / 100).toFixed(2));
  });

  test("kiln-data-sheet-errata: only the errata that are not withdrawn for the K45 are applied", () => {
    const { sheet, errata } = inputOf<{ sheet: string; errata: string[] }>("kiln-data-sheet-errata");
    const [, chamber, celsius, kilowatt, weight] =
      /^K45 +(\d+) l +([\d,]+) C +([\d.]+) kW +(\d+) kg/m.exec(sheet) ?? [];
    const withdrawn = errata.flatMap(
      (text) => /(E\d)(?: was meant for the K30 and)? is withdrawn (?:for the K45\b|altogether)/.exec(text)?.[1] ?? [],
    );
    expect(withdrawn).toEqual(["E2", "E3"]);
    const standing = errata.filter((text) => !withdrawn.includes(text.slice(0, 2))).join("\n");
    expect(standing).not.toMatch(/K45: (power|the maximum)/);
    expect(keyOf("kiln-data-sheet-errata")).toEqual({
      chamber_litres: Number(/holds (\d+) l/.exec(standing)?.[1] ?? chamber),
      max_celsius: Number(celsius?.replace(",", "")),
      power_kw: Number(kilowatt),
      weight_kg: Number(weight) + Number(/stand weighs (\d+) kg/.exec(standing)?.[1]),
      fuse: /K45 and K45S: the fuse is (.+)\./.exec(standing)?.[1],
    });
  });
});

describe("records: the key is what replaying the record gives", () => {
  test("pump-station-alarm-log: second by second", () => {
    const { log } = inputOf<{ log: string }>("pump-station-alarm-log");
    const raised = new Set<string>();
    let [down, previous, midnight, last] = [0, 0, 0, 0];
    for (const line of log.split("\n")) {
      const [, time = "", station, act, letter = ""] = /^(\S+) (\S+) (RAISE|CLEAR|ALL CLEAR) ?(\w?)/.exec(line) ?? [];
      const [h = 0, m = 0, s = 0] = time.split(":").map(Number);
      const ofDay = h * 3600 + m * 60 + s;
      if (ofDay < last) midnight += 86_400;
      last = ofDay;
      if (station !== "P3" || line.endsWith("TEST")) continue;
      if (raised.size > 0) down += midnight + ofDay - previous;
      previous = midnight + ofDay;
      if (act === "RAISE") raised.add(letter);
      else if (act === "CLEAR") raised.delete(letter);
      else raised.clear();
    }
    expect(raised.size).toBe(0);
    expect(keyOf("pump-station-alarm-log")).toBe(down);
  });

  test("harbour-works-minutes", () => {
    const meeting = "2026-06-11";
    const weekday = (date: string) => new Date(`${date}T00:00:00Z`).getUTCDay();
    const nextWorkingDay = (date: string): string =>
      [0, 6].includes(weekday(date)) ? nextWorkingDay(addDays(date, 1)) : date;
    const lastWorkingDay = (date: string): string =>
      [0, 6].includes(weekday(date)) ? lastWorkingDay(addDays(date, -1)) : date;
    expect([weekday(meeting), weekday("2026-06-16")]).toEqual([4, 2]);
    const permit = lastWorkingDay("2026-06-30");
    expect(keyOf("harbour-works-minutes")).toEqual({
      actions: [
        { owner: "Maarit", due: "2026-06-16" },
        { owner: "Iker", due: addDays(meeting, 7) },
        { owner: "Dragan", due: permit },
        { owner: "Maarit", due: addDays(permit, -3) },
        { owner: "Solveig", due: nextWorkingDay("2026-06-19") },
      ],
    });
  });

  test("night-shift-hours", () => {
    const { page } = inputOf<{ page: string }>("night-shift-hours");
    const paid: Record<string, number> = {};
    for (const line of page.split("\n")) {
      const [, name = "", from = "", to = "", note = ""] =
        /^\w+ +(\w+) +(\d\d:\d\d)-(\d\d:\d\d) *(.*)$/.exec(line) ?? [];
      if (name === "") continue;
      const start = minutesOf(from) + Number(/came (\d+) min late/.exec(note)?.[1] ?? 0);
      const end = minutesOf(/(?:left at|stayed till) (\S+?)(?:,|$)/.exec(note)?.[1] ?? to);
      const stayed = Number(/stayed (\d+) min longer/.exec(note)?.[1] ?? 0);
      const worked = ((end - start + 1440) % 1440) + stayed;
      paid[name] = (paid[name] ?? 0) + worked - (worked > 360 && !note.includes("no break") ? 30 : 0);
    }
    expect(paid).toEqual(keyOf("night-shift-hours"));
  });

  test("peat-bog-sensor-file", () => {
    const { file } = inputOf<{ file: string }>("peat-bog-sensor-file");
    const readings = new Map<string, number>();
    let fahrenheit = false;
    for (const line of file.split("\n")) {
      if (line.startsWith("# unit")) fahrenheit = line.endsWith("F");
      const [, time = "", value = ""] = /^(\d\d:\d\d);([\d.]+)$/.exec(line) ?? [];
      if (time !== "") readings.set(time, fahrenheit ? ((Number(value) - 32) * 5) / 9 : Number(value));
    }
    const values = [...readings.values()];
    const peak = Math.max(...values);
    expect(keyOf("peat-bog-sensor-file")).toEqual({
      count: values.length,
      mean_c: Math.round((100 * sum(values)) / values.length) / 100,
      max_at: [...readings].find(([, value]) => value === peak)?.[0],
    });
  });

  test("lantern-walk-sign-ups: line by line, the waiting list last", () => {
    const { lines } = inputOf<{ lines: string[] }>("lantern-walk-sign-ups");
    const changes: [RegExp, string[], string[]][] = [
      [/^Okonjo, Tamsin$/, ["Okonjo"], []],
      [/^Rurik Vale \(Rur\)$/, ["Vale"], []],
      [/^B\. Castellan \+ child/, ["Castellan"], []],
      [/^T\. Okonjo - twice/, [], []],
      [/^Mireille Duskin\?\?/, [], []],
      [/^Rur can't come$/, [], ["Vale"]],
      [/^Ansgar Pell$/, ["Pell"], []],
      [/^Zaleska, Wanda, and grandchild Nino/, ["Zaleska", "Castellan-Zaleska"], []],
      [/^B\. Castellan: I cannot come myself/, [], ["Castellan"]],
      [/^M\. Duskin: yes/, ["Duskin"], []],
      [/^Pell, A\. - cancelled$/, [], ["Pell"]],
      [/^Hesper Lindqvist instead/, ["Lindqvist"], []],
      [/^Rurik Vale: can come/, ["Vale"], []],
      [/^H\. Lindqvist: waiting list only, if there are fewer than five/, [], ["Lindqvist"]],
    ];
    const going = new Set<string>();
    lines.forEach((line, index) => {
      const [pattern = /^$/, joining = [], leaving = []] = changes[index] ?? [];
      expect(line).toMatch(pattern);
      for (const name of joining) going.add(name);
      for (const name of leaving) going.delete(name);
    });
    if (going.size < 5) going.add("Lindqvist");
    expect(going).toEqual(new Set([keyOf("lantern-walk-sign-ups")].flat()));
  });
});
