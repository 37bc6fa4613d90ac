import { consumer } from "../shared/queue/consumer.ts";
import { expire } from "../shared/runs/expire.ts";
import { giveUp } from "../shared/runs/give-up.ts";
import { RunMessage } from "../shared/runs/messages.ts";

/** Ends the wait for a callback at the run's deadline. */
export const expireConsumer = consumer({
  name: "expire",
  body: RunMessage,
  // The last retry comes about half an hour later. Then the run is given up as our fault and its allowance returned, unless
  // all that it lacked was the database: the reaper ends the wait then.
  retries: 3,
  timeoutSeconds: 60,
  parallelism: null,
  handle: (ctx, { run_id }) => expire(ctx, [run_id]),
  dead: (ctx, { run_id }, end) => (end === "unavailable" ? Promise.resolve() : giveUp(ctx, run_id)),
});
