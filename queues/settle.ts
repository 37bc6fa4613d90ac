import { consumer } from "../shared/queue/consumer.ts";
import { SessionMessage } from "../shared/runs/messages.ts";
import { settle } from "../shared/runs/settle.ts";

/** Tells what was held back while the session ran. If the last retry fails, the daily work takes the session up again. */
export const settleConsumer = consumer({
  name: "settle",
  body: SessionMessage,
  retries: 3,
  timeoutSeconds: 60,
  parallelism: null,
  handle: (ctx, { screening_session_id }) => settle(ctx, screening_session_id),
  dead: () => Promise.resolve(),
});
