import { consumer } from "../shared/queue/consumer.ts";
import { recheck, RecheckMessage } from "../shared/registry/recheck.ts";

/** Looks at a registered agent's manifest again. One that can't be looked at keeps its status until the next day. */
export const recheckConsumer = consumer({
  name: "recheck",
  body: RecheckMessage,
  retries: 3,
  timeoutSeconds: 60,
  parallelism: null,
  handle: (ctx, { agent_id }) => recheck(ctx, agent_id),
  dead: () => Promise.resolve(),
});
