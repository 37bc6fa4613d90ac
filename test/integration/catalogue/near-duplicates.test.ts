import { sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isNearDuplicate } from "../../../shared/catalogue/submissions/flags-similarity.ts";
import { startService, type TestService } from "../../stack/service.ts";

const dialect = new PgDialect();

let service: TestService;

beforeAll(async () => {
  service = await startService();
  await service.sql("update tasks set is_active = false");
});

afterAll(() => service.stop());

/** Whether the service says that a prompt is nearly that of a task. */
async function isFlagged(prompt: string): Promise<boolean | undefined> {
  const { sql: text, params } = dialect.sqlToQuery(sql`select ${isNearDuplicate(prompt)} as met`);
  return (await service.sql<{ met: boolean }>(text, params))[0]?.met;
}

/** The different runs of five words of a text, as one reads them off. */
function runsOf(prompt: string): Set<string> {
  const words =
    prompt
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length === 0) return new Set();
  const starts = Array.from({ length: Math.max(words.length - 4, 1) }, (_none, at) => at);
  return new Set(starts.map((at) => words.slice(at, at + 5).join(" ")));
}

/** The same with each task compared run by run. */
function isNear(prompt: string, tasks: readonly string[]): boolean {
  const own = runsOf(prompt);
  return tasks.some((task) => {
    const theirs = runsOf(task);
    const shared = own.intersection(theirs).size;
    return shared > 0 && 5 * shared >= 4 * own.union(theirs).size;
  });
}

/** Puts these prompts in the place of all tasks there were. */
async function have(prompts: readonly string[]): Promise<void> {
  await service.sql("delete from tasks where slug is null");
  await service.sql(
    `insert into tasks (title, domain, prompt, output_format, grader, reference_cost_usd, reference_latency_ms)
     select 'A task', 'math', prompt, 'text', '{"type": "exact"}', 0.002, 2000 from unnest($1::text[]) prompt`,
    [prompts],
  );
}

const word = fc.constantFrom("ab", "Cd", "é", "ＦＦ", "42", ...Array.from("ghijklmnopqrstuvwxyz"));
const text = (maxLength: number) => fc.array(word, { maxLength, size: "max" });
/** A text, and others that differ from it here and there, at an end or by what is added. */
const family = fc
  .tuple(text(60), fc.array(fc.tuple(fc.nat(70), fc.nat(12), text(16)), { minLength: 4, maxLength: 4 }))
  .map(([words, edits]) => [words, ...edits.map(([at, cut, put]) => words.toSpliced(at, cut, ...put))]);

it("a proposal is nearly a task exactly where comparing the two run by run says so", async () => {
  const seen = { near: 0, other: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(family, { minLength: 1, maxLength: 3 }), async (families) => {
      const texts = families.flat().map((words) => words.join(" "));
      const tasks = texts.filter((_text, index) => index % 3 === 0);
      await have(tasks);
      for (const prompt of texts) {
        const near = isNear(prompt, tasks);
        seen[near && !tasks.includes(prompt) ? "near" : "other"] += 1;
        expect([prompt, await isFlagged(prompt)]).toEqual([prompt, near]);
      }
    }),
    { numRuns: 40 },
  );
  expect(Math.min(seen.near, seen.other)).toBeGreaterThan(20);
});

it("looks no further than the fifth that it must, with 300 runs and as few as one", async () => {
  const words = Array.from({ length: 304 }, (_none, index) => `w${index}`);
  for (const length of [5, 9, 10, 14, 24, 304]) {
    const task = words.slice(0, length);
    const runs = length - 4;
    // Of all that are in either, four fifths and no fewer are in both.
    for (const more of [Math.floor(runs / 4), Math.floor(runs / 4) + 1]) {
      const prompt = [...task, ...Array.from({ length: more }, (_none, index) => `new${index}`)].join(" ");
      await have([task.join(" ")]);
      expect([length, more, await isFlagged(prompt)]).toEqual([length, more, 4 * more <= runs]);
      await have([prompt]);
      expect([length, more, await isFlagged(task.join(" "))]).toEqual([length, more, 4 * more <= runs]);
    }
  }
});

it("compares with few tasks, also where all of them have forty words in common", async () => {
  const common = Array.from({ length: 40 }, (_none, index) => `w${index}`);
  const own = (of: number) => Array.from({ length: 20 }, (_none, index) => `own${of}x${index}`);
  const prompt = (of: number) => [...common, ...own(of)].join(" ");
  await have(Array.from({ length: 1000 }, (_none, index) => prompt(index)));
  await service.sql("analyze tasks");
  const { sql: query, params } = dialect.sqlToQuery(sql`select ${isNearDuplicate(prompt(-1))}`);
  const plan = await service.sql<{ "QUERY PLAN": string }>(`explain (analyze, timing off) ${query}`, params);
  const lines = plan.map((line) => line["QUERY PLAN"]);
  // The last of the plan's look-ups of tasks: those by single runs, of which no more are counted, come before.
  const compared = lines
    .filter((line) => line.includes("Bitmap Heap Scan on tasks t"))
    .map((line) => /rows=([\d.]+) loops/.exec(line)?.[1]);
  expect([compared, lines.some((line) => line.includes("Seq Scan on tasks"))]).toEqual([
    [expect.any(String), "0.00"],
    false,
  ]);
  expect([await isFlagged(prompt(-1)), await isFlagged(prompt(500))]).toEqual([false, true]);
});
