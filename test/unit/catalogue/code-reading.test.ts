import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { codeReading } from "../../../shared/suites/public/code-reading/index.ts";
import type { Json } from "../../../shared/suites/public/types.ts";
import { readerOf, testSuite } from "./suite-support.ts";

const { keyOf, inputOf, task } = readerOf(codeReading);

testSuite(codeReading, ["coding"]);

test("there are fourteen tasks", () => {
  expect(codeReading.tasks).toHaveLength(14);
});

/** The code at the end of the prompt of a task, from where `first` stands. */
function codeOf(slug: string, first: string): string {
  const { prompt } = task(slug);
  const start = prompt.indexOf(first);
  expect(start).toBeGreaterThan(0);
  return prompt.slice(start);
}

/** Runs JavaScript in a context of its own and gives what it printed, call by call; later callbacks add to it. */
function printed(code: string): Json[] {
  const lines: Json[] = [];
  runInNewContext(code, { console: { log: (value: Json) => lines.push(value) }, setTimeout, queueMicrotask });
  return lines;
}

describe("programs: the key is what the same program prints", () => {
  test("python-half-used-generator", () => {
    const values = [37];
    for (let n = 37; n > 1; values.push(n)) n = n % 2 === 0 ? n / 2 : n - 3;
    const yielded = values.slice(1);
    const stop = yielded.findIndex((x) => x < 10);
    const total = yielded.slice(0, stop).reduce((sum, x) => sum + x, 0);
    const rest = yielded.slice(stop + 2).join(", ");
    expect(`${total} ${yielded[stop + 1]} [${rest}]`).toBe(keyOf("python-half-used-generator"));
  });

  test("javascript-order-of-callbacks: the very program", async () => {
    const lines = printed(codeOf("javascript-order-of-callbacks", "const out"));
    while (lines.length === 0) await delay(1);
    expect(lines).toEqual([keyOf("javascript-order-of-callbacks")]);
  });

  test("go-slices-sharing-an-array", () => {
    type Slice = { array: number[]; from: number; length: number; capacity: number };
    const items = ({ array, from, length }: Slice) => array.slice(from, from + length);
    const append = (slice: Slice, value: number): Slice => {
      if (slice.length === slice.capacity)
        return append({ ...slice, array: items(slice), from: 0, capacity: 2 * slice.capacity }, value);
      slice.array[slice.from + slice.length] = value;
      return { ...slice, length: slice.length + 1 };
    };
    const s: Slice = { array: [1, 2, 3, 4, 5], from: 0, length: 5, capacity: 5 };
    const t = append({ ...s, from: 1, length: 2, capacity: 4 }, 9);
    const u = append({ ...s, length: 2, capacity: 2 }, 7);
    t.array[t.from] = 8;
    const shown = [s, t, u].map((slice) => `[${items(slice).join(" ")}]`).join(" ");
    expect(shown).toBe(keyOf("go-slices-sharing-an-array"));
  });

  test("c-small-integers", () => {
    const c = new Uint8Array([250]);
    c[0] = (c[0] ?? 0) + 10;
    const i = -17;
    const inverted = new Uint8Array([~(c[0] ?? 0)]);
    expect(`${c[0]} ${Math.trunc(i / 5)} ${i % 5} ${(inverted[0] ?? 0) >> 1}`).toBe(keyOf("c-small-integers"));
  });

  test("java-labelled-loops: the very statements, which are JavaScript but for their types", () => {
    const code = codeOf("java-labelled-loops", "int n")
      .replaceAll("int ", "let ")
      .replace("System.out.println", "console.log");
    expect(printed(code)).toEqual([keyOf("java-labelled-loops")]);
  });

  test("rust-iterator-chain", () => {
    const stepped = [1, 4, 7, 10, 13, 16, 19];
    const mapped = stepped
      .slice(stepped.findIndex((x) => x % 2 !== 1))
      .filter((x) => x % 5 !== 0)
      .map((x) => (x * x) % 11);
    const v = mapped.slice(0, mapped.indexOf(3));
    const s = v.slice(1).reduce((sum, value, index) => sum + Math.abs((v[index] ?? 0) - value), 0);
    expect(`[${v.join(", ")}] ${s}`).toBe(keyOf("rust-iterator-chain"));
  });

  test("bash-words-and-suffixes", () => {
    const words = ["a b", "c", "d  e"];
    const f = "report.2026.tar.gz";
    const unquoted = words.join(" ").split(/\s+/).length;
    const values = [unquoted, words.length, f.replace(/\.[^.]*$/, ""), f.replace(/^.*\./, ""), words[0]?.length];
    expect(values.join(" ")).toBe(keyOf("bash-words-and-suffixes"));
  });
});

describe("defects: the key is what runs and counts show", () => {
  test("lower-bound-wrong-line: as shown the search fails, and is right with another line 7", () => {
    const search = (a: number[], x: number, line7: (mid: number) => number) => {
      let [lo, hi] = [0, a.length];
      while (lo < hi) {
        const mid = Math.floor((lo + hi) / 2);
        if ((a[mid] ?? 0) >= x) hi = line7(mid);
        else lo = mid + 1;
      }
      return lo;
    };
    const lists = Array.from({ length: 32 }, (_, set) => [1, 2, 3, 4, 5].filter((n) => (set >> (n - 1)) & 1));
    const wrong = (line7: (mid: number) => number) =>
      lists.flatMap((a) =>
        [0, 1, 2, 3, 4, 5, 6].filter((x) => search(a, x, line7) !== a.filter((value) => value < x).length),
      );
    expect(wrong((mid) => mid - 1)).not.toEqual([]);
    expect(wrong((mid) => mid)).toEqual([]);
    expect(keyOf("lower-bound-wrong-line")).toBe(7);
    expect(task("lower-bound-wrong-line").prompt).toMatch(/^7 +hi = mid - 1$/m);
  });

  test("median-calls-that-fail: the very function, beside a median that sorts by value", () => {
    const { calls } = inputOf<{ calls: { label: string; values: number[] }[] }>("median-calls-that-fail");
    const shown = /function median[^]*?\n}/.exec(task("median-calls-that-fail").prompt)?.[0] ?? "";
    const median = (values: number[]) => {
      const sorted = values.toSorted((a, b) => a - b);
      return (
        ((sorted[Math.floor((sorted.length - 1) / 2)] ?? 0) + (sorted[Math.ceil((sorted.length - 1) / 2)] ?? 0)) / 2
      );
    };
    const failing = calls.filter(
      ({ values }) => printed(`${shown}; console.log(median(${JSON.stringify(values)}))`)[0] !== median(values),
    );
    expect(failing.map(({ label }) => label)).toEqual(keyOf("median-calls-that-fail"));
  });

  test("loops-over-multiples: only for one choice does the count stay in proportion", () => {
    const count = (n: number) => {
      let steps = 0;
      for (let i = 1; i <= n; i += 1) steps += Math.floor(n / i) * Math.floor(Math.log2(n));
      return steps;
    };
    const growth: Record<string, (n: number) => number> = {
      "O(n log n)": (n) => n * Math.log(n),
      "O(n (log n)^2)": (n) => n * Math.log(n) ** 2,
      "O(n^2)": (n) => n ** 2,
      "O(n^2 log n)": (n) => n ** 2 * Math.log(n),
      "O(n sqrt n)": (n) => n * Math.sqrt(n),
    };
    const [small, large] = [2 ** 10, 2 ** 20];
    const proportional = Object.keys(growth).filter((bound) => {
      const ratio = (n: number) => count(n) / (growth[bound]?.(n) ?? 0);
      return Math.abs(ratio(large) / ratio(small) - 1) < 0.1;
    });
    expect(proportional).toEqual([keyOf("loops-over-multiples")]);
  });

  test("splice-while-walking: the very program less its type", () => {
    const code = codeOf("splice-while-walking", "const list").replace(": number[]", "");
    expect(printed(code)).toEqual([keyOf("splice-while-walking")]);
  });

  test("part-numbers-by-pattern: the very pattern", () => {
    const { strings } = inputOf<{ strings: { label: string; text: string }[] }>("part-numbers-by-pattern");
    const pattern = new RegExp(/^\^.*\$$/m.exec(task("part-numbers-by-pattern").prompt)?.[0] ?? "(?!)");
    const matching = strings.filter(({ text }) => pattern.test(text)).map(({ label }) => label);
    expect(matching).toEqual(keyOf("part-numbers-by-pattern"));
  });

  test("two-threads-one-counter: all fifteen interleavings", () => {
    type Memory = { x: number; a: number; b: number };
    type Step = (memory: Memory) => Partial<Memory>;
    const add: Step[] = [({ x }) => ({ a: x }), ({ a }) => ({ x: a + 3 })];
    const double: Step[] = [({ x }) => ({ b: x }), ({ b }) => ({ x: b * 2 })];
    const runs = (memory: Memory, first: Step[], second: Step[]): number[] => {
      if (first.length + second.length === 0) return [memory.x];
      const [one, ...restOfFirst] = first;
      const [two, ...restOfSecond] = second;
      return [
        ...(one === undefined ? [] : runs({ ...memory, ...one(memory) }, restOfFirst, second)),
        ...(two === undefined ? [] : runs({ ...memory, ...two(memory) }, first, restOfSecond)),
      ];
    };
    const values = runs({ x: 5, a: 0, b: 0 }, [...add, ...add], double);
    expect(values).toHaveLength(15);
    expect([...new Set(values)].toSorted((a, b) => a - b)).toEqual(keyOf("two-threads-one-counter"));
  });

  test("sql-three-counts: the very queries", () => {
    const tables = inputOf<Record<string, Record<string, string | number | null>[]>>("sql-three-counts");
    const database = new DatabaseSync(":memory:");
    for (const [table, rows] of Object.entries(tables)) {
      const columns = Object.keys(rows[0] ?? {});
      database.exec(`CREATE TABLE ${table} (${columns.join(", ")})`);
      const insert = database.prepare(`INSERT INTO ${table} VALUES (${columns.map(() => "?").join(", ")})`);
      for (const row of rows) insert.run(...Object.values(row));
    }
    const queries = [...task("sql-three-counts").prompt.matchAll(/^(q\d): (.+)$/gm)];
    const results = queries.map(([, name, sql = ""]): [string, Json] => [
      name ?? "",
      Number(Object.values(database.prepare(sql).get() ?? {})[0]),
    ]);
    expect(Object.fromEntries(results)).toEqual(keyOf("sql-three-counts"));
  });
});
