import type { Context } from "../platform/context.ts";
import { postpone } from "./postpone.ts";
import { record } from "./record.ts";
import { recordSuccesses } from "./record-successes.ts";
import { release } from "./release.ts";
import { type Attempt, type Outcome, opening, send, succeeded } from "./send.ts";

/** How many are under way at once: of the six connections that a Worker may open at a time, one is left to record them. */
const AT_ONCE = 5;

/** How long after the claim the last one may begin: with the receiver's 15 seconds, all is recorded while the lease holds. */
const BEGIN_MS = 20_000;

/**
 * Makes attempts that were claimed together, five at once, and records their outcomes: failures one by one, and before
 * each of them the successes so far, so that they count in their order. What is not begun in time, or after the
 * subscription was turned off or our own resolver failed, is released for another message.
 */
export async function attemptAll(ctx: Context, attempts: readonly Attempt[]): Promise<void> {
  const end = ctx.now().getTime() + BEGIN_MS;
  const open = opening(ctx.env);
  const waiting = [...attempts];
  const unsent: Attempt[] = [];
  const successes: { attempt: Attempt; outcome: Outcome }[] = [];
  let stopped = false;

  async function recordOne(attempt: Attempt, outcome: Outcome): Promise<void> {
    if (succeeded(outcome)) {
      successes.push({ attempt, outcome });
      return;
    }
    if (successes.length > 0) await recordSuccesses(ctx, successes.splice(0));
    const delivery = await record(ctx, attempt, outcome);
    // No attempt follows: as a rule since the subscription has been turned off, which the next claim sees.
    stopped ||= delivery?.status === "exhausted";
  }

  async function makeOneByOne(): Promise<void> {
    while (!stopped && ctx.now().getTime() < end) {
      const attempt = waiting.shift();
      if (attempt === undefined) return;
      const outcome = await send(ctx, attempt, { open });
      if (outcome === null) {
        unsent.push(attempt);
        stopped = true;
      } else {
        await recordOne(attempt, outcome);
      }
    }
  }

  const lanes = Array.from({ length: Math.min(AT_ONCE, attempts.length) }, () =>
    makeOneByOne().catch((error: unknown) => {
      stopped = true;
      throw error;
    }),
  );
  const ends = [
    ...(await Promise.allSettled(lanes)),
    ...(await Promise.allSettled([
      successes.length > 0 ? recordSuccesses(ctx, successes) : null,
      unsent.length > 0 ? postpone(ctx, unsent) : null,
    ])),
    // Last: its message is to find all of them.
    ...(await Promise.allSettled([waiting.length > 0 ? release(ctx, waiting) : null])),
  ];
  for (const one of ends) if (one.status === "rejected") throw one.reason;
}
