import { describe, expect, test } from "vitest";
import * as z from "zod";
import { TOOLS } from "../../functions/mcp/tools.ts";
import { ROUTES } from "../../functions/routes.ts";

type Inner = z.core.$ZodType | undefined;
/** Where schemas have others within, of whatever type they are. */
interface Within {
  shape?: Record<string, Inner>;
  options?: Inner[];
  items?: Inner[];
  element?: Inner;
  innerType?: Inner;
  valueType?: Inner;
  in?: Inner;
  catchall?: Inner;
  getter?: () => Inner;
}

/** A schema and all that it is made of, as far as a caller can reach them. */
function parts(schema: Inner, found = new Set<z.core.$ZodType>()): Set<z.core.$ZodType> {
  if (schema === undefined || found.has(schema)) return found;
  found.add(schema);
  const def: object = schema._zod.def;
  const {
    shape = {},
    options = [],
    items = [],
    element,
    innerType,
    valueType,
    in: taken,
    catchall,
    getter,
  }: Within = def;
  const inner = [...Object.values(shape), ...options, ...items, element, innerType, valueType, taken, catchall];
  for (const one of [...inner, getter?.()]) parts(one, found);
  return found;
}

/** Something wrong for every schema, in each way that it can be. */
const WRONG = [
  [undefined, null, true, -1, 0, 0.005, 1.5, 1e12, 2 ** 60, -(2 ** 60), Number.NaN],
  ["", "x", " ", "é\u202e", "a".repeat(70), "a".repeat(300), "a".repeat(70_000), "2026-13-01", "http://x"],
  [[], [1], [null], ["a", "a"], Array.from({ length: 2000 }, (_, n) => `x${n}`)],
  [{}, { x: 1 }, { type: "x", kind: "x" }, { x: undefined }],
].flat();

const TAKEN: [what: string, schemas: Inner[]][] = [
  // Bodies of bytes are never held to their schemas.
  ...ROUTES.map(({ id, params, query, body, accepts }): [string, Inner[]] => [
    id,
    [params, query, ...(accepts?.asBytes === true ? [] : [body])],
  ]),
  ...TOOLS.map(({ name, input }): [string, Inner[]] => [name, [input]]),
];

describe("what is said of a wrong value", () => {
  const texts = new Map<string, string>();
  for (const [what, schemas] of TAKEN) {
    for (const part of schemas.flatMap((schema) => [...parts(schema)])) {
      for (const wrong of WRONG) {
        for (const { message } of z.safeParse(part, wrong).error?.issues ?? []) texts.set(message, what);
      }
    }
  }

  test("is told for every schema that is asked for something", () => {
    expect(texts.size).toBeGreaterThan(100);
    expect([...texts.keys()]).toEqual(expect.arrayContaining(["Give a whole number from 1 to 100.", "Give a list."]));
  });

  test("is said in words of the service, and says what to do", () => {
    const silent = [...texts].filter(([text]) =>
      /\b(?:invalid|expected|received|unrecognized|too (?:big|small)|text of the form|another value|undefined)\b/i.test(
        text,
      ),
    );
    expect(silent).toEqual([]);
    expect([...texts.keys()].filter((text) => text.length > 300)).toEqual([]);
  });
});
