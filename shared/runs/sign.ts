import { keyId } from "../evidence/did.ts";
import { signStatement } from "../evidence/sign.ts";
import { buildStatement } from "../evidence/statement.ts";
import { GRADER_VERSION } from "../grading/grade.ts";
import type { Context } from "../platform/context.ts";
import type { Assessment } from "./assess.ts";
import type { Answered } from "./load-answered.ts";

/** A signed statement and the key that signed it. */
export interface Signed {
  jws: string;
  kid: string;
}

/**
 * Signs the evidence of a run; null for one that can't be evidence: simulated, a stranger's trial, a canary, or failed by
 * our own fault. A private run is signed too: its owner may show the statement to whom they like. `architectureHash` is of what
 * this run showed; the version that it belongs to is made of other runs too.
 */
export async function signRun(
  ctx: Context,
  answered: Answered,
  assessment: Assessment,
  architectureHash: string | null,
  finalizedAt: Date,
): Promise<Signed | null> {
  const { run, agent, task, commitments, minted } = answered;
  if (
    minted?.isCanary === true ||
    run.simulated ||
    run.trigger === "trial" ||
    run.failure_code === "service_error" ||
    commitments.request === null
  ) {
    return null;
  }
  const { active } = await ctx.keys();
  const kid = keyId(ctx.env.BASE_URL, active);
  const statement = buildStatement({
    base_url: ctx.env.BASE_URL,
    agent: { id: run.agent_id, ...agent },
    run: {
      ...run,
      ...assessment.cost,
      status: assessment.status,
      started_at: new Date(run.started_at).toISOString(),
      finalized_at: finalizedAt.toISOString(),
      correctness: assessment.correctness,
      passed: assessment.passed,
    },
    task: {
      ...task,
      grader_type: task.grader.type,
      grader_version: GRADER_VERSION,
      template: minted === null ? null : minted.instance.template,
    },
    instance: minted === null ? null : { epoch: minted.epoch, commitment: minted.commitment },
    architecture_hash: architectureHash,
    commitments: { request: commitments.request, response: commitments.response },
  });
  return { jws: await signStatement(statement, active, kid), kid };
}
