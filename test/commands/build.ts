/** `npm run build`: bundles the Worker as a deployment does, and prints its size; fails where that is over a limit. */
import { dirname } from "node:path";
import { buildWorker } from "../stack/worker/worker.ts";
import { SIZES, sizes } from "./bundle.ts";

const folder = dirname(await buildWorker());
const { atStart, all } = sizes(folder);
console.log(folder);
for (const [what, size, limit] of [
  ["loaded at start", atStart, SIZES.atStart],
  ["all", all, SIZES.all],
] as const) {
  console.log(`${what}: ${size.toFixed(0)} KB gzip (limit ${limit} KB)`);
  if (size > limit) {
    console.error(`What is meant by "${what}" is over its limit.`);
    process.exitCode = 1;
  }
}
