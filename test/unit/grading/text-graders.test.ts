import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Grader, Json } from "../../../shared/grading/schema.ts";
import { normalized } from "../../../shared/grading/text.ts";
import { scoreOf, verdictOn } from "./support.ts";

type Row = [key: Json, output: Json, correctness: number];

describe("exact", () => {
  test.each<Row>([
    ["Paris", "Paris", 1],
    ["Paris", "  Paris\n", 1],
    [" Paris ", "Paris", 1],
    ["Paris", "paris", 0],
    ["Paris", "Paris.", 0],
    ["a b", "a  b", 0],
    ["42", 42, 1],
    [42, "42", 1],
    [true, "true", 1],
    ['{"a":1}', { a: 1 }, 1],
    ["é", "e\u0301", 1],
    ["Paris", "", 0],
    ["Paris", null, 0],
  ])("key %j, output %j: %d", (key, output, correctness) => {
    expect(scoreOf({ type: "exact" }, key, output)).toBe(correctness);
  });

  test("says when only the case differs", () => {
    expect(verdictOn({ type: "exact" }, "Paris", "PARIS").explanation).toContain("upper and lower case alone");
  });
});

describe("normalized_text", () => {
  const grader: Grader = { type: "normalized_text" };

  test.each<Row>([
    ["Eiffel Tower", "the Eiffel tower.", 1],
    ["Eiffel Tower", "“The  Eiffel\nTower”", 1],
    ["U.S.A.", "usa", 1],
    ["well-known", "Wellknown", 1],
    ["ﬁnal", "FINAL", 1],
    ["Ａ１", "a1", 1],
    ["café", "cafe\u0301", 1],
    ["cafe", "café", 0],
    [["NYC", "New York City"], "new york city!", 1],
    [["NYC", "New York City"], "Boston", 0],
    ["Paris", "Paris, France", 0],
    ["an answer to a question", "answer to question", 1],
    ["anthem", "them", 0],
    // Articles alone are an answer of their own.
    ["A", "(a)", 1],
    ["A", "the", 0],
    // Numbers keep their value.
    ["3.5", "35", 0],
    ["3.5", "3.5.", 1],
    ["-5", "5", 0],
    ["-5", "−5", 1],
    ["1,234", "1234", 1],
    ["1,23", "123", 0],
    ["2026-11-21", "2026/11/21", 1],
    ["3-5", "35", 0],
    [".5", "5", 0],
    ["COVID-19", "covid19", 1],
    ["$5", "5", 0],
    ["C++", "C", 0],
    ["42", 42, 1],
    ["true", true, 1],
    // Two numbers of an array are not one.
    ["1250", [1, 250], 0],
    ["1,250", [1, 250], 0],
    ["1, 250", [1, 250], 1],
    ["[1,250]", [1, 250], 1],
    ["Paris", "...", 0],
    ["Paris", "   ", 0],
  ])("key %j, output %j: %d", (key, output, correctness) => {
    expect(scoreOf(grader, key, output)).toBe(correctness);
  });

  test("case, white space and a final mark never change the verdict", () => {
    const word = fc.stringMatching(/^[a-zà-ÿ]{1,8}$/u);
    const words = fc.array(word, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(words, words, fc.constantFrom(".", "!", "?", "…", ""), (key, answer, mark) => {
        const plain = scoreOf(grader, key.join(" "), answer.join(" "));
        expect(scoreOf(grader, key.join(" "), ` ${answer.join(" \n\t").toUpperCase()}${mark}`)).toBe(plain);
      }),
    );
  });
});

describe("multiple_choice", () => {
  const grader: Grader = { type: "multiple_choice", choices: ["Rome", "Paris", "The Hague", "Bern"] };

  test.each<[Json, number]>([
    ["B", 1],
    ["b", 1],
    ["(B)", 1],
    ["[b]", 1],
    ["B.", 1],
    ["B)", 1],
    ["B:", 1],
    ['"B"', 1],
    ["**B**", 1],
    ["`b`", 1],
    ["Answer: B", 1],
    ["Answer:B", 1],
    ["answer: (b).", 1],
    ["**Answer:** B", 1],
    ["The answer is B", 1],
    ["The correct answer is (B).", 1],
    ["Final answer: B", 1],
    ["Option B", 1],
    ["Paris", 1],
    ["paris.", 1],
    ["The answer is Paris.", 1],
    ["B. Paris", 1],
    ["(b) paris", 1],
    ["B - Paris", 1],
    ["Answer: B) Paris", 1],
    ["A", 0],
    ["E", 0],
    ["B. Rome", 0],
    ["A. Paris", 0],
    ["A or B", 0],
    ["Bern", 0],
    ["I think it is Paris", 0],
    ["BB", 0],
    ["", 0],
    [null, 0],
    [2, 0],
    [["B"], 0],
  ])("key Paris, output %j: %d", (output, correctness) => {
    expect(scoreOf(grader, "Paris", output)).toBe(correctness);
  });

  test("two numbers of an array are not one choice", () => {
    const choices = ["1,250", "1, 250", "none"];
    expect(scoreOf({ type: "multiple_choice", choices }, "1,250", [1, 250])).toBe(0);
    expect(scoreOf({ type: "multiple_choice", choices }, "1, 250", [1, 250])).toBe(1);
  });

  test("a letter beyond the choices names none of them", () => {
    expect(verdictOn(grader, "Paris", "Z").explanation).toContain("names none of the 4 choices");
  });

  test("choices that are letters or numbers are read as their texts", () => {
    expect(scoreOf({ type: "multiple_choice", choices: ["A", "B"] }, "A", "a")).toBe(1);
    expect(scoreOf({ type: "multiple_choice", choices: ["1.5", "15"] }, "15", 15)).toBe(1);
    expect(scoreOf({ type: "multiple_choice", choices: ["1.5", "15"] }, "15", "1.5")).toBe(0);
  });
});

describe("regex", () => {
  test.each<[string, Json, number]>([
    ["\\bfoo\\b", "a foo b", 1],
    ["\\bfoo\\b", "a food b", 0],
    ["^foo$", "foo", 1],
    ["^foo$", " foo", 0],
    ["(?m)^foo$", "bar\nfoo", 1],
    ["(?i)PARIS", "paris", 1],
    ["PARIS", "paris", 0],
    ["\\p{Greek}+", "το", 1],
    ["a.c", "a\nc", 0],
    ["^.$", "𝒳", 1],
    ['"ok":true', { ok: true }, 1],
    ["^$", "", 0],
    ["(a+)+$", "aaaa", 1],
  ])("pattern %s, output %j: %d", (pattern, output, correctness) => {
    expect(scoreOf({ type: "regex", pattern }, null, output)).toBe(correctness);
  });
});

describe("a text in its normal form", () => {
  test("is what Unicode has it, whatever marks its scripts put on a letter", () => {
    for (const text of [
      "e\u0301",
      "a\u0301\u0316",
      "ﬀ½ｶ\uff9e",
      "\u05d1\u05bc\u05b0",
      `z${"\u0301\u0316".repeat(15)}`,
      "",
    ])
      for (const form of ["NFC", "NFKC"] as const) expect(normalized(text, form)).toBe(text.normalize(form));
  });

  test("is the same for the same marks, and is found in time however many there are", () => {
    const marks = (count: number) => `z${"\u0301\u0316\uff9e".repeat(count)}`;
    expect(normalized(normalized(marks(40), "NFKC"), "NFKC")).toBe(normalized(marks(40), "NFKC"));
    const before = process.cpuUsage();
    normalized(marks(170_000), "NFC");
    const { user, system } = process.cpuUsage(before);
    expect(user + system).toBeLessThan(5_000_000);
  });
});
