import { consumer } from "../shared/queue/consumer.ts";
import { dispatch } from "../shared/runs/dispatch.ts";
import { giveUpDispatch } from "../shared/runs/give-up.ts";
import { LIMITS } from "../shared/runs/limits.ts";
import { DispatchMessage, runsOf } from "../shared/runs/messages.ts";
import { rescueOrGiveUp } from "../shared/runs/rescue.ts";

/** Calls the agent of queued runs. */
export const dispatchConsumer = consumer({
  name: "dispatch",
  body: DispatchMessage,
  // The last retry comes about half an hour later. Then a run is given up as our fault and its allowance returned, unless
  // all that it lacked was the database.
  retries: 3,
  timeoutSeconds: 180,
  parallelism: LIMITS.concurrency,
  handle: (ctx, message) => dispatch(ctx, runsOf(message)),
  dead: (ctx, message, end) =>
    end === "unavailable" ? rescueOrGiveUp(ctx, runsOf(message)) : giveUpDispatch(ctx, runsOf(message)),
});
