import { sql } from "drizzle-orm";
import * as z from "zod";
import { ok } from "../shared/http/reply.ts";
import { route } from "../shared/http/route.ts";

const tag = "Health";
const State = z.enum(["ok", "down"]);
const Readiness = z
  .object({ status: State, dependencies: z.object({ database: State, redis: State, queue: State }) })
  .meta({ id: "Readiness" });

async function answers(probe: Promise<unknown>): Promise<z.output<typeof State>> {
  return probe.then(
    () => "ok" as const,
    () => "down" as const,
  );
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
    summary: "Whether each dependency answers",
    auth: "none",
    returns: { 200: Readiness, 503: Readiness },
    async handler({ ctx }) {
      const signal = AbortSignal.timeout(2000);
      const [database, redis, queue] = await Promise.all([
        answers(ctx.db.execute(sql`select 1`)),
        answers(ctx.redis.ping()),
        answers(
          ctx.fetch(`${ctx.env.QSTASH_URL}/v2/keys`, {
            headers: { Authorization: `Bearer ${ctx.env.QSTASH_TOKEN}` },
            signal,
          }),
        ),
      ]);
      const dependencies = { database, redis, queue };
      const up = Object.values(dependencies).every((state) => state === "ok");
      return {
        ...ok({ status: up ? "ok" : "down", dependencies }, { "Cache-Control": "no-store" }),
        status: up ? 200 : 503,
      };
    },
  }),
];
