import { consumer } from "../shared/queue/consumer.ts";
import { recheck, RecheckMessage } from "../shared/registry/recheck.ts";

/**
 * Checks a registered agent's manifest again. If it can't be checked, the agent keeps its status until the next day.
 */
export const recheckConsumer = consumer({
  name: "recheck",
  body: RecheckMessage,
  retries: 3,
  timeoutSeconds: 60,
  parallelism: null,
  handle: (ctx, { agent_id }) => recheck(ctx, agent_id),
  dead: () => Promise.resolve(),
});
