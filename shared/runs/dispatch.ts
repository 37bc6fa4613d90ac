import { requestBytes } from "../evidence/commitment.ts";
import type { Context } from "../platform/context.ts";
import { callAgent } from "./call.ts";
import { claim } from "./claim.ts";
import { keepAnswer } from "./keep-answer.ts";
import { protocolOf } from "./protocols/index.ts";
import { simulate } from "./simulate.ts";

/**
 * Carries a queued run out: takes it up, calls the agent, keeps what came. Two statements. Coming a second time it does
 * nothing; a fault of ours in the middle throws, and the run is taken up again once its lease has expired.
 */
export async function dispatch(ctx: Context, runId: string): Promise<void> {
  const claimed = await claim(ctx, runId);
  if (claimed === null) return;
  const { job, deadline, callbackToken } = claimed;
  const protocol = protocolOf(job.agent.agent_protocol);
  const request = protocol.request(job, {
    deadline: deadline.toISOString(),
    url: `${ctx.env.BASE_URL}/api/v1/runs/${runId}`,
    token: callbackToken,
  });
  const outcome = job.run.simulated
    ? simulate(job)
    : await callAgent(ctx, job, protocol, JSON.stringify(request), deadline);
  await keepAnswer(ctx, claimed, { request: requestBytes(request), outcome });
}
