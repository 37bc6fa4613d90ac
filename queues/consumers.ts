import type { Consumer } from "../shared/queue/consumer.ts";

/** Every consumer by its name, loaded with the first message to it. */
export const CONSUMERS: Record<string, () => Promise<Consumer>> = {
  dispatch: async () => (await import("./dispatch.ts")).dispatchConsumer,
  score: async () => (await import("./score.ts")).scoreConsumer,
  expire: async () => (await import("./expire.ts")).expireConsumer,
  mail: async () => (await import("./mail.ts")).mailConsumer,
  analytics: async () => (await import("./analytics.ts")).analyticsConsumer,
  recheck: async () => (await import("./recheck.ts")).recheckConsumer,
  announce: async () => (await import("./announce.ts")).announceConsumer,
  deliver: async () => (await import("./deliver.ts")).deliverConsumer,
  schedule: async () => (await import("./schedule.ts")).scheduleConsumer,
  regression: async () => (await import("./regression.ts")).regressionConsumer,
  certify: async () => (await import("./certify.ts")).certifyConsumer,
  "cancel-billing": async () => (await import("./cancel-billing.ts")).cancelBillingConsumer,
  daily: async () => (await import("./daily.ts")).dailyConsumer,
};
