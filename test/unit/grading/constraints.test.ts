import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, Rule } from "../../../shared/grading/schema.ts";
import {
  countBullets,
  countParagraphs,
  countSentences,
  countWords,
  holdsWords,
} from "../../../shared/grading/writing.ts";
import { leastTime } from "../../stack/least-time.ts";
import { looseText, scoreOf, verdictOn } from "./support.ts";

const holds = (rule: Rule, output: Json): boolean =>
  scoreOf({ type: "constraints", rules: [rule] }, null, output) === 1;

describe("words", () => {
  test("are found as in the words of the text with a space between", () => {
    const few = fc.array(fc.constantFrom("a", "b", "b-a", "a'b", "B", "-", ".", "é", ""), { maxLength: 8 });
    const spaced = few.map((parts) => parts.join(" "));
    const wordsIn = (text: string) =>
      text
        .normalize("NFC")
        .toLowerCase()
        .match(/[\p{L}\p{N}]+(?:['-][\p{L}\p{N}]+)*/gu)
        ?.join(" ") ?? "";
    fc.assert(
      fc.property(spaced, spaced, (text, words) => {
        expect(holdsWords(text)(words)).toBe(` ${wordsIn(text)} `.includes(` ${wordsIn(words)} `));
      }),
    );
  });

  test("are looked for one by one in no time, however long the text", async () => {
    const [text, word] = ["abcdefghi ".repeat(100_000), `${"abcdefghi-".repeat(6)}x`];
    const asked = Array.from({ length: 5000 }, (_, n) => `${word}${n}`);
    const took = await leastTime(500, () => {
      const found = holdsWords(text);
      expect(asked.some((one) => found(one))).toBe(false);
    });
    expect(took).toBeLessThan(500);
  });

  test.each<[string, number]>([
    ["one two three", 3],
    ["well-known don’t rock-'n'-roll", 5],
    ["state-of-the-art", 1],
    ["- one -- two -", 2],
    ["it's 'quoted' text", 3],
    ["3.14 is 2 words", 5],
    ["naïve cafe\u0301", 2],
    ["हिन्दी शब्द", 2],
    ["Ünïcödé слово λέξη", 3],
    ["a,b;c/d_e", 5],
    ["... !? —", 0],
    ["", 0],
  ])("%j: %d", (text, count) => {
    expect(countWords(text)).toBe(count);
  });

  test("are found whole, in any case and form of apostrophe, alone or in a row", () => {
    const found = holdsWords("The café’s CAT sat; machine\nlearning is state-of-the-art.");
    expect(["cat", "CAFÉ'S", "Machine Learning", "state-of-the-art"].filter(found)).toHaveLength(4);
    expect(["ca", "cats", "art", "learning machine", "café", "sat is"].filter(found)).toEqual([]);
  });
});

describe("sentences", () => {
  test.each<[string, number]>([
    ["One. Two! Three?", 3],
    ["One… Two", 2],
    ["No end", 1],
    ["Pi is 3.14 and e.g. 2.7 too.", 1],
    ["Dr. Smith met Mrs. Jones (i.e. Ann). They left.", 2],
    ['He said "Stop!" and left.', 2],
    ['"Stop." (He did.) **Bold.** End.', 4],
    ["What?! Really?!", 2],
    ["A title\n\nA sentence.", 2],
    ["1. First point.\n2. Second point.", 2],
    ["The answer is 25. It is final.", 2],
    ["これは文です。これも。", 2],
    ["... !!! ???", 0],
    ["", 0],
  ])("%j: %d", (text, count) => {
    expect(countSentences(text)).toBe(count);
  });
});

describe("paragraphs and bullets", () => {
  test.each<[string, number]>([
    ["one", 1],
    ["one\ntwo", 1],
    ["one\n\ntwo", 2],
    ["one\r\n \t\r\n\r\ntwo\n\n\nthree", 3],
    ["\n\none\n\n", 1],
    ["", 0],
  ])("paragraphs of %j: %d", (text, count) => {
    expect(countParagraphs(text)).toBe(count);
  });

  test.each<[string, number]>([
    ["- one\n- two", 2],
    ["* one\n  * nested\n• three", 3],
    ["-one\n•two", 2],
    ["**bold** text\n---\n* * *", 1],
    ["text - with dash\n1. numbered\n+ plus", 0],
    ["intro\r\n- one\r\n- two", 2],
  ])("bullets of %j: %d", (text, count) => {
    expect(countBullets(text)).toBe(count);
  });
});

describe("rules", () => {
  test.each<[Rule, Json, boolean]>([
    [{ kind: "min_words", n: 2 }, "one two", true],
    [{ kind: "min_words", n: 3 }, "one two", false],
    [{ kind: "max_words", n: 2 }, "one two", true],
    [{ kind: "max_words", n: 1 }, "one two", false],
    [{ kind: "exact_words", n: 2 }, "one two", true],
    [{ kind: "exact_words", n: 2 }, "one two three", false],
    [{ kind: "min_sentences", n: 2 }, "One. Two.", true],
    [{ kind: "max_sentences", n: 1 }, "One. Two.", false],
    [{ kind: "exact_paragraphs", n: 2 }, "One.\n\nTwo.", true],
    [{ kind: "exact_paragraphs", n: 1 }, "One.\n\nTwo.", false],
    [{ kind: "bullets", n: 2 }, "- a\n- b", true],
    [{ kind: "bullets", n: 1 }, "- a\n- b", false],
    [{ kind: "max_chars", n: 3 }, " 𝒳𝒴𝒵 ", true],
    [{ kind: "max_chars", n: 2 }, "abc", false],
    [{ kind: "include", words: ["sea", "Sky"] }, "sky and sea", true],
    [{ kind: "include", words: ["sea", "sky"] }, "skyline and sea", false],
    [{ kind: "exclude", words: ["sea", "sky"] }, "seas and skyline", true],
    [{ kind: "exclude", words: ["sea", "sky"] }, "the SEA", false],
    [{ kind: "starts_with", text: "Dear" }, "\nDear Ann", true],
    [{ kind: "starts_with", text: "Dear" }, "dear Ann", false],
    [{ kind: "ends_with", text: "Bye!" }, "So. Bye!\n", true],
    [{ kind: "ends_with", text: "Bye!" }, "Bye! Ann", false],
    [{ kind: "starts_with", text: "café" }, "cafe\u0301 noir", true],
    [{ kind: "lowercase" }, "all lower, 1 ß!", true],
    [{ kind: "lowercase" }, "One", false],
    [{ kind: "lowercase" }, "123", false],
    [{ kind: "lowercase" }, "ǅ a", false],
    [{ kind: "uppercase" }, "ALL UPPER, ÜÑ 1!", true],
    [{ kind: "uppercase" }, "ALL uPPER", false],
    [{ kind: "uppercase" }, "漢字", false],
    [{ kind: "no_commas" }, "none; here", true],
    [{ kind: "no_commas" }, "1,000", false],
    [{ kind: "json" }, '{"a": [1]}', true],
    [{ kind: "json" }, "```json\n[1]\n```", true],
    [{ kind: "json" }, { a: 1 }, true],
    [{ kind: "json" }, "{a: 1}", false],
  ])("%j on %j: %s", (rule, output, held) => {
    expect(holds(rule, output)).toBe(held);
  });

  test("correctness is the share of rules that hold, and the others are named", () => {
    const rules: Rule[] = [
      { kind: "max_words", n: 1 },
      { kind: "no_commas" },
      { kind: "include", words: ["x", "two"] },
    ];
    const verdict = verdictOn({ type: "constraints", rules }, null, "one two");
    expect(verdict.correctness).toBeCloseTo(1 / 3, 12);
    expect(verdict.explanation).toBe('1 of 3 rules hold. Broken: max_words 1 (found 2); include (missing: "x").');
  });

  test("an empty answer breaks every rule, those that only forbid included", () => {
    expect(holds({ kind: "no_commas" }, "")).toBe(false);
    expect(holds({ kind: "max_words", n: 9 }, null)).toBe(false);
  });

  test("include and exclude of one word are opposites, and min, max and exact agree", () => {
    const [rule, n] = [fc.constantFrom("words", "sentences"), fc.nat(20)];
    fc.assert(
      fc.property(looseText, rule, n, (text, unit, count) => {
        fc.pre(text.trim() !== "");
        expect(holds({ kind: "include", words: ["the"] }, text)).toBe(
          !holds({ kind: "exclude", words: ["the"] }, text),
        );
        const [min, max] =
          unit === "words" ? (["min_words", "max_words"] as const) : (["min_sentences", "max_sentences"] as const);
        expect(holds({ kind: min, n: count + 1 }, text)).toBe(!holds({ kind: max, n: count }, text));
        const exact = holds({ kind: "exact_words", n: count }, text);
        expect(exact).toBe(
          holds({ kind: "min_words", n: count }, text) && holds({ kind: "max_words", n: count }, text),
        );
      }),
    );
  });
});

test.each<Rule>([
  { kind: "max_sentences", n: 3 },
  { kind: "min_words", n: 3 },
  { kind: "exclude", words: ["kumquat"] },
])("a long text is read once, however many rules ask for the same: $kind", async (rule) => {
  const text = `[${"1, about ≈ ".repeat(8000)}`;
  const graded = (rules: number) => () =>
    scoreOf({ type: "constraints", rules: Array.from({ length: rules }, () => rule) }, null, text);
  const enough = 8 * (await leastTime(0, graded(1)));
  expect(await leastTime(enough, graded(50))).toBeLessThan(enough);
});
