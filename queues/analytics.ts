import { AnalyticsEvent, keepEvent } from "../shared/analytics/event.ts";
import { consumer, UNHURRIED } from "../shared/queue/consumer.ts";

/** Keeps an event of product analytics. One that can't be kept is dropped without consequences. */
export const analyticsConsumer = consumer({
  name: "analytics",
  body: AnalyticsEvent,
  ...UNHURRIED,
  timeoutSeconds: 30,
  parallelism: null,
  handle: keepEvent,
  dead: () => Promise.resolve(),
});
