import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { WORKERS } from "../../stack/limits.ts";
import { startWorker } from "../../stack/worker/worker.ts";

/** Where bundles are made: a module has to lie under the project. */
const BUILDS = fileURLToPath(new URL("../../../dist/", import.meta.url));

/** A Worker that keeps as many MiB as the path of a request says. */
const HUNGRY = `const kept = [];
export default {
  fetch(request) {
    const mib = Number(new URL(request.url).pathname.slice(1));
    for (let n = 0; n < mib; n += 1) kept.push(new Array(131072).fill(Math.random()));
    return new Response(String(kept.length));
  },
};`;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("not a TCP port");
  return address.port;
}

it("a Worker that keeps more memory than the platform gives an isolate is ended", async () => {
  mkdirSync(BUILDS, { recursive: true });
  const folder = mkdtempSync(`${BUILDS}hungry-`);
  const bundle = `${folder}/index.js`;
  writeFileSync(bundle, HUNGRY);
  const worker = await startWorker({}, await freePort(), { entry: bundle });
  try {
    const half = WORKERS.memoryMib / 2;
    expect(await (await fetch(`${worker.url}/${half}`)).text()).toBe(String(half));
    await expect(fetch(`${worker.url}/${WORKERS.memoryMib}`)).rejects.toThrow();
  } finally {
    await worker.stop();
    rmSync(folder, { recursive: true });
  }
});
