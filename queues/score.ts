import { consumer } from "../shared/queue/consumer.ts";
import { giveUp } from "../shared/runs/give-up.ts";
import { RunMessage } from "../shared/runs/messages.ts";
import { rescueOrGiveUp } from "../shared/runs/rescue.ts";
import { scoreOwed } from "../shared/runs/score.ts";

/** Grades, prices and signs an answered run. */
export const scoreConsumer = consumer({
  name: "score",
  body: RunMessage,
  // The last retry comes about half an hour later. Then the run is given up as our fault and its allowance returned, unless
  // all that it lacked was the database.
  retries: 3,
  timeoutSeconds: 60,
  parallelism: null,
  handle: (ctx, { run_id }) => scoreOwed(ctx, run_id),
  dead: (ctx, { run_id }, end) => (end === "unavailable" ? rescueOrGiveUp(ctx, [run_id]) : giveUp(ctx, run_id)),
});
