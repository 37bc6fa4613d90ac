import type { JWK } from "jose";
import * as z from "zod";
import { verifyStatement } from "../../../shared/evidence/verify.ts";
import { costEvidence, scoredCost } from "../../../shared/scoring/cost.ts";
import { DEFAULT_PRICES } from "../../../shared/scoring/prices.ts";
import { SCORED_RUNS, type ScoredRun } from "../../../shared/scoring/score.ts";
import { CostSource } from "../../../shared/runs/shown.ts";
import type { Reads } from "./reads.ts";

/** What a run says of itself, as anybody may read it. */
export const Run = z.object({
  id: z.string(),
  agent_id: z.string(),
  task_id: z.string(),
  status: z.string(),
  trigger: z.string(),
  simulated: z.boolean(),
  canary: z.boolean().nullable(),
  suite_version: z.int().nullable(),
  passed: z.boolean().nullable(),
  correctness: z.number().nullable(),
  latency_ms: z.int().nullable(),
  tool_calls_made: z.int().nullable(),
  failure_code: z.string().nullable(),
  evidence_cost_usd: z.number().nullable(),
  evidence_cost_source: CostSource,
  evidence_cost_partial: z.boolean(),
  evidence_cost_floor_applied: z.boolean(),
  evidence_total_call_count: z.int(),
  serving_model: z.string().nullable(),
  input_tokens: z.int().nullable(),
  output_tokens: z.int().nullable(),
  evidence_signed: z.boolean(),
  finalized_at: z.string().nullable(),
});
export type Run = z.output<typeof Run>;

/** What is signed of a run. */
const Subject = z.object({
  id: z.string(),
  run: z.object({ id: z.string(), status: z.string(), failure_code: z.string().nullable(), finalized_at: z.string() }),
  task: z.object({ id: z.string(), suite_version: z.int().nullable() }),
  result: z.object({ correctness: z.string(), passed: z.boolean(), latency_ms: z.int().nullable() }),
  cost: z.object({
    amount_usd: z.string().nullable(),
    source: CostSource,
    partial: z.boolean(),
    floor_applied: z.boolean(),
  }),
});

/**
 * The runs of a task that are scored, by the rule: of those that are final, real, no trial, signed, not failed by the
 * service's fault, and of the task's current version the last ten. Private runs are in no public list.
 */
export function scoredRuns(runs: readonly Run[], suiteVersion: number): Run[] {
  const newestFirst = (a: Run, b: Run) => compare(b.id, a.id);
  return runs
    .filter((run) => run.evidence_signed && wasAsked(run, suiteVersion))
    .toSorted(newestFirst)
    .slice(0, SCORED_RUNS);
}

/**
 * Whether a run counts as asked of the agent in earnest: as those that are scored, or as a canary, of which nothing is signed;
 * or as one that was cancelled, or failed by the service's fault, once a later one of its task had been asked, which alone of
 * those has a suite version.
 */
export function wasAsked({ status, trigger, simulated, suite_version }: Run, suiteVersion: number): boolean {
  return (
    ["completed", "failed", "cancelled"].includes(status) &&
    trigger !== "trial" &&
    !simulated &&
    suite_version === suiteVersion
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** A run as it is scored, and what does not fit together about it. */
export interface Attested {
  run: ScoredRun;
  /** Whether its cost is a floor. */
  isFloored: boolean;
  differences: string[];
}

/**
 * Reads the signed statement of a run and holds the run against it. What is scored is what is signed; of what no
 * statement holds, the number of tool calls and the digits of the correctness beyond the fourth, the run itself is taken.
 */
export async function attest(reads: Reads, keys: JWK[], run: Run): Promise<Attested> {
  const { jws } = await reads.one(`/api/v1/runs/${run.id}/evidence`, z.object({ jws: z.string() }));
  const verified = await verifyStatement(jws, keys);
  const own = `run ${run.id}`;
  if (!verified.valid) {
    return {
      run: asItSays(run),
      isFloored: run.evidence_cost_floor_applied,
      differences: [`${own}: its statement is ${verified.reason}`],
    };
  }
  const said = Subject.parse(verified.statement.credentialSubject);
  const amount = said.cost.amount_usd === null ? null : Number(said.cost.amount_usd);
  const held: [name: string, shown: unknown, signed: unknown][] = [
    ["agent_id", `urn:uuid:${run.agent_id}`, said.id],
    ["id", run.id, said.run.id],
    ["task_id", run.task_id, said.task.id],
    ["suite_version", run.suite_version, said.task.suite_version],
    ["status", run.status, said.run.status],
    ["failure_code", run.failure_code, said.run.failure_code],
    ["finalized_at", run.finalized_at, said.run.finalized_at],
    ["passed", run.passed, said.result.passed],
    ["correctness", run.correctness?.toFixed(4), said.result.correctness],
    ["latency_ms", run.latency_ms, said.result.latency_ms],
    ["evidence_cost_usd", run.evidence_cost_usd, amount],
    ["evidence_cost_partial", run.evidence_cost_partial, said.cost.partial],
    ["evidence_cost_source", run.evidence_cost_source, said.cost.source],
    ["evidence_cost_floor_applied", run.evidence_cost_floor_applied, said.cost.floor_applied],
  ];
  const differences = held
    .filter(([, shown, signed]) => shown !== signed)
    .map(([name, shown, signed]) => `${own}: ${name} is ${String(shown)}, signed is ${String(signed)}`);
  const priced = priceOf(run);
  if (priced !== undefined && priced !== amount) {
    differences.push(`${own}: its one call costs ${String(priced)} by the price list, signed is ${String(amount)}`);
  }
  return {
    run: {
      ...asItSays(run),
      passed: said.result.passed,
      gradable: said.run.status === "completed",
      latency_ms: said.run.status === "completed" ? said.result.latency_ms : null,
      cost_usd: scoredCost({
        evidence_cost_usd: amount,
        evidence_cost_source: said.cost.source,
        evidence_cost_partial: said.cost.partial,
      }),
    },
    isFloored: said.cost.floor_applied,
    differences,
  };
}

function asItSays(run: Run): ScoredRun {
  return {
    passed: run.passed === true,
    correctness: run.correctness ?? 0,
    gradable: run.status === "completed",
    latency_ms: run.status === "completed" ? run.latency_ms : null,
    cost_usd: scoredCost(run),
    tool_calls_made: run.tool_calls_made,
  };
}

/** The cost of a run by the price list that ships with the service; undefined where public reads don't tell the calls apart. */
function priceOf({ evidence_cost_source: source, evidence_total_call_count: calls, ...run }: Run) {
  if (source !== "estimated" || calls !== 1 || run.evidence_cost_floor_applied) return undefined;
  const { serving_model: model, input_tokens, output_tokens } = run;
  return costEvidence({ calls: [{ model, input_tokens, output_tokens }] }, DEFAULT_PRICES, 0).evidence_cost_usd;
}
