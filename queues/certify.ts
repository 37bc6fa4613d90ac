import { advance, CertifyMessage } from "../shared/certification/advance.ts";
import { consumer } from "../shared/queue/consumer.ts";

/** Has a certification go on whose runs are all final. What fails for the last time is taken up again once a day. */
export const certifyConsumer = consumer({
  name: "certify",
  body: CertifyMessage,
  retries: 3,
  timeoutSeconds: 60,
  parallelism: null,
  handle: (ctx, { certification_id }) => advance(ctx, certification_id),
  dead: () => Promise.resolve(),
});
