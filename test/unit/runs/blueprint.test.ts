import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BlueprintRow, toBlueprint } from "../../../shared/results/blueprint.ts";

type Trace = BlueprintRow["traces"][number];

const id = (number: number) => number.toString(16).padStart(16, "0");
const row = (traces: Trace[]): BlueprintRow => ({ agent_id: "a", window: [], architecture_hash: null, traces });

const names = fc.constantFrom("a", "b", "c", "agent");
const span = fc.record({
  parent: fc.nat(12),
  kind: fc.constantFrom("model" as const, "tool" as const, "agent" as const, "other" as const),
  name: names,
  provider: fc.option(names),
  model: fc.option(names),
  operation: fc.option(names),
  scope: fc.option(names),
  started_at: fc.nat(1000),
  duration_ms: fc.nat(1_000_000),
  failed: fc.boolean(),
});
const spans = fc.array(span, { minLength: 1, maxLength: 12 }).map((some) =>
  some.map(({ parent, ...rest }, index) => ({
    ...rest,
    span_id: id(index),
    parent_span_id: id(parent),
    input_tokens: null,
    output_tokens: 1,
    cost_usd: null,
  })),
);
const traces = fc
  .array(spans, { maxLength: 4 })
  .map((all): Trace[] =>
    all.map((some, index) => ({ run_id: `01900000-0000-7000-8000-00000000000${index}`, spans: some })),
  );

describe("a blueprint", () => {
  test("is the same in whatever order runs and spans come", () => {
    fc.assert(
      fc.property(traces, fc.func(fc.integer()), (some, weight) => {
        const shuffled = some.map((trace) => ({
          ...trace,
          spans: trace.spans.toSorted((one, other) => weight(one.span_id) - weight(other.span_id)),
        }));
        expect(toBlueprint(row(shuffled.toReversed()))).toEqual(toBlueprint(row(some)));
      }),
    );
  });

  test("counts no call twice, and the tokens of those that it counts", () => {
    fc.assert(
      fc.property(traces, (some) => {
        const { models, telemetry_runs } = toBlueprint(row(some));
        const all = some.flatMap((trace) => trace.spans).filter(({ kind }) => kind === "model");
        const calls = models.reduce((sum, model) => sum + model.calls, 0);
        expect(calls).toBeLessThanOrEqual(all.length);
        expect(models.reduce((sum, model) => sum + model.output_tokens, 0)).toBe(calls);
        expect(telemetry_runs).toBe(some.length);
      }),
    );
  });

  test("lists the 200 most frequent names, however many there are", () => {
    const flood = Array.from({ length: 1000 }, (_none, number) => ({
      span_id: id(number),
      parent_span_id: null,
      kind: "tool" as const,
      scope: null,
      name: number % 10 === 0 ? "often" : `tool ${number}`,
      provider: null,
      model: null,
      operation: `operation ${number}`,
      input_tokens: null,
      output_tokens: null,
      cost_usd: null,
      failed: false,
      started_at: 1,
      duration_ms: 1,
    }));
    const { tools, operations, edges } = toBlueprint(row([{ run_id: "r", spans: flood }]));
    expect([tools.length, operations.length, edges.length]).toEqual([200, 200, 200]);
    expect([tools[0]?.name, tools[0]?.calls]).toEqual(["often", 100]);
  });
});
