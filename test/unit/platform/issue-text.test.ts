import { describe, expect, it } from "vitest";
import * as z from "zod";
import { validationProblem } from "../../../shared/http/validation.ts";
import { atMost } from "../../../shared/platform/json-size.ts";

/** The first finding of a body that a schema refuses, as a caller is told it. */
function told(schema: z.ZodType, value: unknown): [code: string | undefined, message: string | undefined] {
  const { error } = schema.safeParse(value);
  const finding = error && validationProblem("body", error).extras.errors?.[0];
  return [finding?.code, finding?.message];
}

const many = z.enum(Array.from({ length: 23 }, (_, n) => `v${n}`));
const kinds = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("a") }),
  z.object({ kind: z.literal("b"), n: z.int() }),
]);

describe("what to do about a value", () => {
  it.each<[what: string, schema: z.ZodType, value: unknown, code: string, message: string]>([
    ["missing", z.object({ a: z.string() }), {}, "missing_field", "This field is required."],
    ["missing, of any JSON", z.object({ a: z.json() }), {}, "invalid_union", "This field is required."],
    ["missing, by a check", z.custom((value) => value !== undefined), undefined, "custom", "This field is required."],
    ["no string", z.string(), 1, "invalid_type", "Give a string."],
    ["no boolean", z.boolean(), "true", "invalid_type", "Give true or false."],
    ["no list", z.array(z.string()), {}, "invalid_type", "Give a list."],
    ["no pair", z.tuple([z.int(), z.int()]), 1, "invalid_type", "Give a list."],
    ["no object", z.object({}), null, "invalid_type", "Give an object."],
    ["no object of any names", z.record(z.string(), z.int()), [], "invalid_type", "Give an object."],
    ["not null", z.null(), 1, "invalid_type", "Give null."],
    ["not to be there", z.object({ a: z.never().optional() }), { a: 1 }, "invalid_type", "Leave this out."],
    ["no number", z.number(), "1", "invalid_type", "Give a number."],
    [
      "no number of a query",
      z.coerce.number().int().min(1).max(10),
      "x",
      "invalid_type",
      "Give a whole number from 1 to 10.",
    ],
    ["a fraction", z.int().min(1).max(10), 1.5, "invalid_type", "Give a whole number from 1 to 10."],
    ["too small a number", z.int().min(1).max(10), 0, "too_small", "Give a whole number from 1 to 10."],
    ["too large a number", z.number().max(0.5), 1, "too_big", "Give a number of at most 0.5."],
    ["not above", z.number().gt(0).max(1), 0, "too_small", "Give a number above 0 and of at most 1."],
    ["not below", z.number().min(0).lt(1), 1, "too_big", "Give a number of at least 0 and below 1."],
    ["beyond whole numbers", z.int(), 2 ** 60, "too_big", "Give a whole number of at most 9007199254740991."],
    ["no multiple", z.number().multipleOf(0.01), 0.005, "not_multiple_of", "Give a multiple of 0.01."],
    ["too short", z.string().min(1), "", "too_small", "Give at least 1 character."],
    ["too long", z.string().min(1).max(3), "four", "too_big", "Give 1 to 3 characters."],
    ["of another length", z.string().length(6), "five5", "too_small", "Give exactly 6 characters."],
    ["too many items", z.array(z.int()).max(1), [1, 2], "too_big", "Give at most 1 item."],
    ["too few items", z.array(z.int()).min(2).max(10), [1], "too_small", "Give 2 to 10 items."],
    ["none of a few", z.enum(["a", "b"]), "c", "invalid_value", "Choose one of: a, b."],
    ["none of many", many, "c", "invalid_value", `Choose one of: ${many.options.slice(0, 20).join(", ")} and 3 more.`],
    ["not the only one", z.literal("a"), "b", "invalid_value", 'Give "a".'],
    ["not the only number", z.literal(2), 3, "invalid_value", "Give 2."],
    ["no boolean of a query", z.stringbool(), "perhaps", "invalid_value", "Give true or false."],
    ["no time", z.iso.datetime(), "now", "invalid_format", "Give a date and time such as 2026-11-27T09:00:00Z."],
    ["no day", z.iso.date(), "2026-13-01", "invalid_format", "Give a date such as 2026-11-27."],
    ["no address of mail", z.email(), "ada", "invalid_format", "Give an email address such as ada@example.com."],
    ["no URL", z.url(), "x", "invalid_format", "Give a URL such as https://example.com/agent."],
    ["no id", z.uuid(), "x", "invalid_format", "Give a UUID such as 0199f3d2-5c11-7a44-9d8e-2f4b6c8d0e12."],
    ["no base64url", z.base64url(), "+/", "invalid_format", "Give base64url: letters, digits, - and _ alone."],
    ["not of a form", z.string().regex(/^a+$/), "b", "invalid_format", "Give text of the form /^a+$/."],
    ["not of a form that is named", z.ipv4(), "b", "invalid_format", expect.stringMatching(/^Give text of the form /)],
    ["of no kind", kinds, { kind: "c" }, "invalid_union", "Choose one of: a, b."],
    ["wrong in its kind", kinds, { kind: "b", n: "1" }, "invalid_type", "Give a whole number."],
    ["neither one", z.union([z.string(), z.number()]), true, "invalid_union", "Give a string. Or: Give a number."],
    [
      "neither one, further in",
      z.union([z.object({ a: z.object({ b: z.int() }) }), z.array(z.int())]),
      { a: { b: "" } },
      "invalid_union",
      "a: b: Give a whole number. Or: Give a list.",
    ],
    ["both at once", z.xor([z.string(), z.string().max(9)]), "a", "invalid_union", "Give another value."],
    [
      "a name",
      z.record(z.uuid(), z.int()),
      { x: 1 },
      "invalid_key",
      expect.stringMatching(/^Choose another name. Give a UUID/),
    ],
    ["in a set", z.map(z.string(), z.int()), new Map([["a", "1"]]), "invalid_type", "Give a whole number."],
    ["not known", z.strictObject({}), { x: 1 }, "unrecognized_field", "This field is not known here; remove it."],
    ["refused without a word", z.string().refine(() => false), "a", "custom", "Give another value."],
  ])("that is %s", (_what, schema, value, code, message) => {
    expect(told(schema, value)).toEqual([code, message]);
  });

  it("is what the schema itself says of it, where it does", () => {
    const own = "Name a colour.";
    const custom = [
      z.string(own),
      z.string().min(9, own),
      z.string().regex(/^\d$/, own),
      z.string().refine(() => false, own),
      z.enum(["1"], own),
      z.union([z.literal("1"), z.int()], own),
    ];
    for (const schema of custom) expect(told(schema, schema === custom[0] ? 1 : "a")[1]).toBe(own);
    expect(told(z.string(own), undefined)).toEqual(["invalid_type", own]);
    expect(told(z.json().check(atMost(1)), "x".repeat(1024))).toEqual(["too_big", "Give at most 1 KiB of JSON."]);
  });

  it("names fields that are not known where several are told in one, as many as can be read", () => {
    const sent = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`${n}`.padEnd(100, "x"), 1]));
    const text = z.strictObject({}).safeParse(sent).error?.issues[0]?.message ?? "";
    expect(text).toMatch(/^Remove what is not known here: 0x{59}, .* and 10 more\.$/);
    expect(text.length).toBeLessThan(1400);
  });
});
