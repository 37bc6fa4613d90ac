import type { Hono } from "hono";
import { CONSUMERS, DELIVERIES } from "../queues/index.ts";
import { createApp } from "../shared/http/app.ts";
import { quickAnswer } from "../shared/http/quick.ts";
import { addDeliveries } from "../shared/queue/deliveries.ts";
import { ENDPOINTS } from "./endpoints.ts";
import { createService, type Overrides } from "./service.ts";

/** The service as a whole: what the Worker exports, and what tests run in-process. */
export interface Application {
  fetch: Hono["fetch"];
  scheduled(cron: string): Promise<void>;
}

/** Puts the whole service together for one set of settings. */
export function createApplication(raw: Record<string, unknown>, overrides: Overrides = {}): Application {
  const service = createService(raw, DELIVERIES, overrides);
  const app = createApp(service, ENDPOINTS, async (problem, ctx, c) => {
    const { showProblem } = await import("./site/parts/problem.tsx");
    return showProblem(problem, ctx, c);
  });
  addDeliveries(app, service, CONSUMERS);
  const fetch: Application["fetch"] = (request, env, execution) =>
    quickAnswer(service, request, (work) => execution?.waitUntil(work)) ?? app.fetch(request, env, execution);
  return {
    fetch,
    async scheduled(cron) {
      const { runSchedule } = await import("./scheduled.ts");
      await runSchedule(service, cron);
    },
  };
}
