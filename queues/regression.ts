import { consumer } from "../shared/queue/consumer.ts";
import { SessionMessage } from "../shared/runs/messages.ts";
import { detectRegression } from "../shared/runs/regression.ts";

/** Compares a finished session with the one before. If they can't be compared, nobody is notified. */
export const regressionConsumer = consumer({
  name: "regression",
  body: SessionMessage,
  retries: 3,
  timeoutSeconds: 60,
  parallelism: null,
  handle: (ctx, { screening_session_id }) => detectRegression(ctx, screening_session_id),
  dead: () => Promise.resolve(),
});
