/** `npm run build`: bundles the Worker as a deployment does, and prints its size; fails over 500 KB gzip. */
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { buildWorker } from "../stack/worker/worker.ts";

const LIMIT_KB = 500;
const path = await buildWorker();
const bundle = readFileSync(path);
const gzip = gzipSync(bundle).length / 1024;
console.log(`${path}\n${(bundle.length / 1024).toFixed(0)} KB, ${gzip.toFixed(0)} KB gzip (limit ${LIMIT_KB} KB)`);
if (gzip > LIMIT_KB) {
  console.error("The bundle is over its limit.");
  process.exitCode = 1;
}
