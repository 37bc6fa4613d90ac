import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJsonBounded } from "../../../shared/platform/outbound/json.ts";

const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);
const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
const zeros = (length: number) => Array.from({ length }, () => 0);
const valueOf = (text: string) => {
  const parsed = parseJsonBounded(text);
  return parsed.ok ? parsed.value : parsed.reason;
};

describe("JSON from a stranger", () => {
  it("is what JSON.parse makes of it, when it is not deep", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 20 }), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!/__proto__|constructor/.test(text));
        expect(parseJsonBounded(text)).toEqual({ ok: true, value: JSON.parse(text) });
      }),
    );
  });

  it.each(["", "{", "undefined", "NaN", "{'a':1}", "[1,]", '{"a":1}x'])(
    "is refused when it is not JSON: %j",
    (text) => {
      expect(parseJsonBounded(text)).toEqual({ ok: false, reason: "not_json" });
    },
  );

  it.each([
    ["arrays", (depth: number) => nested("[", "]", depth)],
    ["objects", objects],
    ["both", (depth: number) => `[${objects(depth - 1)},1]`],
  ])("may nest 64 deep and no deeper: %s", (_case, make) => {
    expect(parseJsonBounded(make(64)).ok).toBe(true);
    expect(parseJsonBounded(make(65))).toEqual({ ok: false, reason: "too_deep" });
  });

  it.each<[string, (values: number) => unknown]>([
    ["a list", (values) => Array.from({ length: values }, () => ({}))],
    ["an object", (values) => Object.fromEntries(Array.from({ length: values }, (_, n) => [`k${n}`, n]))],
    ["a list in a list", (values) => [zeros(25_000), ...zeros(values - 25_001)]],
  ])("may have 50,000 items and members and no more: %s", (_case, make) => {
    expect(parseJsonBounded(JSON.stringify(make(50_000))).ok).toBe(true);
    expect(parseJsonBounded(JSON.stringify(make(50_001)))).toEqual({ ok: false, reason: "too_many" });
  });

  it("takes another depth", () => {
    expect(parseJsonBounded("[[1]]", { maxDepth: 2 }).ok).toBe(true);
    expect(parseJsonBounded("[[1]]", { maxDepth: 1 }).ok).toBe(false);
    expect(parseJsonBounded("1", { maxDepth: 0 }).ok).toBe(true);
  });

  it.each([
    ["arrays", nested("[", "]", 500_000)],
    ["objects", objects(200_000)],
  ])("does not run out of stack on half a million levels: %s", (_case, text) => {
    expect(parseJsonBounded(text)).toEqual({ ok: false, reason: "too_deep" });
  });

  it.each([
    ['{"__proto__":{"admin":true},"a":1}', { a: 1 }],
    ['{"\\u005f_proto__":null,"a":1}', { a: 1 }],
    ['[{"a":[{"__proto__":[]}]}]', [{ a: [{}] }]],
    ['{"constructor":{"prototype":{"admin":true}},"a":1}', { a: 1 }],
    ['{"constructor":{"__proto__":1,"prototype":1}}', {}],
  ])("loses keys that reach a prototype: %s", (text, expected) => {
    const value = valueOf(text);
    expect(value).toEqual(expected);
    expect(JSON.stringify(value)).toBe(JSON.stringify(expected));
  });

  it.each(['{"constructor":"Ferrari"}', '{"constructor":{"team":1}}', '{"prototype":{"a":1}}'])("keeps %s", (text) => {
    expect(JSON.stringify(valueOf(text))).toBe(text);
  });
});
