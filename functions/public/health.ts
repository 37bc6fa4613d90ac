import * as z from "zod";
import { Readiness, type State } from "../../shared/daily/shown.ts";
import { UNKNOWN, workStates } from "../../shared/daily/states.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import type { Context } from "../../shared/platform/context.ts";
import { missingSettings } from "../../shared/platform/env.ts";
import { patience } from "../../shared/platform/patience.ts";

const tag = "Health";
const DEADLINE_MS = 2000;

/** The state of a dependency: `down` where its probe fails or takes longer than a monitor waits. */
async function stateOf(probe: Promise<unknown>, deadline: AbortSignal): Promise<State> {
  const late = new Promise<never>((_, reject) => {
    deadline.addEventListener("abort", () => reject(new Error("late")), { once: true });
  });
  return Promise.race([probe, late]).then(
    () => "ok" as const,
    () => "down" as const,
  );
}

const QueueKeys = z.object({ current: z.string(), next: z.string() });

/**
 * Asks the queue for its keys: whatever else answers in its place has none, and what it signs by a key that is not known
 * here is refused.
 */
async function probeQueue({ env, fetch }: Context, signal: AbortSignal): Promise<void> {
  const headers = { Authorization: `Bearer ${env.QSTASH_TOKEN}` };
  const response = await fetch(`${env.QSTASH_URL}/v2/keys`, { headers, signal });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`the queue answers ${response.status}`);
  }
  const { current } = QueueKeys.parse(await response.json());
  if (current !== env.QSTASH_CURRENT_SIGNING_KEY && current !== env.QSTASH_NEXT_SIGNING_KEY) {
    throw new Error("the queue signs by a key that is not set");
  }
}

export const health = [
  route({
    id: "readHealth",
    method: "get",
    path: "/healthz",
    tag,
    summary: "Whether the service runs",
    auth: "none",
    limit: null,
    returns: { 200: z.object({ status: z.literal("ok") }).meta({ id: "Health" }) },
    handler: () => ok({ status: "ok" }, { "Cache-Control": "no-store" }),
  }),
  route({
    id: "readReadiness",
    method: "get",
    path: "/readyz",
    tag,
    summary: "Whether each dependency answers, and how the service's own work stands",
    auth: "none",
    returns: { 200: Readiness, 503: Readiness },
    async handler({ ctx }) {
      const deadline = patience(DEADLINE_MS);
      const states = workStates(ctx);
      const probes = [states, ctx.redis.ping(), probeQueue(ctx, deadline)];
      const [database, redis, queue] = await Promise.all(probes.map((probe) => stateOf(probe, deadline)));
      const dependencies = { database, redis, queue };
      const { daily, is_minting_ready, is_log_current, is_queue_taking } = database === "ok" ? await states : UNKNOWN;
      const minting = is_minting_ready ? "ok" : "down";
      const log = is_log_current ? "ok" : "down";
      const messages = is_queue_taking ? "ok" : "down";
      const up = Object.values(dependencies).every((state) => state === "ok");
      return {
        ...ok(
          {
            status: up ? "ok" : "down",
            dependencies,
            daily,
            minting,
            log,
            messages,
            missing_settings: missingSettings(ctx.env),
          },
          { "Cache-Control": "no-store" },
        ),
        status: up ? 200 : 503,
      };
    },
  }),
];
