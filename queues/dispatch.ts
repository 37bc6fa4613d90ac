import { consumer } from "../shared/queue/consumer.ts";
import { dispatch } from "../shared/runs/dispatch.ts";
import { giveUp } from "../shared/runs/give-up.ts";
import { LIMITS } from "../shared/runs/limits.ts";
import { RunMessage } from "../shared/runs/messages.ts";

/** Calls the agent of a queued run. */
export const dispatchConsumer = consumer({
  name: "dispatch",
  body: RunMessage,
  // The last retry comes about half an hour later. Then the run is given up as our fault and its allowance returned.
  retries: 3,
  timeoutSeconds: 180,
  parallelism: LIMITS.concurrency,
  handle: (ctx, { run_id }) => dispatch(ctx, run_id),
  dead: (ctx, { run_id }) => giveUp(ctx, run_id),
});
