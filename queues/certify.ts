import { advance, CertifyMessage } from "../shared/certification/advance.ts";
import { consumer } from "../shared/queue/consumer.ts";

/**
 * Advances a certification whose runs are all final. If the last retry fails, the daily work takes the certification up
 * again.
 */
export const certifyConsumer = consumer({
  name: "certify",
  body: CertifyMessage,
  retries: 3,
  timeoutSeconds: 60,
  parallelism: null,
  handle: (ctx, { certification_id }) => advance(ctx, certification_id),
  dead: () => Promise.resolve(),
});
