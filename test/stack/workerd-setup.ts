import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { TestProject } from "vitest/node";
import { createFaults } from "./faults.ts";
import { json, listen } from "./http.ts";
import type { Settings } from "./settings.ts";
import { startStripe } from "./stripe/stripe.ts";

declare module "vitest" {
  interface ProvidedContext {
    hostileUrl: string;
    payments: Settings;
  }
}

/**
 * Serves hostile answers and a payment provider on this machine to the tests that run in workerd, which can't listen
 * themselves.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
  const server = await listen(async ({ url }) => {
    switch (url.pathname) {
      case "/redirect":
        return { status: 302, headers: { location: "/ok" } };
      case "/bomb":
        return { status: 200, headers: { "content-encoding": "gzip" }, body: bomb };
      case "/large":
        return { status: 200, body: Buffer.alloc(2 * 1024 * 1024) };
      case "/timed": {
        const started = performance.now();
        await delay(20);
        return { status: 200, body: String(performance.now() - started) };
      }
      case "/hang":
        return new Promise(() => undefined);
      default:
        return json(200, { output: "42" });
    }
  });
  project.provide("hostileUrl", server.url);
  const stripe = await startStripe({ faults: createFaults(), webhookUrl: () => server.url });
  project.provide("payments", stripe.settings);
  return async () => {
    await server.close();
    await stripe.close();
  };
}
