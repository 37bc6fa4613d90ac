import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { COMPATIBILITY } from "./test/stack/worker/deployment.ts";

// Nothing in a test speaks to the network beyond this machine.
Object.assign(process.env, { WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false" });

/**
 * Nothing waits for a time limit to pass, so that only what hangs should meet it: on a machine slowed to a tenth the longest
 * property, and the longest test of the whole service, take a minute and a half.
 */
const testTimeout = 180_000;

/** What comes before each file with properties. */
const setupFiles = ["./test/stack/properties-setup.ts"];

/** Vite would take graphql's ES build where packages in Node load the other one, and graphql refuses to be there twice. */
const resolve = { alias: { graphql: createRequire(import.meta.url).resolve("graphql") } };

/** A bundle reads long data as modules of text, which Vite would take for files to link to. */
const texts: Plugin = {
  name: "texts",
  enforce: "pre",
  load: (id) => (id.endsWith(".txt") ? `export default ${JSON.stringify(readFileSync(id, "utf8"))}` : null),
};

export default defineConfig({
  test: {
    // Files wait for timers, the database and the browser a fifth of their time: one more keeps the cores busy.
    maxWorkers: availableParallelism() + 1,
    reporters: ["default", "./test/stack/closing-reporter.ts"],
    projects: [
      { resolve, test: { name: "unit", isolate: false, testTimeout, setupFiles, include: ["test/unit/**/*.test.ts"] } },
      {
        resolve,
        plugins: [texts],
        test: { name: "contract", isolate: false, testTimeout, setupFiles, include: ["test/contract/**/*.test.ts"] },
      },
      {
        resolve,
        test: {
          name: "integration",
          // Each file has a service and a database of its own; loading the whole service for each would take minutes.
          isolate: false,
          // Requests leave much behind that is soon gone: with more room it is seldom copied before it is (5% of the time).
          execArgv: ["--min-semi-space-size=16", "--max-semi-space-size=32"],
          include: ["test/integration/**/*.test.ts"],
          globalSetup: ["test/stack/vitest-setup.ts"],
          setupFiles,
          testTimeout,
          hookTimeout: testTimeout,
        },
      },
      {
        plugins: [
          cloudflareTest({
            miniflare: { compatibilityDate: COMPATIBILITY.date, compatibilityFlags: COMPATIBILITY.flags, cf: false },
          }),
        ],
        test: {
          name: "workerd",
          testTimeout,
          include: ["test/workerd/**/*.test.ts"],
          globalSetup: ["test/stack/workerd-setup.ts"],
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          testTimeout,
          hookTimeout: testTimeout,
        },
      },
    ],
  },
});
