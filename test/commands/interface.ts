/**
 * `npm run interface` says what the interface has that the released one has not, for the changelog, and what of it is
 * broken; with `--release` the interface as it is becomes the released one.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { OpenApi } from "../../shared/http/openapi.ts";
import { broken, promisesOf, readPromises, written } from "../../functions/document/promises.ts";
import { valuesOf } from "./bundle.ts";

const path = (name: string): string => fileURLToPath(new URL(`../../functions/${name}`, import.meta.url));
const RELEASED = path("document/released/interface.txt");
const { DOCUMENT } = (await valuesOf(path("openapi-document.static.ts"))) as { DOCUMENT: string };
const now = promisesOf(JSON.parse(DOCUMENT) as OpenApi);

if (process.argv.includes("--release")) {
  writeFileSync(RELEASED, written(now));
} else {
  const released = readPromises(readFileSync(RELEASED, "utf8"));
  for (const [subject, facts] of now) {
    const added = [...facts].filter((fact) => released.get(subject)?.has(fact) !== true);
    if (added.length > 0) console.log(`${subject}: ${added.join(" ")}`);
  }
  const faults = broken(released, now);
  for (const fault of faults) console.error(`Broken: ${fault}`);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
