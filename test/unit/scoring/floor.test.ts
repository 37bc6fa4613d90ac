import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costEvidence, scoredCost } from "../../../shared/scoring/cost.ts";
import { leastTokens } from "../../../shared/scoring/floor.ts";
import { MODEL_PRICES } from "../../../shared/scoring/model-prices.ts";
import { DEFAULT_PRICES, priceTable } from "../../../shared/scoring/prices.ts";
import { core } from "../../../shared/suites/public/core/index.ts";

// 2 USD per million input tokens; the cheap one takes 0.10. Above 10,000 input tokens the first takes twice as much.
const prices = priceTable([
  { vendor: "acme", model: "known", input: 2_000_000, output: 8_000_000 },
  { vendor: "acme", model: "known-10k", input: 4_000_000, output: 16_000_000 },
  { vendor: "acme", model: "cheap", input: 100_000, output: 400_000 },
]);

/** The evidence of calls about a task of at least 1,000 tokens: a floor of 0.0002 USD for `known`, of 0.00001 for others. */
const evidence = (calls: unknown[], tokens = 1000) => costEvidence({ calls }, prices, tokens);

describe("a call that is reported below its floor", () => {
  it.each<[string, object, number, boolean]>([
    ["nothing", { model: "known", cost_usd: 0 }, 0.0002, true],
    ["a little less than the floor", { model: "known", cost_usd: 0.00019999 }, 0.0002, true],
    ["the floor", { model: "known", cost_usd: 0.0002 }, 0.0002, false],
    ["more", { model: "known", cost_usd: 0.01 }, 0.01, false],
    ["tokens that can't hold the task", { model: "known", input_tokens: 1, output_tokens: 1 }, 0.0002, true],
    [
      "tokens that a cache gave nine tenths off",
      { model: "known", input_tokens: 100, output_tokens: 0 },
      0.0002,
      false,
    ],
    ["tokens that hold it", { model: "known", input_tokens: 1000, output_tokens: 0 }, 0.002, false],
    ["a model that is not in the table", { model: "my-own", cost_usd: 0 }, 0.00001, true],
    ["another vendor's name for it", { model: "other/known", cost_usd: 0 }, 0.00001, true],
    ["no model", { cost_usd: 0 }, 0.00001, true],
    ["a model that is no text", { model: { name: "known" }, cost_usd: 0 }, 0.00001, true],
    ["its model in another spelling", { model: "ACME/Known-2026-01-31", cost_usd: 0 }, 0.0002, true],
  ])("with %s", (_, call, cost, applied) => {
    expect(evidence([call])).toMatchObject({ evidence_cost_usd: cost, evidence_cost_floor_applied: applied });
  });

  it("is taken at the price of the long context where the task needs one", () => {
    expect(evidence([{ model: "known", cost_usd: 0 }], 20_000)).toMatchObject({ evidence_cost_usd: 0.008 });
  });

  it("is floored each for itself, so that no dear call covers for free ones", () => {
    const free = { model: "known", cost_usd: 0 };
    expect(evidence([free, { ...free, cost_usd: 1 }, free])).toMatchObject({
      evidence_cost_usd: 1.0004,
      evidence_cost_source: "self_reported",
      evidence_cost_floor_applied: true,
    });
  });

  it("has no price still where it has none", () => {
    expect(evidence([{ model: "known" }, { model: "known", cost_usd: -1 }])).toMatchObject({
      evidence_cost_source: "unpriced",
      evidence_cost_usd: null,
      evidence_cost_floor_applied: false,
    });
  });
});

describe("a cost that can't be", () => {
  const call = fc.record(
    {
      model: fc.constantFrom("known", "cheap", "none of these"),
      input_tokens: fc.nat(3000),
      output_tokens: fc.nat(3000),
      cost_usd: fc.double({ min: 0, max: 0.001, noNaN: true }),
    },
    { requiredKeys: [] },
  );

  it("never makes a run cheaper than all its calls at their floors, and honest ones stay as they are", () => {
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 5 }), fc.nat(3000), (calls, tokens) => {
        const [held, told] = [evidence(calls, tokens), evidence(calls, 0)];
        const rate = { known: 2e-6, cheap: 1e-7, "none of these": 1e-7 };
        const priced = calls.filter((one) => costEvidence({ calls: [one] }, prices, 0).evidence_cost_usd !== null);
        const least = priced.reduce((sum, { model }) => sum + (tokens * (model ? rate[model] : 1e-7)) / 10, 0);
        expect(held.evidence_cost_usd ?? 0).toBeGreaterThanOrEqual(Math.max(least, told.evidence_cost_usd ?? 0) - 1e-6);
        if (!held.evidence_cost_floor_applied) expect(held).toEqual(told);
      }),
    );
  });

  it("earns nothing as a total without calls, which is shown", () => {
    const total = costEvidence({ cost_usd: 0.00001 }, prices, 1000);
    expect(total).toMatchObject({ evidence_cost_usd: 0.00001, evidence_cost_source: "runner_aggregate" });
    expect(scoredCost(total)).toBeNull();
  });
});

describe("the least tokens of a text", () => {
  it.each([
    ["nothing", "", 0],
    ["seven letters", "letters", 0],
    ["prose", "How many months have 28 days?", 3],
    ["white space, however much", "a b\n\n \t c".padEnd(5000), 0],
    ["a ruled line, however long", "-".repeat(5000), 0],
    ["ideographs, each of which is a token or more", "一二三四五六七八", 1],
  ])("is that of %s", (_, text, tokens) => {
    expect(leastTokens(text)).toBe(tokens);
  });

  it("leaves every model's list price for any core task above its floor", () => {
    for (const { prompt } of core.tasks) {
      const tokens = Math.round(prompt.length / 4);
      for (const { model } of MODEL_PRICES) {
        const honest = { calls: [{ model, input_tokens: tokens, output_tokens: 1 }] };
        expect(costEvidence(honest, DEFAULT_PRICES, leastTokens(prompt)).evidence_cost_floor_applied).toBe(false);
      }
    }
  });
});
