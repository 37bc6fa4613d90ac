import { type AddressInfo, createServer } from "node:net";
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
    /** Every answer from there is of another length than it says. */
    lyingUrl: string;
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
  const chunk = "x".repeat(2 * 1024 * 1024);
  const chunked = `${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`;
  const liar = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`);
    });
  });
  await new Promise<void>((resolve) => liar.listen(0, "127.0.0.1", resolve));
  project.provide("lyingUrl", `http://127.0.0.1:${(liar.address() as AddressInfo).port}`);
  const stripe = await startStripe({ faults: createFaults(), webhookUrl: () => server.url });
  project.provide("payments", stripe.settings);
  return async () => {
    await server.close();
    await stripe.close();
    liar.close();
  };
}
