import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Edge, readTrace, type Span } from "../../../shared/telemetry/trace.ts";
import { inner, model, other, RUN, SENT, span, tool } from "./spans.ts";

const planner = { kind: "agent", name: "planner" } as const;
const read = (...spans: Span[]) => readTrace(RUN, spans);

describe("who called", () => {
  test.each<[string, Span[], Edge[]]>([
    ["is the agent for a span under the one it was sent", [span(0, SENT, tool("t"))], [["agent", "t"]]],
    ["is the agent for a root", [span(0, null, tool("t"))], [["agent", "t"]]],
    ["passes unnamed spans", [span(0, SENT, other("x")), span(1, inner(0), tool("t"))], [["agent", "t"]]],
    [
      "is the nearest named one",
      [span(0, SENT, planner), span(1, inner(0), tool("t"))],
      [
        ["agent", "planner"],
        ["planner", "t"],
      ],
    ],
    [
      "is unknown where a span on the way is missing",
      [span(1, inner(0), other("x")), span(2, inner(1), tool("t"))],
      [],
    ],
    ["is unknown in a circle", [span(0, inner(1), other("x")), span(1, inner(0), other("y"))], []],
    [
      "is told of each call",
      [span(0, SENT, tool("t")), span(1, SENT, tool("t"))],
      [
        ["agent", "t"],
        ["agent", "t"],
      ],
    ],
  ])("%s", (_case, spans, edges) => {
    expect(read(...spans).edges).toEqual(edges);
  });
});

describe("a call", () => {
  test("of a model that several layers saw is one, told by the innermost; a failed one beside it is another", () => {
    const { modelCalls, edges } = read(
      span(0, SENT, model("router/auto")),
      span(1, inner(0), other("http")),
      span(2, inner(1), model("m", "openai")),
      span(3, inner(0), model("m", "openai")),
    );
    expect(modelCalls.map(({ span_id }) => span_id)).toEqual([inner(2), inner(3)]);
    expect(edges).toEqual([
      ["agent", "openai/m"],
      ["agent", "openai/m"],
    ]);
  });

  test("of a model has what the innermost layer leaves out from the ones around it, unless they enclose others", () => {
    const usage = { input_tokens: 100, output_tokens: 10 };
    const asked = span(0, SENT, model("router/auto", "gateway", { ...usage, cost_usd: 0.5 }));
    const layers = [
      asked,
      span(1, inner(0), model("m")),
      span(2, inner(1), model("m-2026-01-01", null, { output_tokens: 11 })),
    ];
    const told = { model: "m-2026-01-01", input_tokens: 100, output_tokens: 11, cost_usd: 0.5 };
    for (const some of [layers, layers.toReversed()])
      expect(read(...some).modelCalls).toEqual([expect.objectContaining(told)]);
    const tries = [asked, span(1, inner(0), model("m")), span(2, inner(0), model("m", null, usage))];
    expect(read(...tries).modelCalls.map(({ input_tokens }) => input_tokens)).toEqual([null, 100]);
  });

  test("of a model by a tool that a model called is a call of its own", () => {
    const spans = [span(0, SENT, model("m")), span(1, inner(0), tool("t")), span(2, inner(1), model("m"))];
    expect(read(...spans).modelCalls).toHaveLength(2);
  });

  test("of a tool that two layers saw is one, of another tool inside it a second", () => {
    const spans = [span(0, SENT, tool("t")), span(1, inner(0), tool("t")), span(2, inner(1), tool("u"))];
    expect(read(...spans).toolCalls.map(({ span_id }) => span_id)).toEqual([inner(1), inner(2)]);
  });
});

describe("a call of a model that instrumentations saw beside each other", () => {
  const [framework, client, third] = ["11111111", "22222222", "33333333"];
  const usage = (input: number | null, output: number | null) => ({ input_tokens: input, output_tokens: output });
  const at = (seconds: number, milliseconds: number) => ({
    started_at: 1_764_000_000 + seconds,
    duration_ms: milliseconds,
  });
  const outer = { scope: framework, ...at(0, 1000), ...usage(100, 10) };
  const within = { scope: client, ...at(0.001, 990), ...usage(100, 10) };

  test.each<[string, number, Partial<Span>[]]>([
    ["is one", 1, [outer, within]],
    ["is one where the first says less", 1, [{ ...outer, ...usage(null, null) }, within]],
    ["is one where the second says less", 1, [outer, { ...within, ...usage(null, null) }]],
    ["is one where the answer names a release", 1, [outer, { ...within, model: "m-2026-01-01" }]],
    [
      "is one where it names it by month and day",
      1,
      [
        { ...outer, model: "m-preview" },
        { ...within, model: "m-preview-05-06" },
      ],
    ],
    [
      "is one where the latest was asked for",
      1,
      [
        { ...outer, model: "m-latest" },
        { ...within, model: "m-20260101" },
      ],
    ],
    [
      "is two of two releases",
      2,
      [
        { ...outer, model: "m-2026-01-01" },
        { ...within, model: "m-2026-01-02" },
      ],
    ],
    [
      "is one where a clock of milliseconds ends early",
      1,
      [
        { ...outer, ...at(0.001, 990) },
        { ...within, ...at(0, 993) },
      ],
    ],
    ["is one by three of them", 1, [outer, within, { ...within, scope: third }]],
    ["is two by one instrumentation", 2, [outer, { ...within, scope: framework }]],
    [
      "is two by instrumentations without names",
      2,
      [
        { ...outer, scope: null },
        { ...within, scope: null },
      ],
    ],
    ["is two of other models", 2, [outer, { ...within, model: "other" }]],
    [
      "is two of models of which one's name begins like the other's",
      2,
      [
        { ...outer, ...usage(null, null), model: "m" },
        { ...within, model: "m-mini" },
      ],
    ],
    ["is two of other tokens", 2, [outer, { ...within, ...usage(100, 11) }]],
    ["is two one after the other", 2, [outer, { ...within, ...at(1.2, 500) }]],
    ["is three that were asked the same at once", 3, [outer, outer, outer, within, within, within]],
    [
      "is two where only one of two says nothing",
      2,
      [{ ...outer, ...usage(null, null) }, outer, within, { ...within, ...usage(7, 7) }],
    ],
  ])("%s", (_case, count, seen) => {
    const spans = seen.map((fields, place) => span(place, SENT, { ...model("m"), ...fields }));
    for (const some of [spans, spans.toReversed()]) {
      expect(read(...some).modelCalls).toHaveLength(count);
      expect(read(...some).edges).toHaveLength(count);
    }
  });

  test("is told once with its tokens where the client tried twice, and its first try as a call of its own", () => {
    const failed = { ...within, ...at(0.001, 200), ...usage(null, null) };
    const right = { ...within, ...at(0.3, 690) };
    const spans = [outer, failed, right].map((fields, place) => span(place, SENT, { ...model("m"), ...fields }));
    for (const some of [spans, spans.toReversed()])
      expect(new Set(read(...some).modelCalls.map(({ input_tokens }) => input_tokens))).toEqual(new Set([100, null]));
    expect(read(...spans).modelCalls).toHaveLength(2);
  });

  test("is told where the first stands, with what the second adds", () => {
    const { modelCalls, edges } = read(
      span(0, SENT, planner),
      span(1, inner(0), { ...model("m"), ...outer, ...usage(100, null) }),
      span(2, SENT, { ...model("m-2026-01-01", "openai", { cost_usd: 0.5 }), ...within }),
    );
    expect(modelCalls).toEqual([
      expect.objectContaining({ span_id: inner(1), model: "m", provider: "openai", cost_usd: 0.5, ...usage(100, 10) }),
    ]);
    expect(edges).toEqual([
      ["agent", "planner"],
      ["planner", "openai/m"],
    ]);
  });
});

test("any parents at all are read in linear time, and every span is at most one call", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -1, max: 60 }), { maxLength: 50 }), (parents) => {
      const spans = parents.map((parent, at) => span(at, inner(parent), at % 3 === 0 ? other("x") : tool("t")));
      const { toolCalls, edges } = read(...spans);
      expect(toolCalls.length).toBeLessThanOrEqual(spans.length);
      expect(edges.length).toBeLessThanOrEqual(toolCalls.length);
    }),
  );
  let steps = 0;
  const chain = Array.from({ length: 2000 }, (_none, at) => {
    const one = span(at, inner(at - 1), other("x"));
    return Object.defineProperty(one, "parent_span_id", { get: () => ((steps += 1), inner(at - 1)) });
  });
  read(...chain);
  expect(steps).toBeLessThan(4 * chain.length);
});
