import { createService } from "../../functions/service.ts";
import { DELIVERIES } from "../../queues/index.ts";
import type { Context } from "../../shared/platform/context.ts";
import type { Deployed } from "../e2e/deployed.ts";
import { DEVELOPMENT, newSecrets } from "../stack/settings.ts";

/** A context of the service in this process, on the database of a stack and nothing else of it. */
export async function contextBeside(stack: Deployed): Promise<Context> {
  const nowhere = "http://127.0.0.1:9";
  const unused = { UPSTASH_REDIS_REST_URL: nowhere, QSTASH_URL: nowhere, DNS_RESOLVER_URL: nowhere };
  const settings = { ...DEVELOPMENT, ...(await newSecrets()), ...stack.settings(), ...unused };
  const service = createService({ ...settings, BASE_URL: stack.url, FRONTEND_URL: stack.url }, DELIVERIES);
  return service.context({ requestId: "bench", addressHash: null, defer: () => undefined });
}
