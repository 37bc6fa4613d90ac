import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { type RunningWorker, startWorker } from "../../stack/worker/worker.ts";

/** Where bundles are made: a module has to lie under the project. */
const BUILDS = fileURLToPath(new URL("../../../dist/", import.meta.url));

/** Runs a Worker of one module in workerd, as the stack runs the service. */
export async function startModule(source: string, options: { subrequests?: number } = {}): Promise<RunningWorker> {
  mkdirSync(BUILDS, { recursive: true });
  const folder = mkdtempSync(`${BUILDS}module-`);
  const entry = `${folder}/index.js`;
  writeFileSync(entry, source);
  const worker = await startWorker({}, await freePort(), { entry, ...options });
  return {
    ...worker,
    async stop() {
      await worker.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("not a TCP port");
  return address.port;
}
