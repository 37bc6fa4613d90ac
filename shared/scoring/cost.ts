import { costFloors } from "./floor.ts";
import { modelPart } from "./model-name.ts";
import { type PriceTable, priceOf } from "./prices.ts";

/** What an agent that keeps to the protocol reports. Nothing of it is trusted. */
export interface ReportedUsage {
  calls?: { model?: string; input_tokens?: number; output_tokens?: number; cost_usd?: number }[];
  cost_usd?: number;
}

/** Where a run's cost comes from. */
export type CostSource = "self_reported" | "estimated" | "mixed" | "unpriced" | "runner_aggregate" | "unavailable";

/** What is known of a run's cost; the fields are a run's. Money is in USD, rounded half up to six decimals. */
export interface CostEvidence {
  /** The sum of the priced calls, or the total where no call was reported; null where nothing has a price. */
  evidence_cost_usd: number | null;
  evidence_cost_source: CostSource;
  /** At least one call has no price, so that the sum is a lower bound. */
  evidence_cost_partial: boolean;
  evidence_priced_call_count: number;
  evidence_unpriced_call_count: number;
  evidence_total_call_count: number;
  /** At least one priced call was reported below what it can't have cost less than, and is taken at that. */
  evidence_cost_floor_applied: boolean;
  /** The agent's own total; without one the evidence where it is complete, so that no part ever poses as the whole. */
  total_cost_usd: number | null;
  /** Sums over the calls that report them; null where none does. */
  input_tokens: number | null;
  output_tokens: number | null;
  /** The one model that every call names, if it is one. */
  serving_model: string | null;
}

interface Call {
  model: string | null;
  input: number | null;
  output: number | null;
  /** In 1e-12 USD; null when the call has no price. */
  cost: bigint | null;
  /** The cost was below the floor, and is the floor. */
  floored: boolean;
  source: "self_reported" | "estimated";
}

const PICO_PER_USD = 10n ** 12n;
const PICO_PER_MICRO = 10n ** 6n;
export const MAX_COST_USD = 1_000_000;
/** The most that a run's calls are summed up to: above a billion a double has no six decimals left, as a statement shows. */
export const MAX_SUM_USD = 1_000_000_000;
/** Above this, a token count is taken for noise; it also keeps every sum a safe integer. */
export const MAX_TOKENS = 1_000_000_000;
const MODEL_NAME = /^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/;

/**
 * The evidence of cost in what an agent reported. Total on any parsed JSON: what is malformed counts as not reported,
 * except that an entry of `calls` is always a call and that a `cost_usd` which is no amount from 0 to 1,000,000 leaves
 * its call without a price, whatever its tokens would have given. So does a call that would bring the sum above a billion:
 * what an agent reports must never be more than a statement can say. A call is estimated only from both token counts.
 * Each priced call costs at least what its model takes for reading `leastInput` tokens, less nine tenths.
 * @example
 * costEvidence({ calls: [{ model: "m", input_tokens: 1000, output_tokens: 10, cost_usd: 0.01 }] }, DEFAULT_PRICES, 250)
 * // { evidence_cost_usd: 0.01, evidence_cost_source: "self_reported", evidence_total_call_count: 1, … }
 */
export function costEvidence(usage: unknown, prices: PriceTable, leastInput: number): CostEvidence {
  const report = members(usage);
  const reported: unknown[] = Array.isArray(report.calls) ? report.calls : [];
  const floorOf = costFloors(prices, leastInput);
  const calls = bounded(reported.map((call) => floored(readCall(call, prices), floorOf)));
  const priced = calls.flatMap(({ cost }) => (cost === null ? [] : [cost]));
  const total = amount(report.cost_usd);
  const aggregate = calls.length === 0 ? total : null;
  const evidence = priced.length === 0 ? aggregate : priced.reduce((sum, cost) => sum + cost, 0n);
  const partial = priced.length < calls.length;
  const models = new Set(calls.map(({ model }) => model));
  return {
    evidence_cost_usd: usd(evidence),
    evidence_cost_source: aggregate === null ? sourceOf(calls) : "runner_aggregate",
    evidence_cost_partial: partial,
    evidence_priced_call_count: priced.length,
    evidence_unpriced_call_count: calls.length - priced.length,
    evidence_total_call_count: calls.length,
    evidence_cost_floor_applied: calls.some((call) => call.floored),
    total_cost_usd: usd(total ?? (partial ? null : evidence)),
    input_tokens: sumOf(calls.map(({ input }) => input)),
    output_tokens: sumOf(calls.map(({ output }) => output)),
    serving_model: models.size === 1 ? ([...models][0] ?? null) : null,
  };
}

/**
 * The cost in USD that scoring may use. A sum that leaves calls out is none: an agent would gain by hiding its dear calls.
 * Nor is a total without calls: it can't be held against a floor.
 * @example
 * scoredCost({ evidence_cost_usd: 0.01, evidence_cost_source: "estimated", evidence_cost_partial: true }) // null
 */
export function scoredCost(
  evidence: Pick<CostEvidence, "evidence_cost_usd" | "evidence_cost_source" | "evidence_cost_partial">,
): number | null {
  const { evidence_cost_usd: cost, evidence_cost_source: source, evidence_cost_partial: partial } = evidence;
  return partial || source === "runner_aggregate" ? null : cost;
}

/** The call, at no less than its floor. */
function floored(call: Call, floorOf: (model: string | null) => bigint): Call {
  const floor = floorOf(call.model);
  return call.cost === null || call.cost >= floor ? call : { ...call, cost: floor, floored: true };
}

/** The calls, without the prices of those that would bring their sum above what a run may cost. */
function bounded(calls: readonly Call[]): Call[] {
  let left = BigInt(MAX_SUM_USD) * PICO_PER_USD;
  return calls.map((call) => {
    if (call.cost === null) return call;
    if (call.cost > left) return { ...call, cost: null, floored: false };
    left -= call.cost;
    return call;
  });
}

function readCall(value: unknown, prices: PriceTable): Call {
  const { model: name, input_tokens, output_tokens, cost_usd } = members(value);
  const model = typeof name === "string" && MODEL_NAME.test(name) ? modelPart(name) || null : null;
  const input = tokens(input_tokens);
  const output = tokens(output_tokens);
  // JSON null says the same as a missing member.
  if (cost_usd === undefined || cost_usd === null) {
    const cost = estimate(prices, model, input, output);
    return { model, input, output, cost, floored: false, source: "estimated" };
  }
  return { model, input, output, cost: amount(cost_usd), floored: false, source: "self_reported" };
}

function estimate(prices: PriceTable, model: string | null, input: number | null, output: number | null) {
  if (model === null || input === null || output === null) return null;
  const price = priceOf(prices, model, input);
  if (!price) return null;
  const cost = BigInt(input) * BigInt(price.input) + BigInt(output) * BigInt(price.output);
  return cost > BigInt(MAX_COST_USD) * PICO_PER_USD ? null : cost;
}

function sourceOf(calls: Call[]): CostSource {
  if (calls.length === 0) return "unavailable";
  const sources = new Set(calls.flatMap(({ cost, source }) => (cost === null ? [] : [source])));
  if (sources.size === 2) return "mixed";
  return [...sources][0] ?? "unpriced";
}

function members(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function tokens(value: unknown): number | null {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_TOKENS ? Number(value) : null;
}

function sumOf(values: (number | null)[]): number | null {
  return values.reduce((sum, value) => (value === null ? sum : (sum ?? 0) + value), null);
}

/** The decimal that a number is written as, in 1e-12 USD, rounded half up; null unless 0 to 1,000,000. */
function amount(value: unknown): bigint | null {
  if (typeof value !== "number" || !(value >= 0 && value <= MAX_COST_USD)) return null;
  const [digits = "", exponent] = value.toExponential().split("e");
  const [whole = "", decimals = ""] = digits.split(".");
  const shift = Number(exponent) - decimals.length + 12;
  const mantissa = BigInt(whole + decimals);
  return shift >= 0 ? mantissa * 10n ** BigInt(shift) : roundHalfUp(mantissa, 10n ** BigInt(-shift));
}

function usd(pico: bigint | null): number | null {
  return pico === null ? null : Number(roundHalfUp(pico, PICO_PER_MICRO)) / 1_000_000;
}

function roundHalfUp(value: bigint, unit: bigint): bigint {
  return (value + unit / 2n) / unit;
}
