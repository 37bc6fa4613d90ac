import { AnalyticsEvent, keepEvent } from "../shared/analytics/event.ts";
import { consumer } from "../shared/queue/consumer.ts";

/** Keeps an event of product analytics. One that can't be kept is dropped without consequences. */
export const analyticsConsumer = consumer({
  name: "analytics",
  body: AnalyticsEvent,
  retries: 3,
  // After half a minute, a quarter of an hour, seven and a half hours.
  retryDelay: "pow(30, retried + 1) * 1000",
  timeoutSeconds: 30,
  parallelism: null,
  handle: keepEvent,
  dead: () => Promise.resolve(),
});
