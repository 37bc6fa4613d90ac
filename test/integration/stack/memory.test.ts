import { expect, it } from "vitest";
import { WORKERS } from "../../stack/limits.ts";
import { startModule } from "./worker-support.ts";

/** A Worker that keeps as many MiB as the path of a request says. */
const HUNGRY = `const kept = [];
export default {
  fetch(request) {
    const mib = Number(new URL(request.url).pathname.slice(1));
    for (let n = 0; n < mib; n += 1) kept.push(new Array(131072).fill(Math.random()));
    return new Response(String(kept.length));
  },
};`;

it("a Worker that keeps more memory than the platform gives an isolate is ended", async () => {
  const worker = await startModule(HUNGRY);
  try {
    const half = WORKERS.memoryMib / 2;
    expect(await (await fetch(`${worker.url}/${half}`)).text()).toBe(String(half));
    await expect(fetch(`${worker.url}/${WORKERS.memoryMib}`)).rejects.toThrow();
  } finally {
    await worker.stop();
  }
});
