import { randomUUID } from "node:crypto";
import { newSecret } from "../../shared/epochs/secret.ts";
import { parseKeyring } from "../../shared/platform/encryption.ts";
import { mint } from "../../shared/runs/mint.ts";
import { sealedTemplates } from "../../shared/suites/secret/index.ts";
import { templatesBySample } from "../../shared/templates/index.ts";
import { newSecrets } from "../stack/settings.ts";
import { type Figure, measured, percentile, spreadOf } from "./measure.ts";

/** Runs of each template. */
const RUNS = 25;
/** What the platform does once: the first runs of a template also load it. */
const WARM_UP = 5;

/**
 * What minting takes of the processor: once, at the 99th percentile, and what it adds to a run, which is minted when it is
 * taken up, and again when it is scored where that is forgotten by then. Each time a secret is decrypted and a commitment hashed. That it adds no round trip
 * is what the tests of minted runs count.
 */
export async function mintingFigures(): Promise<Figure[]> {
  const keys = parseKeyring({ ...(await newSecrets()) });
  const { sealed } = newSecret(keys);
  const families = [
    ...[...templatesBySample].map(([family, { version }]) => ({ family, version, is_secret: false })),
    ...[...sealedTemplates].map(([family, { version }]) => ({ family, version, is_secret: true })),
  ];
  const once: number[] = [];
  const twice: number[] = [];
  for (const family of families) {
    for (let run = 0; run < RUNS + WARM_UP; run += 1) {
      const [id, source] = [randomUUID(), { ...family, epoch: "2026-11-22", sealed, place: null }];
      const [first, second] = [spent(() => mint(id, source, keys)), spent(() => mint(id, source, keys))];
      if (run < WARM_UP) continue;
      once.push(first, second);
      twice.push(first + second);
    }
  }
  const most = { unit: "ms", kind: "most", budget: 5 } as const;
  return [
    { name: "minting an instance, 99th percentile", value: percentile(once, 0.99), spread: spreadOf(once), ...most },
    { name: "minting that a run adds, dispatched and scored", ...measured(twice), ...most },
  ];
}

/** Milliseconds of processor time that minting took. */
function spent(work: () => unknown): number {
  const before = process.cpuUsage();
  if (work() === null) throw new Error("the template is of another version");
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
