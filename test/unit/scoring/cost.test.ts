import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CostEvidence, costEvidence, scoredCost } from "../../../shared/scoring/cost.ts";
import { priceTable } from "../../../shared/scoring/prices.ts";

// 2 USD per million input tokens, 8 per million output tokens; twice that above 100,000 input tokens.
const prices = priceTable([
  { vendor: "acme", model: "known", input: 2_000_000, output: 8_000_000 },
  { vendor: "acme", model: "known-100k", input: 4_000_000, output: 16_000_000 },
]);

/** As a report comes: JSON that nobody has checked. */
const read = (json: string): CostEvidence => costEvidence(JSON.parse(json), prices, 0);
const evidence = (usage: unknown): CostEvidence => read(JSON.stringify(usage));

const counted = { model: "known", input_tokens: 1000, output_tokens: 500 };
const unknown = { ...counted, model: "unknown" };
const paid = { ...counted, cost_usd: 0.25 };

describe("the source of a cost", () => {
  // The columns: source, cost, partial, priced calls, calls without a price.
  const cases: [what: string, usage: unknown, ...expected: unknown[]][] = [
    ["nothing", null, "unavailable", null, false, 0, 0],
    ["an empty report", {}, "unavailable", null, false, 0, 0],
    ["an empty list of calls", { calls: [] }, "unavailable", null, false, 0, 0],
    ["only a total", { cost_usd: 0.5 }, "runner_aggregate", 0.5, false, 0, 0],
    ["a total beside an empty list", { calls: [], cost_usd: 0 }, "runner_aggregate", 0, false, 0, 0],
    ["a total that is no amount", { cost_usd: -1 }, "unavailable", null, false, 0, 0],
    ["calls that all carry a cost", { calls: [paid, paid] }, "self_reported", 0.5, false, 2, 0],
    ["a free call", { calls: [{ cost_usd: 0 }] }, "self_reported", 0, false, 1, 0],
    ["calls that we price", { calls: [counted, counted] }, "estimated", 0.012, false, 2, 0],
    [
      "a call in the long context",
      { calls: [{ ...counted, input_tokens: 100_001 }] },
      "estimated",
      0.408004,
      false,
      1,
      0,
    ],
    ["a null cost, which we price", { calls: [{ ...counted, cost_usd: null }] }, "estimated", 0.006, false, 1, 0],
    ["both kinds", { calls: [paid, counted] }, "mixed", 0.256, false, 2, 0],
    ["both kinds and one without a price", { calls: [paid, counted, unknown] }, "mixed", 0.256, true, 2, 1],
    ["reported ones and one without a price", { calls: [paid, unknown] }, "self_reported", 0.25, true, 1, 1],
    ["priced ones and one without a price", { calls: [unknown, counted] }, "estimated", 0.006, true, 1, 1],
    ["calls none of which has a price", { calls: [unknown, {}] }, "unpriced", null, true, 0, 2],
    ["calls without a price beside a total", { calls: [unknown], cost_usd: 9 }, "unpriced", null, true, 0, 1],
    ["calls beside a smaller total", { calls: [paid], cost_usd: 0.01 }, "self_reported", 0.25, false, 1, 0],
    ["a call without output tokens", { calls: [{ model: "known", input_tokens: 5 }] }, "unpriced", null, true, 0, 1],
    ["a call without input tokens", { calls: [{ model: "known", output_tokens: 5 }] }, "unpriced", null, true, 0, 1],
    ["entries that are no objects", { calls: [null, 7, "x", [], paid] }, "self_reported", 0.25, true, 1, 4],
    ["calls that are no list", { calls: { 0: paid, length: 1 } }, "unavailable", null, false, 0, 0],
    ["a report that is a list", [paid], "unavailable", null, false, 0, 0],
    ["a report that is text", "0.5", "unavailable", null, false, 0, 0],
    ["a billion tokens", { calls: [{ ...counted, output_tokens: 1_000_000_000 }] }, "estimated", 8000.002, false, 1, 0],
  ];

  it.each(cases)("%s", (_, usage, source, cost, partial, priced, unpriced) => {
    const result = evidence(usage);
    expect(result).toMatchObject({
      evidence_cost_source: source,
      evidence_cost_usd: cost,
      evidence_cost_partial: partial,
      evidence_priced_call_count: priced,
      evidence_unpriced_call_count: unpriced,
    });
    expect(result.evidence_total_call_count).toBe(Number(priced) + Number(unpriced));
  });

  it.each(["-0.01", "-1e-9", "1e999", "-1e999", "1000000.01", '"0.25"', "true", "[]", "{}"])(
    "a cost of %s leaves its call without a price, whatever its tokens",
    (cost) => {
      expect(
        read(`{"calls": [{"model": "known", "input_tokens": 1, "output_tokens": 1, "cost_usd": ${cost}}]}`),
      ).toMatchObject({
        evidence_cost_source: "unpriced",
        evidence_cost_usd: null,
        evidence_cost_partial: true,
      });
    },
  );

  it.each(["-1", "1.5", "1e999", '"1000"', "null", "1000000001"])("a token count of %s is none", (count) => {
    expect(read(`{"calls": [{"model": "known", "input_tokens": ${count}, "output_tokens": 1}]}`)).toMatchObject({
      evidence_cost_source: "unpriced",
      input_tokens: null,
      output_tokens: 1,
    });
  });

  it("an estimate over a million leaves its call without a price", () => {
    const dear = priceTable([{ vendor: "acme", model: "known", input: 0, output: 1_000_000_001 }]);
    const call = { model: "known", input_tokens: 0, output_tokens: 1_000_000_000 };
    expect(costEvidence({ calls: [call] }, dear, 0)).toMatchObject({ evidence_cost_source: "unpriced" });
    expect(costEvidence({ calls: [{ ...call, output_tokens: 999_999_999 }] }, dear, 0)).toMatchObject({
      evidence_cost_usd: 1_000_000,
    });
  });
});

describe("money", () => {
  it.each([
    ["tenths that doubles cannot add", [0.1, 0.2], 0.3],
    ["a half micro-dollar, up", [0.0000005], 0.000001],
    ["less than half of one, down", [0.00000049], 0],
    ["halves that only their sum rounds", [0.0000005, 0.0000005], 0.000001],
    ["a half beside the largest amount", [1_000_000, 0.0000005], 1_000_000.000001],
    ["an amount that no double holds", [123456.0000005], 123456.000001],
    ["the smallest double", [Number.MIN_VALUE], 0],
  ])("sums %s", (_, costs, expected) => {
    expect(evidence({ calls: costs.map((cost_usd) => ({ cost_usd })) }).evidence_cost_usd).toBe(expected);
  });

  it("is exact for any amounts in micro-dollars, in any order", () => {
    const micros = fc.array(fc.integer({ min: 0, max: 10 ** 9 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(micros, (amounts) => {
        const total = amounts.reduce((sum, one) => sum + one, 0) / 1e6;
        const calls = amounts.map((one) => ({ cost_usd: one / 1e6 }));
        expect(evidence({ calls }).evidence_cost_usd).toBe(total);
        expect(evidence({ calls: calls.toReversed() }).evidence_cost_usd).toBe(total);
      }),
    );
  });
});

describe("the legacy total", () => {
  it.each([
    ["what the agent says it is", { calls: [paid], cost_usd: 0.3 }, 0.3],
    ["the evidence where the agent gives none", { calls: [paid, counted] }, 0.256],
    ["the evidence where the agent's is no amount", { calls: [paid], cost_usd: "0.3" }, 0.25],
    ["nothing where the evidence is partial", { calls: [paid, unknown] }, null],
    ["nothing where nothing came", {}, null],
  ])("is %s", (_, usage, total) => {
    expect(evidence(usage).total_cost_usd).toBe(total);
  });
});

describe("the cost that scoring uses", () => {
  it.each([
    ["a complete sum", { calls: [paid, counted] }, 0.256],
    ["no total, which no floor can be held against", { cost_usd: 0.5 }, null],
    ["no sum that leaves calls out, lest hiding the dear ones pays", { calls: [paid, unknown] }, null],
    ["no total that covers for calls without a price", { calls: [unknown], cost_usd: 0.01 }, null],
    ["nothing where nothing came", null, null],
  ])("is %s", (_, usage, cost) => {
    expect(scoredCost(evidence(usage))).toBe(cost);
  });
});

describe("tokens and model", () => {
  it("sums the counts that are there", () => {
    const calls = [{ input_tokens: 10 }, { input_tokens: 5, output_tokens: 0 }, { input_tokens: "x" }];
    expect(evidence({ calls })).toMatchObject({ input_tokens: 15, output_tokens: 0 });
    expect(evidence({ calls: [{}] })).toMatchObject({ input_tokens: null, output_tokens: null });
  });

  it.each([
    ["the one that all calls name", ["m", "m"], "m"],
    ["none where they differ", ["m", "n"], null],
    ["none where one does not say", ["m", null], null],
    ["none for a name with a line break", ["m\nn"], null],
    ["none for a name with a NUL", ["m\u0000"], null],
    ["none for blank text", [" "], null],
    ["one of 200 characters", ["m".repeat(200)], "m".repeat(200)],
    ["none of 201", ["m".repeat(201)], null],
    ["none that is no text", [{ name: "m" }], null],
    ["its name without the account that calls it", ["arn:aws:bedrock:eu-west-1:123456789012:inference-profile/m"], "m"],
  ])("the serving model is %s", (_, models, expected) => {
    expect(evidence({ calls: models.map((model) => ({ model })) }).serving_model).toBe(expected);
  });
});

describe("any JSON", () => {
  const member = fc.oneof(fc.jsonValue(), fc.double(), fc.integer(), fc.constantFrom("known", "unknown", null));
  const call = fc.record(
    { model: member, input_tokens: member, output_tokens: member, cost_usd: member },
    { requiredKeys: [] },
  );
  const usage = fc.oneof(
    fc.jsonValue(),
    fc.record(
      { calls: fc.oneof(fc.array(fc.oneof(call, fc.jsonValue())), fc.jsonValue()), cost_usd: member },
      { requiredKeys: [] },
    ),
  );

  it("gives evidence that agrees with itself", () => {
    fc.assert(
      fc.property(usage, (report) => {
        const result = evidence(report);
        const { evidence_cost_source: source, evidence_cost_usd: cost } = result;
        const { evidence_priced_call_count: priced, evidence_unpriced_call_count: unpriced } = result;
        expect(result.evidence_total_call_count).toBe(priced + unpriced);
        expect(result.evidence_cost_partial).toBe(unpriced > 0);
        expect(cost === null).toBe(source === "unpriced" || source === "unavailable");
        expect(priced > 0).toBe(source === "self_reported" || source === "estimated" || source === "mixed");
        for (const amount of [cost, result.total_cost_usd]) {
          if (amount === null) continue;
          expect(amount).toBeGreaterThanOrEqual(0);
          expect(amount).toBe(Number(amount.toFixed(6)));
        }
        for (const tokens of [result.input_tokens, result.output_tokens]) {
          expect(tokens === null || (Number.isSafeInteger(tokens) && tokens >= 0)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("is read in time even where it is a mebibyte of calls", () => {
    const calls = Array.from({ length: 61_000 }, () => ({ cost_usd: 1e6 }));
    expect(evidence({ calls })).toMatchObject({
      evidence_cost_usd: 1e9,
      evidence_priced_call_count: 1000,
      evidence_unpriced_call_count: 60_000,
    });
  });
});
