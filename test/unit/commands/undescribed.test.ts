import { expect, test } from "vitest";
import { withoutWords } from "../../commands/bundling/undescribed.ts";

test.each([
  ["a schema's words", 'z.uuid().meta({ id: "A" })', "z.uuid()"],
  [
    "words within what has words",
    'z.object({ a: z.int().meta({ description: "ü" }) }).meta({ id: "A" }).optional()',
    "z.object({ a: z.int() }).optional()",
  ],
  ["words within words", 'z.int().meta({ examples: [z.int().meta({ id: "B" })] }).min(1)', "z.int().min(1)"],
  [
    "an endpoint's words",
    'route({ id: "a", tag: "T", summary: "S", path: "/a", problems: ["gone"], returns: { 200: A } })',
    'route({ id: "a", path: "/a", returns: { 200: A } })',
  ],
  ["its last words", 'route({ id: "a", summary: "S" })', 'route({ id: "a", })'],
  ["a tool's words", 'tool({ name: "t", title: "T", description: "D", run() {} })', 'tool({ name: "t", run() {} })'],
])("%s are left out", (_what, source, kept) => {
  expect(withoutWords(source, "ts")).toBe(kept);
});

test.each([
  ["what is read", "registry.get(schema).meta(); import.meta.url; meta({ id: 1 });"],
  ["words of other calls", 'new Problem({ description: "D" }); field({ summary: "S", title: "T" });'],
  ["words of what is returned", 'route({ returns: { 200: { type: "text/csv", description: "D" } } })'],
  ["text that looks like a call", 'const text = ".meta({ id: 1 })"; // route({ summary: "S" })'],
])("%s is kept", (_what, source) => {
  expect(withoutWords(source, "ts")).toBe(source);
});

test("elements are read where a file has them", () => {
  const page = "const a = <b>{z.int().meta({ id: 'A' }).parse(1)}</b>;";
  expect(withoutWords(page, "tsx")).toBe("const a = <b>{z.int().parse(1)}</b>;");
});

test("a file that can't be read is not taken for one without words", () => {
  expect(() => withoutWords("const = ;", "ts")).toThrow();
});
