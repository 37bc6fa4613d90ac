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

  test("of a model by a tool that a model called is a call of its own", () => {
    const spans = [span(0, SENT, model("m")), span(1, inner(0), tool("t")), span(2, inner(1), model("m"))];
    expect(read(...spans).modelCalls).toHaveLength(2);
  });

  test("of a tool that two layers saw is one, of another tool inside it a second", () => {
    const spans = [span(0, SENT, tool("t")), span(1, inner(0), tool("t")), span(2, inner(1), tool("u"))];
    expect(read(...spans).toolCalls.map(({ span_id }) => span_id)).toEqual([inner(1), inner(2)]);
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
