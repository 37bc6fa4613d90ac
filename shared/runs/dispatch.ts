import { requestBytes } from "../evidence/commitment.ts";
import type { Context } from "../platform/context.ts";
import type { Message } from "../platform/message.ts";
import { callAgent } from "./call.ts";
import { claim } from "./claim.ts";
import { keepAnswer } from "./keep-answer.ts";
import { protocolOf } from "./protocols/index.ts";
import { scoreSoon } from "./score.ts";
import { simulate } from "./simulate.ts";

/**
 * Carries a queued run out: takes it up once this isolate has a place for it, calls the agent, keeps what came, and has it
 * scored after the delivery is answered. Two statements before that. Coming a second time it does nothing; a fault of ours
 * in the middle throws, and the run is taken up again once its lease has expired.
 */
export async function dispatch(ctx: Context, runId: string): Promise<void> {
  const leave = await ctx.calls.take();
  try {
    const scorable = await carryOut(ctx, runId);
    if (scorable !== null) ctx.defer(() => scoreSoon(ctx, scorable));
  } finally {
    leave();
  }
}

async function carryOut(ctx: Context, runId: string): Promise<Message | null> {
  const claimed = await claim(ctx, runId);
  if (claimed === null) return null;
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
  return keepAnswer(ctx, claimed, { request: requestBytes(request), outcome });
}
