import { Cron } from "croner";
import { describe, expect, test } from "vitest";
import { coreTask, inputOf, keyOf, passes } from "./core-support.ts";

describe("core-coding-python-collect", () => {
  test("the key is what the same program prints with one shared default list", () => {
    const shared: string[] = [];
    const collect = (word: string, bag = shared) => {
      if (!bag.includes(word)) bag.push(word);
      return bag;
    };
    collect("oak");
    const second = collect("elm", ["bay", "elm"]);
    const alias = collect("ash");
    second.push(...alias);
    const third = [...alias, "fir"];
    collect("oak").push("yew");
    expect(`${second.length} ${third.length} ${collect("elm").join("-")}`).toBe(keyOf("core-coding-python-collect"));
  });
});

describe("core-coding-java-merge-line", () => {
  type Span = [number, number];
  const merge = (spans: Span[], line7: (end: number, next: number) => number) => {
    const out: Span[] = [];
    for (const [start, end] of spans.toSorted((a, b) => a[0] - b[0])) {
      const last = out.at(-1);
      if (last !== undefined && start <= last[1]) last[1] = line7(last[1], end);
      else out.push([start, end]);
    }
    return out;
  };
  /** The merged intervals by marking every half unit that is covered. */
  const covered = (spans: Span[]) => {
    const out: Span[] = [];
    for (let half = 0; half <= 8; half += 1) {
      if (!spans.some(([start, end]) => 2 * start <= half && half <= 2 * end)) continue;
      const last = out.at(-1);
      if (last !== undefined && last[1] * 2 === half - 1) last[1] = half / 2;
      else out.push([half / 2, half / 2]);
    }
    return out;
  };
  const bounds = [0, 1, 2, 3, 4];
  const all = bounds.flatMap((start) => bounds.filter((end) => end >= start).map((end): Span => [start, end]));
  const lists = all.flatMap((a) => [[a], ...all.flatMap((b) => [[a, b], ...all.map((c) => [a, b, c])])]);

  test("the key is the line that sets the end of the last interval", () => {
    const { prompt } = coreTask("core-coding-java-merge-line");
    const number = /^ ?(\d+) +out\.get\(last\)\[1\] = s\[1\];$/m.exec(prompt)?.[1];
    expect(keyOf("core-coding-java-merge-line")).toBe(`line ${number}`);
  });

  test("the method as shown fails, and is right once line 7 keeps the later end", () => {
    expect(
      lists.some((spans) => JSON.stringify(merge(spans, (_, next) => next)) !== JSON.stringify(covered(spans))),
    ).toBe(true);
    for (const spans of lists) expect(merge(spans, Math.max)).toEqual(covered(spans));
  });
});

describe("core-coding-sql-paid-trips", () => {
  test("the key is the result of the query over the rows of the input", () => {
    const { boats, trips } = inputOf<{
      boats: { id: number; name: string; home: string | null }[];
      trips: { boat_id: number; status: string; fee: number | null }[];
    }>("core-coding-sql-paid-trips");
    const rows = boats
      .filter(({ home }) => home !== null && home !== "Skarn")
      .map(({ id, name }): [string, number] => [
        name,
        trips.filter((trip) => trip.boat_id === id && trip.status === "done" && trip.fee !== null).length,
      ])
      .toSorted(([nameA, paidA], [nameB, paidB]) => paidB - paidA || nameA.localeCompare(nameB));
    expect({ rows }).toEqual(keyOf("core-coding-sql-paid-trips"));
  });
});

describe("core-coding-cron-fields", () => {
  const task = coreTask("core-coding-cron-fields");
  const monday = new Date("2031-03-03T00:00:00Z");
  const wanted = [3, 4, 5, 6, 7].flatMap((day) =>
    ["06", "10", "14", "18"].map((hour) => `2031-03-0${day}T${hour}:30:00.000Z`),
  );
  const week = (schedule: string) =>
    new Cron(schedule, { timezone: "UTC", paused: true })
      .nextRuns(7 * 24, new Date(monday.getTime() - 1000))
      .map((run) => run.toISOString())
      .filter((run) => run < "2031-03-10");
  const hours = [
    "6,10,14,18",
    "06,10,14,18",
    ...[17, 18, 19, 20, 21, 22, 23].map((last) => `6-${last}/4`),
    "*/4",
    "6-18",
  ];
  const days = ["1-5", "1,2,3,4,5", "0-4", "*", "1-6"];

  test.each(hours.flatMap((hour) => days.map((day) => `30 ${hour} * * ${day}`)))(
    "%s passes exactly if it fires at the wanted times",
    (schedule) => {
      expect(passes(task, { output: schedule })).toBe(JSON.stringify(week(schedule)) === JSON.stringify(wanted));
    },
  );
});
