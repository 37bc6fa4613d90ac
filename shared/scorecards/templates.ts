import type { Scorecard } from "./shown.ts";
import type { AxisWeights } from "./weights.ts";

function template(id: string, name: string, weights: AxisWeights): Scorecard {
  return { id, name, weights, team_id: null, is_template: true, created_at: "2026-11-01T00:00:00.000Z" };
}

/**
 * The starter templates: the same for everybody, and kept in this file alone. The balanced one counts all axes alike; in
 * the others one concern weighs most and correctness still 30% or more, since a wrong answer is of no use at any speed or price.
 */
export const TEMPLATES: readonly Scorecard[] = [
  template("01a19467-e800-7000-8000-000000000001", "Balanced Screen", {
    correctness: 0.2,
    latency: 0.2,
    cost: 0.2,
    tool_efficiency: 0.2,
    robustness: 0.2,
  }),
  template("01a19467-e800-7000-8000-000000000002", "Cost-Conscious Ops", {
    correctness: 0.3,
    latency: 0.05,
    cost: 0.45,
    tool_efficiency: 0.1,
    robustness: 0.1,
  }),
  template("01a19467-e800-7000-8000-000000000003", "Mission-Critical Reliability", {
    correctness: 0.4,
    latency: 0.05,
    cost: 0.05,
    tool_efficiency: 0.05,
    robustness: 0.45,
  }),
  template("01a19467-e800-7000-8000-000000000004", "Real-Time Experience", {
    correctness: 0.3,
    latency: 0.45,
    cost: 0.05,
    tool_efficiency: 0.05,
    robustness: 0.15,
  }),
];

/** The template with this id, or null. */
export function findTemplate(id: string): Scorecard | null {
  return TEMPLATES.find((one) => one.id === id.toLowerCase()) ?? null;
}
