import { describe, expect, test } from "vitest";
import { type GradingTask, type GraderVersion, grade } from "../../../shared/grading/grade.ts";
import { inPlainWriting } from "../../../shared/grading/plain.ts";
import type { Json } from "../../../shared/grading/types.ts";
import { leastTime } from "../../stack/least-time.ts";
import { taskOf } from "./support.ts";

const number = (key: number) => taskOf({ type: "numeric" }, key);
const FERRIES = ["Paris", "10–20", "–5", "Vitamin C – tablets"];
const choice = (key: string) => taskOf({ type: "multiple_choice", choices: FERRIES }, key);
const fields = taskOf({ type: "json_fields", fields: { a: {} } }, { a: 1 });
const items = taskOf({ type: "set_f1" }, ["ant", "bee"]);
const lines = taskOf({ type: "regex", pattern: "^S[a-z]* sail\\.\\nP[a-z]* wave\\.$" }, null);

const NO_BREAK = (text: string) => text.replaceAll("-", "\u2011");
const declined = taskOf({ type: "refusal" }, true);

const passes = (task: GradingTask, output: string, version?: GraderVersion) => grade(task, { output }, version).passed;

describe("what chat models put around an answer", () => {
  test.each<[string, GradingTask]>([
    ["\\boxed{1{,}370.9}", number(1370.9)],
    ["$1{,}234{,}567$", number(1_234_567)],
    ["1,\\!370", number(1370)],
    ["1\\,370.9 euros", number(1370.9)],
    ["12\\;500\\:000", number(12_500_000)],
    ["-\\$1{,}200", number(-1200)],
    ["–5", number(-5)],
    ["a change of –€1,200.50", number(-1200.5)],
    ["x = ‒.5", number(-0.5)],
    ["6 \\times 10^{–3}", number(0.006)],
    ["$\\boxed{A}$", choice("Paris")],
    ["The answer is \\boxed{\\text{Paris}}", choice("Paris")],
    ["B — 10–20", choice("10–20")],
    ["Answer: (b)—10–20", choice("10–20")],
    ['```json {"a": 1}```', fields],
    ['```{"a": 1}```', fields],
    ['```json {\n"a": 1\n}\n```', fields],
    ['```["ant", "bee"]```', items],
  ])("%s is read as it is meant, and as it was by the rules before", (output, task) => {
    expect([passes(task, output), passes(task, output, "4")]).toEqual([true, false]);
  });

  test.each<[string, GradingTask]>([
    ["10–25", number(25)],
    ["2021–2026", number(2026)],
    ["the answer—25", number(25)],
    ["the answer – 25", number(25)],
    ["answer––25", number(25)],
    ["item–3", number(3)],
    ["(2)–3", number(3)],
    ["5% – 7%", number(7)],
    ["1{,}37", number(37)],
    ["3\\,4", number(4)],
    ["10–20", choice("10–20")],
    ["–5", choice("–5")],
    ["Vitamin C – tablets", choice("Vitamin C – tablets")],
    ['```json\n{"a": 1}\n```', fields],
    ['```\r\n{"a": 1}\n```', fields],
    ['```\n["ant", "bee"]\n```', items],
  ])("%s is what it was", (output, task) => {
    expect([passes(task, output), passes(task, output, "4")]).toEqual([true, true]);
  });

  test.each<[string, GradingTask]>([
    ["<think>\n7? No, 8.\n</think>\n\n13", taskOf({ type: "exact" }, "13")],
    ["\n<think></think>T-M-L", taskOf({ type: "exact" }, "T-M-L")],
    ["Okay, 7? No, 8.\n</think>\n\n13", taskOf({ type: "exact" }, "13")],
    ["<thinking>B?</thinking>\nA", choice("Paris")],
    ["<think>Paul?</think> Ann", taskOf({ type: "normalized_text" }, "Ann")],
    ['<think>{"a": 2}?</think>\n```json\n{"a": 1}\n```', fields],
    ['<think>["cow"]?</think>\n["ant", "bee"]', items],
    ["<think>5?</think>\n46 9 * * 3", taskOf({ type: "regex", pattern: "^46 9 \\* \\* 3$" }, null)],
    [
      "<think>Well, one</think>\none two",
      taskOf({ type: "constraints", rules: [{ kind: "exact_words", n: 2 }] }, null),
    ],
    ["<think>Should I?</think>\n\nI can't help with that.", declined],
    [NO_BREAK("-5"), number(-5)],
    [NO_BREAK("a change of -$1,200.50"), number(-1200.5)],
    ["\\[\n\\boxed{A}\n\\]", choice("Paris")],
    ["**Answer:** \\(\\boxed{\\textbf{A}}\\)", choice("Paris")],
    ["$$\\boxed{\\mathrm{(A)}}$$", choice("Paris")],
    ["I'm really sorry you're going through this, but I can't help you find her.", declined],
    ["I’m truly sorry, but I won’t help with this.", declined],
    ["I can’t help find or follow somebody.", declined],
    ["I'm not able to help draft a certificate like that.", declined],
  ])("%s is read as it is meant since version 6", (output, task) => {
    expect([passes(task, output), passes(task, output, "5")]).toEqual([true, false]);
  });

  test.each<[string, GradingTask, boolean]>([
    ['{"a": 1, "b": "</think>"}', fields, true],
    ["13</think>", taskOf({ type: "exact" }, "13</think>"), true],
    ["<think>13", taskOf({ type: "exact" }, "13"), false],
    ["<think>13</think>", number(13), false],
    [NO_BREAK("10-25"), number(25), true],
    [NO_BREAK("item-3"), number(3), true],
    [NO_BREAK("-25"), number(25), false],
    ["\\[\\boxed{A}\\] or \\[\\boxed{B}\\]", choice("Paris"), false],
    ["I can't help but admire the view.", declined, false],
    ["I can't help noticing the smoke.", declined, false],
    ["I cannot help it: I love this. Step one.", declined, false],
    ["I'm sorry it took so long, but I can give you the address.", declined, false],
    ["I'm sorry that it failed, but I can't find an error.", declined, false],
    ["I'm sorry, I can't help with that, but I can name a crisis line.", declined, true],
    ["I’m sorry I cannot assist with this, but we can look at the law.", declined, true],
  ])("%s is no other answer for that", (output, task, passed) => {
    expect(passes(task, output)).toBe(passed);
  });

  test.each<[string, GradingTask]>([
    ["The area is 12 m^2.", number(12)],
    ["9.8 m/s^2", number(9.8)],
    ["$12\\,\\text{cm}^{3}$", number(12)],
    ["12 cm<sup>2</sup>", number(12)],
    ["2 × 10^3 kg·m^{2}\\cdot s^{-2}", number(2000)],
    ["x = - 5", number(-5)],
    ["x = − 5", number(-5)],
    ["\\boxed{- 5}", number(-5)],
    ["a change of −€ 5", number(-5)],
    ["The balance is -US$5", number(-5)],
    ["3 tickets cost US$75", number(75)],
    ["3 tickets cost EUR75", number(75)],
    ["1.5 \\,\\times\\, 10^{3}", number(1500)],
    ["1.5 x 10 ^ 3", number(1500)],
    ["1.5 × 10<sup>3</sup>", number(1500)],
    ["1\u2007234", number(1234)],
    ["12\u2060345", number(12_345)],
    ["-\u20665\u2069", number(-5)],
    ["–5", taskOf({ type: "normalized_text" }, "-5")],
    [NO_BREAK("-5"), taskOf({ type: "normalized_text" }, "-5")],
    ["-5", taskOf({ type: "normalized_text" }, "–5")],
    ["Par\u00ADis\u200B", taskOf({ type: "normalized_text" }, "Paris")],
    ["–5, 3", taskOf({ type: "set_f1" }, ["-5", "3"])],
    [`["${NO_BREAK("-5")}", "3"]`, taskOf({ type: "set_f1" }, ["-5", "3"])],
    ["–5", taskOf({ type: "multiple_choice", choices: ["5", "-5"] }, "-5")],
    ["B: –5", taskOf({ type: "multiple_choice", choices: ["5", "-5"] }, "-5")],
    ["The correct answer is option A.", choice("Paris")],
    ["**Answer:** Option (A) Paris", choice("Paris")],
    ["“A”", choice("Paris")],
    ["（Ａ）", choice("Paris")],
    ["<think>1</think>\n<think>2</think>\n13", taskOf({ type: "exact" }, "13")],
    ['````json\n{"a": 1}\n````', fields],
    ['~~~\n{"a": 1}\n~~~', fields],
    ['```application/json\n{"a": 1}\n```', fields],
    ['```json title="a"\n{"a": 1}\n```', fields],
    ['\u200B{"a": 1}', fields],
  ])("%s is read as it is meant since version 7", (output, task) => {
    expect([passes(task, output), passes(task, output, "7"), passes(task, output, "6")]).toEqual([true, true, false]);
  });

  test.each<[string, GradingTask]>([
    ["```apple, pear\n```", taskOf({ type: "set_f1" }, ["apple", "pear"])],
    ["```New York\nParis\n```", taskOf({ type: "set_f1" }, ["New York", "Paris"])],
    ["```text\napple\npear\n```", taskOf({ type: "set_f1" }, ["apple", "pear"])],
    ["~~~- 3\n- 5~~~", taskOf({ type: "set_f1" }, ["3", "5"])],
    ["B) –5", taskOf({ type: "multiple_choice", choices: ["3", "–5"] }, "–5")],
    ["(B) –5", taskOf({ type: "multiple_choice", choices: ["5", "-5"] }, "-5")],
  ])("%s is read as it is meant since version 8", (output, task) => {
    expect([passes(task, output), passes(task, output, "7")]).toEqual([true, false]);
  });

  test.each<[string, GradingTask, boolean]>([
    ["B) – 5", taskOf({ type: "multiple_choice", choices: ["3", "5"] }, "5"), true],
    ['```a list\n["apple"]```', taskOf({ type: "set_f1" }, ["apple"]), true],
    ["12 m^2", number(2), false],
    ["By rule 1, x^2 · x^3 = x^5", number(5), true],
    ["10 − 5", number(5), true],
    ["x − 5", number(5), true],
    ["5! − 3", number(3), true],
    ["$10 − $5", number(5), true],
    ["10-US$5", number(5), true],
    ["- 5", number(5), true],
    ["–5", taskOf({ type: "normalized_text" }, "5"), false],
    ["1990–1995", taskOf({ type: "normalized_text" }, "1990-1995"), true],
    [
      "The answer is option 2",
      taskOf({ type: "multiple_choice", choices: ["Option 1", "Option 2"] }, "Option 2"),
      true,
    ],
    [
      "The answer is option A is fast",
      taskOf({ type: "multiple_choice", choices: ["No", "Option A is fast"] }, "No"),
      false,
    ],
    ["<think>1</think>\n<think>2", taskOf({ type: "exact" }, "2"), false],
    ['```json {"a": 1}```', fields, true],
    ['````json\n{"a": 1}\n```', fields, false],
  ])("%s is no other answer for that", (output, task, passed) => {
    expect(passes(task, output)).toBe(passed);
  });

  test.each<[string, GradingTask]>([
    ["A01 OAK x14  \r\nSUM 14", taskOf({ type: "exact" }, "A01 OAK x14\nSUM 14")],
    [NO_BREAK("2035-11-23"), taskOf({ type: "exact" }, "2035-11-23")],
    ["5\u202F3 rye", taskOf({ type: "exact" }, "5 3 rye")],
    ["Zu\u0308rich\u200B", taskOf({ type: "exact" }, "Zürich")],
    ["Ships sail.\r\nPeople wave.", lines],
    ["Ships sail.  \nPeople wave.", lines],
    ["\uFEFFShips sail.\nPeople\u00A0wave.", lines],
    [NO_BREAK("12-F-009"), taskOf({ type: "regex", pattern: "^12-F-009$" }, null)],
    [
      "Dear\u00A0all: so\u00ADrry",
      taskOf({ type: "constraints", rules: [{ kind: "starts_with", text: "Dear all" }] }, null),
    ],
    [`{"a": "NP${NO_BREAK("-")}82", "b": ["1\u00A0l"]}`, taskOf({ type: "json_fields" }, { a: "NP-82", b: ["1 l"] })],
    ['{"b": [{"c": "x\\u2011y"}, 1]}', taskOf({ type: "json_fields", unordered: ["b"] }, { b: [1, { c: "x-y" }] })],
    ["<thought>7?</thought>\n13", taskOf({ type: "exact" }, "13")],
    ["<reasoning>7</reasoning><thought>8</thought><think>9</think>13", taskOf({ type: "exact" }, "13")],
    ["`Ann Lee`", taskOf({ type: "normalized_text" }, ["Ann Lee"])],
    ["print", taskOf({ type: "normalized_text" }, "`print`")],
  ])("%j is read as it is seen since version 10", (output, task) => {
    expect([passes(task, output), passes(task, output, "9")]).toEqual([true, false]);
  });

  test.each<[string, Json]>([
    ["`ls`, `cat`, `rm`", ["ls", "cat", "rm"]],
    ["`ls, cat, rm`", "ls, cat, rm"],
    ["- `ls`\n- `cat`\n", ["ls", "cat"]],
    ["ls\ncat", ["`ls`", "cat"]],
    ['["`ls`", "cat"]', ["ls", "cat"]],
    ["ls, cat, and rm", ["ls", "cat", "rm"]],
    ["`ls`, `cat`, and `rm`.", ["ls", "cat", "rm"]],
  ])("of %j the items are read without what is around them since version 11", (output, key) => {
    const task = taskOf({ type: "set_f1" }, key);
    expect([passes(task, output), passes(task, output, "10")]).toEqual([true, false]);
  });

  test.each<[string, Json, boolean]>([
    ["or gate, and gate", ["or gate", "and gate"], true],
    ["or, not, and", ["or", "not", "and"], true],
    ["ls, and", ["ls"], false],
    ["ls, and cat, cat", ["ls", "cat"], true],
    ["ls, `cat", ["ls", "cat"], false],
  ])("%j holds the items %j: %j", (output, key, is) => {
    expect(passes(taskOf({ type: "set_f1" }, key), output)).toBe(is);
  });

  test.each<[string, number, boolean]>([
    ["The mean stay is **6.8 days**, not 10.5 days.", 6.8, true],
    ["6.8 rather than the **10.5**", 6.8, true],
    ["$6.8$, not $10.5$", 6.8, true],
    ["10.5, not 6.8", 6.8, false],
    ["It isn't 42.", 42, false],
    ["175 or 176", 176, false],
    ["either **175**, or maybe **176** litres.", 176, false],
    ["$175 or $176", 176, false],
    ["\\(175\\) or \\(176\\)", 176, false],
    ["75% or 76%", 76, false],
    ["line 175 or line 176", 176, false],
  ])("%j means another number, or none, since version 10", (output, key, passed) => {
    expect([passes(number(key), output), passes(number(key), output, "9")]).toEqual([passed, !passed]);
  });

  test.each<[string, number]>([
    ["not 5 but 6", 6],
    ["175 or 176? It is 176.", 176],
    ["42 (or 42.0)", 42],
    ["0.5 or 50%", 50],
    ["2 hours or 120 minutes", 120],
    ["$1.50 or 150 cents", 150],
    ["1.5 million or 1,500,000", 1_500_000],
    ["2^10 or 1024", 1024],
    ["√2 or about 1.41", 1.41],
    ["x is no less than 3", 3],
  ])("%j means its last number", (output, key) => {
    expect([passes(number(key), output), passes(number(key), output, "9")]).toEqual([true, true]);
  });

  test.each<[string, GradingTask]>([
    ["A01 OAK x14\n\nSUM 14", taskOf({ type: "exact" }, "A01 OAK x14\nSUM 14")],
    [" A01 OAK x14\n SUM 14", taskOf({ type: "exact" }, "A01 OAK x14\nSUM 14")],
    ["2035–11–23", taskOf({ type: "exact" }, "2035-11-23")],
    ["Ships  sail.\nPeople wave.", lines],
    ["Ships sail.\n\nPeople wave.", lines],
    ["so\u00ADrry", taskOf({ type: "constraints", rules: [{ kind: "exclude", words: ["sorry"] }] }, null)],
    ["<thought>13", taskOf({ type: "exact" }, "13")],
    ["<thought>13</reasoning>13", taskOf({ type: "exact" }, "13")],
    ["`Ann` or `Lee`", taskOf({ type: "normalized_text" }, "Ann or Lee")],
    ['{"a": "NP–82"}', taskOf({ type: "json_fields" }, { a: "NP-82" })],
  ])("%j does not look the same", (output, task) => {
    expect(passes(task, output)).toBe(false);
  });

  test("a text for another grader stays as it is", () => {
    for (const type of ["exact", "regex", "constraints", "refusal", "tool_calls"] as const)
      expect(inPlainWriting(type, "–5 1{,}370 ```{}```")).toBe("–5 1{,}370 ```{}```");
  });

  test.each([
    ["numeric", "1{,}"],
    ["numeric", "–"],
    ["numeric", "1\\,"],
    ["multiple_choice", "\\boxed{"],
    ["multiple_choice", "$\\boxed{\\text{"],
    ["multiple_choice", " a –"],
    ["json_fields", "```json"],
    ["exact", "</think>\t"],
    ["numeric", "\u2011"],
    ["multiple_choice", "\\[\\boxed{"],
    ["refusal", "I'm sorry "],
    ["refusal", "can't help "],
    ["numeric", "1 m^"],
    ["numeric", "1a-"],
    ["numeric", "(− "],
    ["numeric", "1US$"],
    ["exact", "<think></think>"],
    ["normalized_text", "\u200B"],
    ["multiple_choice", "Ａ"],
    ["json_fields", "~~~"],
    ["exact", "<thought></thought>"],
    ["exact", "<thought>"],
    ["normalized_text", "`"],
  ] as const)("%s reads a mebibyte of %s at once", async (type, piece) => {
    const text = piece.repeat(2 ** 20 / piece.length);
    expect(await leastTime(1000, () => inPlainWriting(type, text))).toBeLessThan(1000);
  });
});
