import type * as z from "zod";
import { grade } from "../grading/grade.ts";
import { parseExact, stringifyExact } from "../platform/exact-json.ts";
import { type CostEvidence, costEvidence, scoredCost } from "../scoring/cost.ts";
import { leastTokens } from "../scoring/floor.ts";
import { modelPart } from "../scoring/model-name.ts";
import { DEFAULT_PRICES } from "../scoring/prices.ts";
import { cell } from "../scoring/score.ts";
import { Answer } from "./answer.ts";
import type { Answered } from "./load-answered.ts";
import type { Observation } from "./observe.ts";
import type { Axes } from "../board/axes.ts";

/** What a run is worth: everything that is decided about it before it is signed. */
export interface Assessment {
  status: "completed" | "failed";
  passed: boolean;
  correctness: number;
  explanation: string | null;
  tool_calls_made: number | null;
  axes: z.output<typeof Axes>;
  cost: CostEvidence;
}

/**
 * Grades and prices an answered run. Pure, and total on any answer. What the answer says of cost and tool calls stands;
 * telemetry counts where it says nothing, and never as the answer itself.
 */
export function assess({ run, task, answer }: Answered, observed: Observation): Assessment {
  const given = answer === null ? null : Answer.parse(parseExact(answer));
  const failed = run.failure_code !== null || given === null;
  const verdict = failed
    ? { passed: false, correctness: 0, explanation: null }
    : grade(
        {
          grader: task.grader,
          expected_output: task.expected_output,
          output_schema: task.output_schema,
          pass_threshold: task.pass_threshold,
          is_secret: task.is_secret,
        },
        given,
      );
  const cost = costOf(given, observed, leastTokens(task.prompt, task.input === null ? "" : stringifyExact(task.input)));
  const tool_calls_made = given === null ? null : (given.tool_calls?.length ?? observed.toolCalls ?? 0);
  const scored = {
    passed: verdict.passed,
    correctness: verdict.correctness,
    gradable: !failed,
    latency_ms: failed ? null : run.latency_ms,
    cost_usd: scoredCost(cost),
    tool_calls_made,
  };
  const { correctness, latency, cost: priced, tool_efficiency, robustness_share } = cell([scored], task);
  return {
    status: failed ? "failed" : "completed",
    ...verdict,
    tool_calls_made,
    axes: { correctness, latency, cost: priced, tool_efficiency, robustness: robustness_share },
    cost,
  };
}

/**
 * The evidence of cost: the calls, or the total, that the answer carries; else the calls that telemetry shows. Model and
 * tokens of the whole run come from those calls, then from the sweep result contract, then from telemetry; where the
 * answer lists calls of several models, telemetry names none. `leastInput` is how many tokens at least the task itself is.
 */
function costOf(answer: Answer | null, { usage }: Observation, leastInput: number): CostEvidence {
  const told = costEvidence(answer?.usage ?? null, DEFAULT_PRICES, leastInput);
  const seen = costEvidence(usage, DEFAULT_PRICES, leastInput);
  const cost = told.evidence_cost_source === "unavailable" ? seen : told;
  const seenModel = told.evidence_total_call_count === 0 ? seen.serving_model : null;
  return {
    ...cost,
    serving_model:
      told.serving_model ?? (answer?.serving_model === undefined ? seenModel : modelPart(answer.serving_model)),
    input_tokens: told.input_tokens ?? answer?.input_tokens ?? seen.input_tokens,
    output_tokens: told.output_tokens ?? answer?.output_tokens ?? seen.output_tokens,
  };
}
