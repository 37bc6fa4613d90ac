import { advance, CertifyMessage } from "../shared/certification/advance.ts";
import { consumer } from "../shared/queue/consumer.ts";

/** Advances a certification whose runs are all final. One whose last try failed is taken up again by the work of the day. */
export const certifyConsumer = consumer({
  name: "certify",
  body: CertifyMessage,
  retries: 3,
  timeoutSeconds: 60,
  parallelism: null,
  handle: (ctx, { certification_id }) => advance(ctx, certification_id),
  dead: () => Promise.resolve(),
});
